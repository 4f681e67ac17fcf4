"""Checks of the output and the files of demos and benchmarks."""

import re

from counts import checks


def fields(output, pattern):
    """The words of each line that the pattern is found in."""
    return [line.split() for line in output.splitlines() if re.search(pattern, line)]


def number(word):
    """The number that a word begins with, as in `3.1%,`; 0 where it begins with none."""
    found = re.match(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", word)
    return float(found[0]) if found else 0.0


def numbers(output, pattern, *places):
    """Returns the numbers at these places of each such line, from 1, or from -1 backwards."""
    lines = fields(output, pattern)
    return [[number(line[place - (place > 0)]) for place in places] for line in lines]


def last(output, pattern, place):
    return numbers(output, pattern, place)[-1][0]


def has(output, pattern):
    return re.search(pattern, output, re.MULTILINE) is not None


def same_bits(output):
    return "OTHER BITS" not in output


def is_small_output(output):
    return has(output, r"^ *outputArray +6 7 8 9 10 (11 ){10}10 9 8 7 6$")


def is_smoother(output):
    """Checks the promise: at least three times less noise."""
    before, after = last(output, "RMS error before", 4), last(output, "RMS error after", 4)
    return after > 0 and before > 3 * after


def is_derivative(output):
    """The formula's error and no more inside, and at the edges what the help says."""
    inside, edges = last(output, "off by at most", 7), last(output, "off by up to", 8)
    return 0 < inside < 1e-11 and edges > 1


def is_convolution(output):
    """But for rounding."""
    errors = numbers(output, "within .* of conv2", 3)
    return len(errors) == 2 and all(error <= 1e-14 for (error,) in errors)


def is_heat(output):
    """The formulas' errors and no more; and no heat is lost."""
    second, fourth = last(output, "lambda 0.4", 10), last(output, "lambda 1/6", 7)
    return 1e-5 < second < 1e-3 and 0 < fourth < 1e-7 and last(output, "it moved by", -1) < 1e-12


def is_advection(output):
    """The more taps the better, by far, and nothing of the pulse is lost."""
    errors = [error for (error,) in numbers(output, "degree", 11)]
    falls = all(next <= 0.7 * error for error, next in zip(errors, errors[1:]))
    return len(errors) == 4 and falls and errors[-1] < 1e-7 and last(output, "the mean", -1) < 1e-11


def is_second_order(output):
    """Each of its equations is solved to the second order, and no worse than that."""
    lines = numbers(output, ": order ", -11, -9, -1)
    return len(lines) == 3 and all(1.9 <= order <= 2.1 and 0 < fine < coarse / 12 for coarse, fine, order in lines)


def is_parabola(output):
    return [error < 1e-6 for (error,) in numbers(output, "the parabola", 7)] == [True]


def is_reaction(output):
    """No further from ordinary arrays than the arithmetic explains, and never other bits."""
    lines = numbers(output, "against conv2", 7, 11)
    return [0 < error <= bound < 1e-10 for error, bound in lines] == [True] and same_bits(output)


def is_wave(output):
    """The energy stays."""
    lines = numbers(output, "the energy", 10, 13)
    widths = [len(line) for line in fields(output, "the energy")]
    return widths == [15] and lines[0][0] <= lines[0][1] < 1e-9 and same_bits(output)


def is_sound(output):
    """Arrivals to a step in time, little comes back from the layer, and never other bits."""
    arrivals = [off < step for off, step in numbers(output, "the arrivals", 7, 12)]
    layer = [0 < back < 1 for (back,) in numbers(output, "the layer", 4)]
    loops = fields(output, "the plain loop +the same bits")
    return all(arrivals + layer) and len(arrivals + layer + loops) == 3 and same_bits(output)


def is_solved(output):
    """Checks the second order, the end by the residual, and the result of the host's A \\ b."""
    orders = [1.9 < one < 2.1 and 1.9 < other < 2.1 for one, other in numbers(output, "the order", 3, 5)]
    against = [error <= bound < 1e-6 for error, bound in numbers(output, "against A", 7, 10)]
    others = fields(output, r"\(until\)") + fields(output, "the plain loop +the same bits")
    return all(orders + against) and len(orders + against + others) == 6 and same_bits(output)


def is_life(output):
    """Checks the known properties of the two patterns, exactly."""
    pentomino = has(output, r"^  R-pentomino +116 cells in generation 1103,")
    return pentomino and has(output, r"^  glider +itself,") and same_bits(output)


# The pictures that each demo draws, and what it must print.
DEMOS = {
    "StencilConstantMemory_Demo": (
        ["stencil_demo_1.png", "stencil_demo_2.png"],
        [("it prints the right outputArray", is_small_output), ("it smooths the noisy signal", is_smoother)],
    ),
    "DerivativeConstantMemory_Demo": (
        ["derivative_demo.png"],
        [("it is a derivative, but for its edges", is_derivative)],
    ),
    "ConvolutionConstantMemory_Demo": (["convolution_demo.png"], [("it is what conv2 computes", is_convolution)]),
    "HeatEquation_Demo": (["heat_demo.png"], [("it follows the formula, and keeps the heat", is_heat)]),
    "Advection_Demo": (["advection_demo.png"], [("it carries the pulse, better with more taps", is_advection)]),
    "StandingWaves_Demo": (
        ["standing_demo.png"],
        [("it follows the standing waves, to the second order", is_second_order)],
    ),
    "Diffusion_Demo": (
        ["diffusion_demo.png"],
        [
            ("it follows the formulas, to the second order", is_second_order),
            ("the rod comes to the parabola", is_parabola),
        ],
    ),
    "GrayScott_Demo": (["grayscott_demo.png"], [("it is what ordinary arrays give, but for rounding", is_reaction)]),
    "WaveEquation_Demo": (["wave_demo.png"], [("it keeps the energy", is_wave)]),
    "GameOfLife_Demo": (["life_demo.png"], [("it knows the R-pentomino and the glider", is_life)]),
    "AcousticWave_Demo": (["acoustic_demo.png"], [("waves arrive in time, and the layer absorbs them", is_sound)]),
    "ConjugateGradients_Demo": (["gradients_demo.png"], [("it is of second order, and what A \\ b gives", is_solved)]),
}


def is_picture(path):
    data = path.read_bytes() if path.is_file() else b""
    return data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) > 5000


