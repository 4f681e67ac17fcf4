#!/usr/bin/env python3
"""Prints the polynomials of src/stencil/functions, and how far each is from its function.

A polynomial interpolates at the nodes of Chebyshev, in 60 digits; then its coefficients are rounded to double. The error
is the largest at 4000 points, with the rounded coefficients. Needs mpmath.
"""
from mpmath import asin, atan, cbrt, cos, cosh, diff, erf, erfc, exp, log, mp, mpf, pi, polyval, sin, sinh, sqrt, tan

mp.dps = 60
LN2 = log(2)


def nodes(low, high, count):
    middle, half = (low + high) / 2, (high - low) / 2
    return [middle + half * cos(pi * (2 * i + 1) / (2 * count)) for i in range(count)]


def fitted(function, low, high, count):
    points = nodes(low, high, count)
    # Newton's divided differences, then the monomials.
    table = [function(x) for x in points]
    for level in range(1, count):
        for i in range(count - 1, level - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (points[i] - points[i - level])
    result = [mpf(0)]
    for i in range(count - 1, -1, -1):
        shifted = [mpf(0)] + result
        result = [a - points[i] * b for a, b in zip(shifted, result + [mpf(0)])]
        result[0] += table[i]
    return result[:count]


def polynomial(function, low, high, count):
    """`count` coefficients in double, the lowest first."""
    return [mpf(float(value)) for value in fitted(function, low, high, count)]


def show(name, function, low, high, count, weight):
    low, high = mpf(low), mpf(high)
    found = polynomial(function, low, high, count)
    error = max(abs(weight(x) * (polyval(found[::-1], x) - function(x))) for x in
                [low + (high - low) * (i + mpf(1) / 2) / 4000 for i in range(4000)])
    print(f"// {name}: {count} coefficients on [{float(low):.4g}, {float(high):.4g}], error 2^{float(log(error, 2)):.1f}")
    for value in found:
        print(f"    {float(value)!r},")


def of_square(function):
    """A function of z = x^2, at x."""
    return lambda z: function(sqrt(z))


half = LN2 / 2 * mpf("1.0001")
show("1/2 and E: (e^r - 1 - r) / r^2", lambda r: (exp(r) - 1 - r) / r**2 if abs(r) > 1e-20 else 1 / mpf(2) + r / 6,
     -half, half, 11, lambda r: r**2)
show("1/2 and EVEN: (cosh r - 1) / r^2 of z", of_square(lambda r: (cosh(r) - 1) / r**2), 0, half**2, 6, lambda z: z)
show("ODD: (sinh r - r) / r^3 of z", of_square(lambda r: (sinh(r) - r) / r**3), 0, half**2, 6, lambda z: z)
quarter = pi / 4 * mpf("1.01")
show("SINE: (sin r - r) / r^3 of z", of_square(lambda r: (sin(r) - r) / r**3), 0, quarter**2, 7, lambda z: z)
show("COSINE: (cos r - 1 + r^2 / 2) / r^4 of z",
     of_square(lambda r: (cos(r) - 1 + r**2 / 2) / r**4), 0, quarter**2, 7, lambda z: z**2)
largest = ((sqrt(2) - 1) / (sqrt(2) + 1))**2 * mpf("1.0001")
log_of = lambda s: log((1 + s) / (1 - s))
show("R: (log ((1+s)/(1-s)) - 2 s) / s^3 of z",
     of_square(lambda s: (log_of(s) - 2 * s) / s**3), 0, largest, 8, lambda z: z / 2)
show("TAIL: (.. - 2 s - 2/3 s^3 - 2/5 s^5) / s^7 of z",
     of_square(lambda s: (log_of(s) - 2 * s - 2 * s**3 / 3 - 2 * s**5 / 5) / s**7), 0, largest, 7, lambda z: z**3 / 2)
largest = tan(pi / 8)**2 * mpf("1.0001")
show("T: (atan t - t) / t^3 of z", of_square(lambda t: (atan(t) - t) / t**3), 0, largest, 12, lambda z: z)
show("A: (asin t - t) / t^3 of z", of_square(lambda t: (asin(t) - t) / t**3), 0, mpf(1) / 4, 14, lambda z: z)
show("CUBE: r^(-1/3)", lambda r: 1 / cbrt(r), 0.909, 1.1, 5, lambda r: cbrt(r))
show("NEAR: (erf a / a - 2 / sqrt pi) / a^2 of z", of_square(lambda a: (erf(a) / a - 2 / sqrt(pi)) / a**2), 0, mpf(1) / 4,
     9, lambda z: z)


def scaled_erfc(t):
    a = 4 * (1 + t) / (1 - t)
    return (a + 4) * exp(a**2) * erfc(a)


middle = scaled_erfc(mpf(0))
show("ERFC: ((a + 4) e^(a^2) erfc a - ERFC_MIDDLE) / t of t = (a - 4) / (a + 4)",
     lambda t: (scaled_erfc(t) - middle) / t, -1, mpf(3) / 4, 23, lambda t: t / scaled_erfc(t))
show("SLOPE: its derivative", lambda t: diff(scaled_erfc, t), -1, mpf(3) / 4, 4, lambda t: 1 / scaled_erfc(t))


def parts(name, value, *bits):
    """A constant as a sum, each part of so many bits, the last rounded."""
    for number, count in enumerate(bits):
        part = mpf(float(value))
        if count < 53:
            unit = mpf(2)**(int(mp.floor(log(abs(value), 2))) - count + 1)
            part = mp.nint(value / unit) * unit
        print(f"{name}[{number}] = {float(part)!r} = {float(part).hex()}")
        value -= part


parts("LN2", LN2, 42, 53)
parts("LOG2E", 1 / LN2, 53, 53)
parts("LOG10E", 1 / log(10), 53, 53)
parts("LOG10_2", log(2) / log(10), 42, 53)
parts("PI/2", pi / 2, 53, 53, 53)
parts("PI/4", pi / 4, 53, 53)
parts("2/PI", 2 / pi, 53)
parts("2/3", mpf(2) / 3, 53, 53)
parts("2/5", mpf(2) / 5, 53, 53)
parts("PI", pi, 53, 53)
parts("2/SQRT PI", 2 / sqrt(pi), 53, 53)
parts("ERFC_MIDDLE", middle, 53, 53)
parts("tan pi/8", tan(pi / 8), 53)
parts("sqrt 1/2", sqrt(mpf(1) / 2), 53)
mp.prec = 1400
scaled = int(mp.floor(2 / pi * mpf(2)**(64 * 20)))
print("2/PI bits:")
for i in range(20):
    word = scaled >> (64 * (19 - i)) & (1 << 64) - 1
    print(f"    0x{word >> 48:04x}_{word >> 32 & 0xffff:04x}_{word >> 16 & 0xffff:04x}_{word & 0xffff:04x},")
