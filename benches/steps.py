#!/usr/bin/env python3
"""Steps of solvers with JAX: what benches/steps.m does, as lines of CSV with microseconds of a step:

    steps,jax,WHAT,N,US

steps.py [--quick]   with --quick small arrays, to see that it works

A step is compiled by XLA; steps are calls of their own, or one call of fori_loop, whose number of steps XLA knows. The faster
way counts, the best of five samples, each of as many steps as take about 0.1 s.
"""

import sys
import time

try:
    import jax
    import jax.numpy as jnp
except ImportError as missing:
    sys.exit(f"steps.py: {missing}")

jax.config.update("jax_enable_x64", True)


def around(u, mode):
    """The four neighbours beside each element, and the four across: with zeros around, mirrored or circular."""
    if mode == "wrap":
        # A circular array that is rolled is quicker than one that is padded.
        up, down = jnp.roll(u, 1, 0), jnp.roll(u, -1, 0)
        rolled = [jnp.roll(v, k, 1) for v in (up, down) for k in (1, -1)]
        return up + down + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1), sum(rolled[1:], rolled[0])
    p = jnp.pad(u, 1, mode=mode)
    beside = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return beside, p[:-2, :-2] + p[2:, 2:] + p[:-2, 2:] + p[2:, :-2]


def react(state):
    u, v = state
    w = u * v * v
    changes = []
    for field in state:
        beside, across = around(field, "wrap")
        changes.append((4 * beside + across - 20 * field) / 6)
    return u + (0.16 * changes[0] - w + 0.037 * (1 - u)), v + (0.08 * changes[1] + w - 0.097 * v)


def leap(state):
    p, before, is_open = state
    return is_open * (around(p, "symmetric")[0] / 4 + p) - before, p, is_open


def live(state):
    (u,) = state
    s = sum(around(u, "wrap"))
    return (jnp.where((s == 3) | ((u != 0) & (s == 2)), 1.0, 0.0),)


def spread(state):
    (u,) = state
    return (0.1 * around(u, "constant")[0] + 0.6 * u,)


def flow(state):
    u, kx, ky = state
    for k, axis in ((kx, 0), (ky, 1)):
        low = [(1, 0) if d == axis else (0, 0) for d in range(2)]
        high = [(0, 1) if d == axis else (0, 0) for d in range(2)]
        flux = k * jnp.diff(jnp.pad(state[0], low), axis=axis)
        u = u + 0.1 * jnp.diff(jnp.pad(flux, high), axis=axis)
    return u, kx, ky


def descend(state):
    x, r, d, rho = state
    q = 4 * d - around(d, "constant")[0]
    a = rho / jnp.vdot(d, q)
    x, r = x + a * d, r - a * q
    after = jnp.vdot(r, r)
    return x, r, r + (after / rho) * d, after


def seconds_of(run, count, samples=5):
    """The least that `run` takes for so many steps."""
    run(count)
    found = []
    for _ in range(samples):
        start = time.perf_counter()
        run(count)
        found.append(time.perf_counter() - start)
    return min(found)


def report(what, step, n, state, least):
    loop = jax.jit(lambda state, count: jax.lax.fori_loop(0, count, lambda _, state: step(state), state), static_argnums=1)
    once = jax.jit(step)

    def at_once(count):
        jax.block_until_ready(loop(state, count))

    def one_by_one(count):
        current = state
        for _ in range(count):
            current = once(current)
        jax.block_until_ready(current)

    few = 8
    count = max(few, int(least * few / seconds_of(one_by_one, few, 3)))
    apart = seconds_of(one_by_one, count) / count
    # A loop may be several times quicker.
    count *= 4
    together = seconds_of(at_once, count) / count
    print(f"steps,jax,{what},{n},{1e6 * min(apart, together):.3f}", flush=True)


def main():
    quick = "--quick" in sys.argv
    least = 0.001 if quick else 0.1
    print(f"# JAX {jax.__version__}, {jax.devices()[0].device_kind}")
    for n in [24] if quick else [64, 256, 1000, 2048, 8192]:
        keys = jax.random.split(jax.random.PRNGKey(1), 3)
        u, v, chance = [jax.random.uniform(key, (n, n), jnp.float64) for key in keys]
        u, v, is_open = 1 - 0.5 * u, 0.25 * v, (chance > 0.1).astype(jnp.float64)
        report("gray_scott", react, n, (u, v), least)
        report("wave", leap, n, (u, v, is_open), least)
        report("life", live, n, (is_open,), least)
        report("heat", spread, n, (u,), least)
        report("flux", flow, n, (u, v, is_open), least)
        report("gradients", descend, n, (jnp.zeros((n, n)), u, u, jnp.vdot(u, u)), least)


if __name__ == "__main__":
    main()