def holds(check, output):
    """True if a check is met; false also if its line is missing."""
    try:
        return check(output)
    except IndexError:
        return False


def demo(name, folder):
    """Counts the checks of a demo that has drawn into this folder."""
    pictures, own = DEMOS[name]

    def count(output, status):
        found = [(f"{name} runs", status == 0), ("it says which backend ran", has(output, "^Backend: (cuda|cpu)"))]
        found += [(f"it draws {picture}", is_picture(folder / picture)) for picture in pictures]
        return checks(*found, *((what, holds(check, output)) for what, check in own))

    return count


def text_of(path):
    return path.read_text() if path.is_file() else ""


def bench(folder):
    """Counts the checks of a run of benches/bench.py: that it measures, counts what it skips and writes."""

    def count(output, status):
        results = text_of(folder / "results.csv")

        def twice(pattern):
            return len(re.findall(pattern, results, re.MULTILINE)) == 2

        found = [("it runs", status == 0)]
        found += [(f"it times {key}", twice(f"^time,5,[0-9]*,{key},,[1-9]")) for key in ("ours_cpu", "filter", "conv")]
        found.append(("it has ratios", twice("^ratio,5,[0-9]*,filter,ours_cpu,[1-9]")))
        found.append(("it knows what is inside mexFunction", twice("^inside,5,[0-9]*,ours_cpu,,[1-9]")))
        labels = {
            "ours_cuda": "ours, CUDA",
            "scipy": "SciPy",
            "cupy": "CuPy",
            "torch": "PyTorch",
            "launch": "one thread a block",
        }
        for key, label in labels.items():
            is_so = twice(f"^time,5,[0-9]*,{key},,[1-9]") or has(results, f'^skipped,,,"?{label}"?,.*[a-z]')
            found.append((f"it times {key} or says why not", is_so))
        skipped = len(re.findall("^skipped,", results, re.MULTILINE))
        is_counted = has(text_of(folder / "table.txt"), f"^Skipped: {skipped}(, namely)?$")
        found.append(("it counts what it skipped", is_counted))
        plot = folder / "throughput.png"
        is_drawn = plot.is_file() and plot.stat().st_size > 0 or has(results, "^skipped,,,the plot,")
        return checks(*found, ("it draws, or says why not", is_drawn))

    return count


def tables(folder):
    """Counts the checks of a short run of benches/tables.py."""

    def count(output, status):
        is_written = has(text_of(folder / "levels.csv"), "^levels,9,")
        return checks(("the driver of all benchmarks runs", status == 0), ("it writes what was measured", is_written))

    return count
