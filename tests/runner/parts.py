"""The jobs of each kind of run: which programs, with which variables, and what they need."""

import concurrent.futures
import functools
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import counts
import demos
from jobs import ROOT, Job

FOLDER = ROOT / "target/tests"
CORES = len(os.sched_getaffinity(0))
PYTHON = os.environ.get("PYTHON") or sys.executable
OCTAVE = os.environ.get("OCTAVE") or "octave-cli"
# No two jobs use a real GPU at the same time: some take all of its memory, and others time it.
GPU = "the GPU" if any(pathlib.Path("/dev").glob("nvidia[0-9]*")) or os.path.exists("/dev/dxg") else None
# Cargo uses all cores but towards its end, so one job runs at the same time.
OF_CARGO = {"cores": max(CORES - 1, 1), "limit": 2400, "holds": "cargo"}
# Durations in seconds of jobs whose names begin so, until a run has measured them; others are
# short.
WEIGHTS = {
    "cpu: verbs": 110,
    "cpu: arrays_reductions": 60,
    "cpu: outputs": 45,
    "cpu: long_runs": 40,
    "cpu: session": 40,
    "cpu: convolution": 35,
    "cpu: arrays_refused": 30,
    "cpu: stencil": 30,
    "stand-in: verbs": 150,
    "stand-in: arrays_reductions": 80,
    "stand-in: arrays_refused": 45,
    "stand-in: long_runs": 45,
    "stand-in: study": 40,
    "stand-in: options": 40,
    "stand-in: stencil": 40,
    "stand-in: outputs": 35,
    "stand-in: driver": 30,
    "stand-in: arrays_operators": 30,
    "stand-in: distributed": 25,
    "stand-in, engines": 40,
    "stand-in, devices": 20,
    "packages: octave": 40,
    "packages: ": 5,
    "packages": 240,
    "lib c": 40,
    "kernels": 60,
}
# Groups of tests that are shared out among this number of jobs.
SHARES = {f"{kind}, engines::cuda": 8 for kind in ("stand-in", "sanitized", "races")}
SHARES.update({"lib cuda": 2, "lib cpu": 2})
# Files that a test program may read or load. The program itself decides most.
RUNNER = ("tests/run", "tests/runner")
OF_SYSTEM = ("tests/stand_in", "cuda", "src/mex/stub.c", "src/ranks", "matlab", *RUNNER)
OF_DOCUMENTS = ("ARCHITECTURE.md", "BENCHMARKS.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "LICENSE-APACHE")
OF_DOCUMENTS += ("LICENSE-MIT", "benches", "cuda", "docs", "examples", "packaging", "src")
OF_CHECKS = (*OF_DOCUMENTS, "Cargo.lock", "Cargo.toml", "build.rs", "matlab", "tests")
OF_STAND_IN = ("libcuda.so.1", "executor", "kernels/INDEX", "kernels/fixtures.so")
# Tests of the stand-in for the CUDA driver: the row, the tests, and variables.
ON_STAND_IN = [
    # On a device that reports to be fast: the contents of a launch do not depend on this machine's
    # load.
    ("CUDA, stand-in: engines", "engines", "engines::cuda", {"CUDA_STAND_IN_SPEED": "1000"}),
    ("CUDA, stand-in: itself", "cuda_stand_in", "", {}),
    ("CUDA, stand-in: study", "study", "", {}),
    ("CUDA, stand-in: devices", "devices", "", {}),
    ("CUDA, stand-in: ranks", "ranks", "gpu", {}),
    ("CUDA, stand-in: calls in calls", "nested", "", {}),
    ("CUDA, stand-in: MATLAB's gpuArray", "gpu_arrays", "", {}),
    ("CUDA, stand-in: faults", "faults", "", {}),
]
# Tests of these begin with two names that distinguish jobs.
OF_TWO_NAMES = ("engines", "faults", "devices")
# Definitions that make other code of a source of cuda/; others are sizes.
OF_CODE = ("REAL", "KERNEL", "CAPABILITY", "STAR", "BLOCK_WARPS", "SIDES")


def weight(name):
    return next((seconds for begin, seconds in WEIGHTS.items() if name.startswith(begin)), 10)


class Setup:
    """Settings that the jobs of a run share."""

    def __init__(self, mode="selection", octave=(OCTAVE,)):
        self.mode = mode
        self.is_selected = mode in ("selection", "all")
        self.is_rest = mode in ("rest", "all")
        self.is_all = mode == "all"
        self.octave = list(octave)
        self.version = octave_version(self.octave)
        # The test programs by their names, once they are there; the library's own tests are in `lib`.
        self.programs = {}
        # Figures that have limits (tests/checks/house.rs).
        self.measured = {}

    def words(self):
        """Words that decide the outcome of each job, besides its inputs."""
        ours = re.compile("STENCIL_|CUDA_|OCTAVE|MKOCTFILE|MATLAB|MPICC|PTXAS|PYTHON|LD_|RUST|OMP|CXX|CC$|LANG|LC_")
        variables = sorted((name, value) for name, value in os.environ.items() if ours.match(name))
        tools = (self.octave[0], "mpicc", "mpirun", "gnuplot", "c++", "mkoctfile", PYTHON)
        return [self.mode, self.version, variables, [shutil.which(tool) for tool in tools], sys.version, GPU]

    def row(self, name):
        """The row of a part of Octave's, with its version."""
        return name.replace("Octave", f"Octave {self.version}", 1) if self.version else name


def octave_version(command):
    """The version of an Octave, or nothing where none answers."""
    ask = [*command, "--norc", "--quiet", "--eval", r'printf ("@%s\n", OCTAVE_VERSION);']
    try:
        told = subprocess.run(ask, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError:
        return ""
    return next((line[1:] for line in told.stdout.splitlines() if line.startswith("@")), "")


# ---- builds


def library():
    extensions = ["mex", "mexa64"] if os.environ.get("MATLAB_ROOT") else ["mex"]
    command = ["matlab/build-mex", *extensions]
    return Job("library", None, command, counts.work, is_urgent=True, weight=120, **OF_CARGO)


def stand_in(kind="plain", *targets):
    command = ["make", "--no-print-directory", "-s", "-C", "tests/stand_in/cuda", f"-j{CORES}", f"KIND={kind}"]
    return Job(f"stand-in, {kind}", None, [*command, *targets], counts.work, is_urgent=True, weight=60, limit=2400)


def on_stand_in(job, kind="plain"):
    """The job with the stand-in in place of the CUDA driver; what it launches and generates is kept in its folder."""
    found = ROOT / "target/cuda-stand-in" / kind
    path = f"{found}:{os.environ['LD_LIBRARY_PATH']}" if os.environ.get("LD_LIBRARY_PATH") else found
    job.folder = FOLDER / "kept" / re.sub(r"[^\w.-]+", "-", job.name)
    job.needs += (f"stand-in, {kind}",)
    job.environment = {
        "STAND_IN_KIND": kind,
        "LD_LIBRARY_PATH": str(path),
        "CUDA_STAND_IN_KERNELS": str(job.folder / "kernels"),
        "CUDA_STAND_IN_PTX": str(job.folder),
        **job.environment,
    }
    if job.inputs is not None:
        job.inputs += tuple(found / name for name in OF_STAND_IN)
    return job


# ---- Rust's tests


def programs(setup, then, needs=()):
    """Compiles the test programs, and asks cargo where they are; `then` makes the jobs of them."""
    messages = FOLDER / "cargo.json"

    def compiled():
        command = ["cargo", "test", "--no-run", "--message-format=json-render-diagnostics"]
        with open(messages, "w") as to:
            return subprocess.run(command, stdout=to).returncode

    def found(output):
        told = [json.loads(line) for line in messages.read_text().splitlines() if line.startswith("{")]
        for one in told:
            if one.get("executable") and one["profile"]["test"]:
                is_library = "test" not in one["target"]["kind"]
                setup.programs["lib" if is_library else one["target"]["name"]] = pathlib.Path(one["executable"])
        return then()

    more = {"then": found, "needs": needs, "is_urgent": True, "weight": 300}
    return Job("programs", None, compiled, counts.work, **more, **OF_CARGO)


def matching(names, filter, skips=()):
    """The tests that a test program runs with this filter, and `--skip` for each of these."""
    return [name for name in names if filter in name and not any(skip in name for skip in skips)]


def arguments(names, filter, wanted):
    """Arguments with which a test program runs these tests, of all those whose names contain the filter."""
    skips = [name for name in matching(names, filter) if name not in wanted]
    told = [filter, *(word for skip in skips for word in ("--skip", skip))]
    if sorted(matching(names, filter, skips)) != sorted(wanted):
        raise ValueError(f"no filter tells {wanted} from the others")
    return told


def families(names):
    """Tests of which one's name is in another's: a filter for the one takes the other, too."""
    found = []
    for name in sorted(names, key=lambda name: (len(name), name)):
        related = [family for family in found if any(other in name for other in family)]
        found = [family for family in found if family not in related] + [sum(related, [name])]
    return sorted(sorted(family) for family in found)


def grouped(names):
    """Tests by the beginnings of their names. The reason of one that is skipped is no part of it."""
    groups = {}
    for name in names:
        parts = name.split(" (skipped: ")[0].split("::")
        groups.setdefault("::".join(parts[: 2 if parts[0] in OF_TWO_NAMES else 1]), []).append(name)
    return groups


def rust(
    row,
    label,
    program,
    filter="",
    wanted="",
    but=(),
    options=(),
    environment=None,
    inputs=OF_SYSTEM,
    change=lambda job: job,
):
    """A job that lists a program's tests, and then one for each group of those whose names begin with the filter and
    have `wanted` and nothing of `but` in them. `change` is done to each job."""
    # As cargo starts them. A job has one core, so it runs a test at a time.
    environment = {"CARGO_MANIFEST_DIR": ROOT, "RUST_TEST_THREADS": "1", **(environment or {})}
    loaded = [folder / "libstencil_mex.so" for folder in (program.parent, program.parent.parent)]
    # Tests use it where it is there.
    loaded += (ROOT / "target").glob("ptxas-*/nvidia/cuda_nvcc/bin/ptxas")

    def job(name, row, command, count, **more):
        holds = None if name.startswith("engines::cpu") else GPU
        return change(Job(name, row, [program, *command], count, environment=dict(environment), holds=holds, **more))

    def share_out(output):
        names = [line[: -len(": test")] for line in output.splitlines() if line.endswith(": test")]
        asked = [name for name in names if re.search(wanted, name) and not any(word in name for word in but)]
        if not asked:
            raise ValueError(f"{program} has no test {filter} {wanted}")
        made = []
        for group, tests in grouped(asked).items():
            alike = families(tests)
            shares = min(SHARES.get(label + group, 1), len(alike))
            for share in range(shares):
                here = sum(alike[share::shares], [])
                # A group may be a test itself.
                common = f"{group}::" if all(test.startswith(f"{group}::") for test in here) else group
                name = label + group + (f", {share + 1} of {shares}" if shares > 1 else "")
                more = {"weight": weight(label + group), "inputs": (program, *loaded, *inputs)}
                made.append(job(name, row, [*arguments(names, common, here), *options], counts.rust, **more))
        return made

    command = [f"{filter}::", "--list"] if filter else ["--list"]
    return job(f"{label}{filter or 'tests'}: list", None, command, counts.work, then=share_out, is_urgent=True)


def rust_parts(setup):
    """The test programs with whatever CUDA there is, and on the stand-in. Some walk grids, of which there is a rest."""
    found = setup.programs
    modules = ["engines", "ranks", *(["study", "devices", "memory"] if setup.is_selected else [])]
    made = [rust("Rust", "", found["system"], module) for module in modules]
    if setup.is_selected:
        made.append(rust("Rust", "lib ", found["lib"]))
        # The others are of the packages, and of a run's own figures.
        but = ("portable::", "house::limits_of_a_run")
        made.append(rust("Rust", "checks ", found["checks"], but=but, inputs=OF_CHECKS))
    for row, module, wanted, environment in ON_STAND_IN:
        if setup.is_selected or module in ("engines", "devices", "faults"):
            of_job = {"environment": environment, "change": on_stand_in}
            made.append(rust(row, "stand-in, ", found["system"], module, wanted, **of_job))
    return made


# ---- Octave's tests


def octave_files(*options):
    command = ["tests/run-octave", "--list", *options]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout.split()


def octave(setup, row, label, *options, names=None, **more):
    """A job for each file of tests/run-octave with these options."""
    made = []
    for name in octave_files(*options) if names is None else names:
        folder = ROOT / ("tests/package" if "--packages" in options else "tests/octave")
        file = folder / f"{name}.tst"
        reads_documents = "--packages" in options or re.search(r'"(docs|examples|benches)"|\.md"', file.read_text())
        documents = OF_DOCUMENTS if reads_documents else ()
        of_job = {
            "needs": ("library",),
            "environment": {"STENCIL_OCTAVE_VERSION": setup.version},
            "weight": weight(f"{label}: {name}"),
            "inputs": ("matlab", "src/mex", "tests/run-octave", file, *folder.glob("*.m"), *documents, *RUNNER),
            **more,
        }
        command = ["tests/run-octave", *options, "--only", name, *setup.octave]
        made.append(Job(f"{label}: {name}", setup.row(row), command, counts.octave, **of_job))
    return made


def octave_on_gpu(setup):
    """Asks the library for a GPU; the files on it where there is one."""
    code = r'd = ConstantMemoryDevice_CUDA (); printf ("device: %s %s\n", d.Backend, d.BackendReason)'

    def count(output, status):
        told = re.search(r"^device: (\S*) ?(.*)$", output, re.MULTILINE)
        if status or not told:
            return counts.Counts(failed=1, note="ConstantMemoryDevice_CUDA failed")
        return counts.Counts(is_excused=True) if told[1] == "cuda" else counts.absent(told[2])

    def files(output):
        is_there = re.search("^device: cuda", output, re.MULTILINE)
        return octave(setup, "Octave (cuda)", "cuda", "--backend", "cuda", holds=GPU) if is_there else []

    return Job(
        "cuda: is there a GPU?",
        setup.row("Octave (cuda)"),
        [*setup.octave, "--norc", "--no-history", "--quiet", "--path", "matlab", "--eval", code],
        count,
        needs=("library",),
        environment={"STENCIL_BACKEND": None},
        then=files,
        holds=GPU,
    )


# ---- demos, benchmarks, random calls


def demo_jobs(setup):
    """The demos as a newcomer runs them: no display, an empty folder to write into."""
    made = []
    for name in demos.DEMOS:
        folder = FOLDER / "kept" / name
        command = ["--norc", "--no-history", "--quiet", "--path", "matlab", "--eval", f"{name} ('{folder}')"]
        of_job = {
            "needs": ("library",),
            "environment": {"DISPLAY": None, "WAYLAND_DISPLAY": None},
            "inputs": ("matlab", *RUNNER),
            "folder": folder,
            "holds": GPU,
        }
        made.append(Job(name, "Demos", [*setup.octave, *command], demos.demo(name, folder), **of_job))
    return made


def missing(name, row, program):
    """In place of a job whose program is not on this machine."""
    reason = f"there is no {program}"
    return Job(name, row, ["echo", reason], lambda output, status: counts.absent(reason))


def python_job(name, row, command, count, **more):
    """A job in Python, which the user may have named with PYTHON."""
    if not shutil.which(PYTHON):
        return missing(name, row, PYTHON)
    return Job(name, row, command if callable(command) else [PYTHON, *command], count, **more)


def bench_jobs(setup):
    """The benchmarks on arrays of next to nothing: that they measure, never how fast anything is."""
    inputs = ("matlab", "benches", "docs", "BENCHMARKS.md", *RUNNER)
    of_both = {"needs": ("library",), "inputs": inputs, "holds": GPU}
    out, to = FOLDER / "kept/bench", FOLDER / "kept/tables"
    octave = " ".join(setup.octave)
    quick = ["--quick", "--seconds", "3", "--sizes", "1,20", "--taps", "5", "--octave", octave, "--out", out]
    levels = ["measure", "--quick", "--parts", "levels", "--octave", octave, "--out", to]
    check = ["benches/tables.py", "write", "--check"]
    return [
        python_job("bench", "Bench", ["benches/bench.py", *quick], demos.bench(out), folder=out, **of_both),
        python_job("tables", "Bench", ["benches/tables.py", *levels], demos.tables(to), folder=to, **of_both),
        # Checks that it has the tables of the measurements.
        python_job("BENCHMARKS.md", "Bench", check, counts.one, inputs=inputs),
    ]


def fuzz(setup, backend):
    """So long of tests/fuzz, other calls each time."""
    seconds = 15 if setup.is_rest else 5
    row = "Fuzz (cuda, stand-in)" if backend == "cuda" else "Fuzz (cpu)"
    command = ["tests/fuzz", "--backend", backend, "--seconds", seconds, *setup.octave]
    return Job(f"fuzz, {backend}", row, command, counts.fuzz, needs=("library",), weight=seconds + 5)


def kernels(setup):
    """Compiles cuda/ again, all of it or a module of each source, and compares."""
    option = "--check" if setup.is_rest else "--check-some"
    of_job = {"weight": weight("kernels"), "limit": 2400, "inputs": ("cuda", "packaging/wheels.py", *RUNNER)}
    return python_job("kernels", "Kernels", ["cuda/make-ptx", option], counts.kernels, **of_job)


# ---- files that jobs on the stand-in have left


def is_on_stand_in(job):
    """Also what makes such jobs."""
    return job.name == "programs" or job.environment.get("STAND_IN_KIND") == "plain"


def kept(run):
    return [job.folder for job in run().jobs if is_on_stand_in(job) and job.folder]


def launched(setup, run):
    """Checks that some test on the stand-in launched each module of cuda/, and in a selection one of those that are the same
    code with other sizes; a module is a test."""

    def look():
        # The modules that a launch stands for: itself, or all of the same source and definitions
        # but for sizes.
        modules = {}
        lock = (ROOT / "cuda/kernels.lock").read_text()
        for name, source, words in re.findall(r"^module (\S*) (\S*) (\S*) ", lock, re.MULTILINE):
            kept_words = [word for word in words.split(",") if word.partition("=")[0] in OF_CODE]
            modules[name] = name if setup.is_all else " ".join([source, *kept_words])
        files = [folder / "kernels" for folder in kept(run) if (folder / "kernels").is_file()]
        seen = {modules.get(line.partition("/")[0]) for file in files for line in file.read_text().splitlines()}
        every = set(modules.values())
        for missing in sorted(every - seen):
            print(f"not launched: {missing}")
        print(f"{len(every & seen)} of {len(every)} {'modules' if setup.is_all else 'kinds of modules'} were launched")
        return not every <= seen

    row = "CUDA, stand-in: modules launched"
    return Job("launched", row, look, counts.of_all, needs=("stand-in, plain",), after=is_on_stand_in)


def assembled(setup, run):
    """Checks that NVIDIA's assembler takes each text of PTX that the library wrote in tests, for the oldest chip, the latest
    and two between; a text is a test. In a folder `examples` are the steps that documents show: all values of these must
    stay in registers."""
    row = "PTX, assembled"

    def complaint(program, text):
        for chip in ("sm_60", "sm_80", "sm_90", "sm_120"):
            command = [program, f"-arch={chip}", "--verbose", "--output-file", "/dev/null", text]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                return f"refused for {chip}: {done.stdout}"
            if text.parent.name == "examples" and re.search(r"[1-9][0-9]* bytes spill", done.stdout):
                return f"spilled on {chip}: {done.stdout}"
        return None

    def assemble():
        program = os.environ.get("PTXAS") or next((ROOT / "target").glob("ptxas-*/nvidia/cuda_nvcc/bin/ptxas"))
        of_tests = {text.name: text for folder in kept(run) for text in folder.glob("*.ptx")}
        of_examples = {text.name: text for folder in kept(run) for text in folder.glob("examples/*.ptx")}
        texts = sorted([*of_tests.values(), *of_examples.values()])
        # Wrong texts stay where a reader finds them.
        wrong = ROOT / "target/assembled"
        failed = 0
        with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
            for text, told in zip(texts, pool.map(functools.partial(complaint, program), texts)):
                if told:
                    wrong.mkdir(parents=True, exist_ok=True)
                    shutil.copy(text, wrong)
                    print(f"{told.rstrip()}\nin target/assembled/{text.name}")
                    failed += 1
        if not of_tests or setup.is_selected and not of_examples:
            print("refused: a folder without a text")
            failed += 1
        print(f"{max(len(texts) - failed, 0)} of {max(len(texts), failed)} texts are as they should be")
        return bool(failed)

    def after_the_tests(output):
        more = {"after": is_on_stand_in, "limit": 2400}
        return [Job("assembled", row, assemble, counts.of_all, needs=("stand-in, plain",), **more)]

    def count(output, status):
        return counts.absent("NVIDIA's assembler cannot be installed") if status else counts.Counts(is_excused=True)

    command = ["true"] if os.environ.get("PTXAS") else [PYTHON, "packaging/ptxas", "--version"]
    # Early: tests use it, too, where it is there.
    return Job("assembler", row, command, count, is_urgent=True, then=after_the_tests)


# ---- packages


def unpacked_package(folder):
    """The Octave package's folder among the unpacked ones."""
    (path,) = (path for path in folder.iterdir() if path.is_dir())
    return path


def choose(package, architecture):
    """Copies the binaries of an architecture to the functions, as the package's installation does."""
    shutil.copytree(package / architecture, package / "inst", dirs_exist_ok=True)


def packages(is_release, needs, then):
    """Builds the packages and unpacks them side by side, the Octave package's archive with them; with the library for
    all machines if they are a release, else around the one in matlab/. `then` makes jobs of the folder they are in."""
    unpacked = FOLDER / "packages"

    def build():
        options = [] if is_release else ["--library", "matlab/libstencil_mex.so"]
        status = subprocess.run([PYTHON, "packaging/dist", *options]).returncode
        if status == 0:
            made = ROOT / ("dist" if is_release else "target/dist")
            (archive,) = made.glob("stencil-mex-*.tar.gz")
            (toolbox,) = made.glob("stencil-mex-*-matlab.zip")
            shutil.copy(archive, unpacked)
            shutil.copy(made / "stencil-mex.yaml", unpacked)
            shutil.unpack_archive(archive, unpacked)
            shutil.unpack_archive(toolbox, unpacked)
            choose(unpacked_package(unpacked), platform.machine())
        return status

    def count(output, status):
        if status == 3:
            return counts.unavailable(output)
        return counts.Counts(failed=1, note="they cannot be built") if status else counts.Counts(passed=1)

    def made(output):
        # Not if the tools that build them cannot be installed.
        return then(unpacked) if any(unpacked.iterdir()) else []

    inputs = (*OF_DOCUMENTS, "Cargo.lock", "Cargo.toml", "matlab", *RUNNER)
    of_job = {"needs": needs, "folder": unpacked, "then": made, "weight": weight("packages"), "inputs": inputs}
    of_job.update(OF_CARGO if is_release else {}, is_urgent=True)
    return python_job("packages", "Packages", build, count, **of_job)


def index(unpacked):
    """The entry for the index of Octave's packages, by the index's rules."""

    def count(output, status):
        return counts.unavailable(output) if status == 3 else counts.python(output, status)

    program = "tests/package/test_index.py"
    inputs = (unpacked, program, "packaging", *RUNNER)
    return python_job("packages: index", "Packages: entry for the index", [program, unpacked], count, inputs=inputs)


def packages_here(setup, is_release):
    """Builds the packages and tries them: the Octave package as a user installs it, the MATLAB toolbox in Octave and in
    the stand-in for MATLAB."""

    def tried(unpacked):
        folder = unpacked_package(unpacked)
        checks, inputs = setup.programs["checks"], (unpacked, *OF_CHECKS)
        toolbox = {"STENCIL_MEX_FILE": folder / "toolbox/StencilConstantMemory_CUDA.mexa64"}
        of_toolbox = {"wanted": "^matlab::", "environment": toolbox, "inputs": inputs}
        of_packages = {"needs": ("packages",)}
        made = [rust("Packages: stand-in for MATLAB", "toolbox, ", checks, **of_toolbox), index(unpacked)]
        made += octave(setup, "Octave, packages", "packages", "--packages", unpacked, **of_packages)
        if is_release:
            library = folder / "toolbox/libstencil_mex.so"
            setup.measured["package_library_bytes"] = library.stat().st_size
            # Some of them are ignored where no package is named.
            of_library = {"inputs": inputs, "wanted": "^(portable|exports)::", "options": ["--include-ignored"]}
            for architecture in ("x86_64", "aarch64"):
                file = {"STENCIL_MEX_FILE": folder / architecture / "StencilConstantMemory_CUDA.mex"}
                # A file is called only on a machine that can run it.
                can_run = architecture == platform.machine()
                of_library.update(environment=file, but=() if can_run else ("without_its_library",))
                made.append(rust(f"Packages: {architecture}", f"portable, {architecture}, ", checks, **of_library))
            of_packages["names"] = ["errors", "hostile"]
            made += octave(setup, "Octave, portable", "portable", "--path", folder / "inst", **of_packages)
        return made

    return packages(is_release, ("programs",) if is_release else ("programs", "library"), tried)


# ---- kinds of runs


def runner():
    """The tests of these files."""
    command = ["-m", "unittest", "discover", "-s", "tests/runner"]
    return Job("runner", "tests/run itself", [sys.executable, *command], counts.python, inputs=RUNNER)


def here(setup, run):
    """The tests of this folder: a selection, the rest of them, or all."""
    # If the library does not compile, the tests do not either.
    compiled = programs(setup, lambda: rust_parts(setup), ("library",))
    made = [library(), stand_in(), compiled, assembled(setup, run), kernels(setup), packages_here(setup, setup.is_rest)]
    made += octave(setup, "Octave (cpu)", "cpu", "--backend", "cpu")
    if setup.is_rest:
        made += octave(setup, "Octave (cpu), class alone", "class alone", "--without-type", "--backend", "cpu")
    made += [on_stand_in(job) for job in octave(setup, "Octave (cuda, stand-in)", "stand-in", "--backend", "cuda")]
    made += [fuzz(setup, "cpu"), on_stand_in(fuzz(setup, "cuda"))]
    if setup.is_selected:
        made += [runner(), octave_on_gpu(setup), *demo_jobs(setup), *bench_jobs(setup), launched(setup, run)]
    return made


def release(setup):
    """The packages as they are released."""
    return [programs(setup, lambda: []), packages_here(setup, True)]


def sanitized(setup, kinds):
    """The kernels under AddressSanitizer and UBSan, or under a check for races, on the stand-in for the CUDA driver."""

    def of_kinds():
        made = []
        for kind in kinds:
            change = functools.partial(on_stand_in, kind=kind)
            # Left out are large or frequent cases, which run no other code of a kernel.
            often = ("large", "memory_is_flat", "stopped")
            for row, module, wanted, but in (
                ("itself", "cuda_stand_in", "", ()),
                ("engines", "engines", "engines::cuda::", often),
                ("study", "study", "", ()),
            ):
                program = setup.programs["system"]
                made.append(rust(f"{kind}: {row}", f"{kind}, ", program, module, wanted, but, change=change))
        return made

    return [*(stand_in(kind) for kind in kinds), programs(setup, of_kinds)]


def built(setup, folder):
    """The tests of a bundle that tests/bundle packed, on a machine without Rust."""
    libraries = folder / "lib"
    # The programs were built elsewhere: variables give them the places here.
    environment = {"STAND_IN_DIR": libraries, "STENCIL_MEX_FILE": ROOT / "matlab/StencilConstantMemory_CUDA.mex"}

    def place():
        # The MEX files, as there may be no C compiler; and the libraries for that machine's Octave,
        # which are useful if the same one runs.
        for pattern in ("*.mex", "libstencil_lend-*.so", "libstencil_object-*.so"):
            for file in libraries.glob(pattern):
                shutil.copy(file, ROOT / "matlab")
        for program in (folder / "bin").iterdir():
            program.chmod(0o755)
        return subprocess.run(["matlab/build-mex", "--from", libraries / "libstencil_mex.so", "mex"]).returncode

    def of_programs(output):
        made = []
        for program in sorted((folder / "bin").iterdir()):
            # Tests of the stand-in for CUDA or of the packages are not for this machine.
            but = ("cuda_stand_in::", "faults::", "portable::", "house::limits_of_a_run")
            made.append(rust(f"Rust: {program.name}", f"{program.name} ", program, but=but, environment=environment))
        return made

    made = [Job("library", None, place, counts.work, is_urgent=True, then=of_programs)]
    if not shutil.which(setup.octave[0]):
        return [*made, missing("octave", "Octave", setup.octave[0])]
    made += octave(setup, "Octave (cpu)", "cpu", "--backend", "cpu")
    return [*made, octave_on_gpu(setup), *bench_jobs(setup)]
