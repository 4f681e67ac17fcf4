"""The jobs of `tests/run hosts`: the library as it was built here, and the packages, in other releases of Octave.

Each suite is a Debian of its own, made by debootstrap on first use and kept in .hosts/ (or in the folder that
STENCIL_HOSTS_DIR names). It has Octave and gnuplot, and no compiler: what the packages are for. Suites whose names end in
-arm64 are of that architecture, run by qemu.
"""

import difflib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

import counts
import parts
from jobs import ROOT, Job

HOSTS = pathlib.Path(os.environ.get("STENCIL_HOSTS_DIR") or ROOT / ".hosts")
# Place of this folder's copy in a root.
PLACE = "opt/stencil-mex"
# Mounts are made in a namespace of their own: they go with it, however it ends.
APART = ["unshare", "--mount", "--propagation", "private"]
ENTER = 'mount -t proc proc "$1/proc"; mount -t devpts -o ptmxmode=0666 devpts "$1/dev/pts"; exec chroot "$@"'
ENVIRONMENT = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8"]
PACKAGES = "octave,gnuplot-nox,fonts-freefont-otf"
SUITES = ["trixie", "sid", "bookworm", "trixie-arm64"]
# Suites for which the library is built here, and runs all tests of Octave. The others try the packages.
IN_FULL = ("trixie", "sid")


def trouble():
    """Why this machine cannot do it; nothing where it can."""
    if os.geteuid():
        return "root is needed, to make a root folder of Debian and to change into it"
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode:
        return "mounts are not allowed here (in a container, CAP_SYS_ADMIN is needed)"
    return None


def in_root(root, *command):
    """A command of a root, in an environment of its own."""
    return [*APART, "sh", "-e", "-c", ENTER, "sh", root, "/usr/bin/env", "-i", *ENVIRONMENT, *command]


def headers_of(root):
    """Folder of the headers of its Octave, and the version of its package. The root stays without them."""
    ask = in_root(root, "dpkg-query", "-W", "-f", "${Version}", "octave")
    version = subprocess.run(ask, stdout=subprocess.PIPE, text=True, check=True).stdout
    return HOSTS / "headers" / f"octave-{version.rpartition('-')[0]}", version


def is_emulated(suite):
    return suite.endswith("-arm64") and platform.machine() != "aarch64"


def make_root(suite, root):
    if is_emulated(suite) and not pathlib.Path("/proc/sys/fs/binfmt_misc/qemu-aarch64").exists():
        # Without systemd nothing has done this when the machine started.
        subprocess.run(["update-binfmts", "--enable", "qemu-aarch64"], check=True)
    # debootstrap keeps its notes in this folder until it is done.
    if os.access(root / "usr/bin/octave-cli", os.X_OK) and not (root / "debootstrap").exists():
        return
    print(f"Making a Debian {suite} with Octave in {root}: some minutes.", flush=True)
    subprocess.run(["rm", "-rf", "--one-file-system", root], check=True)
    root.mkdir(parents=True)
    release, _, architecture = suite.partition("-")
    options = ["--variant=minbase", f"--include={PACKAGES}", *([f"--arch={architecture}"] if architecture else [])]
    subprocess.run([*APART, "debootstrap", *options, release, root], check=True)


def fetch_headers(suite, root):
    """The headers of its Octave."""
    headers, version = headers_of(root)
    if headers.is_dir():
        return
    download = 'cd /tmp; rm -f octave-dev_*.deb; apt-get -q update; apt-get -q download "octave-dev=$1"'
    if subprocess.run(in_root(root, "sh", "-c", download, "sh", version)).returncode:
        raise RuntimeError(f"there are no headers of Octave {version}: is {suite} at a later one? Then remove {root}")
    (archive,) = (root / "tmp").glob("octave-dev_*.deb")
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["dpkg-deb", "-x", archive, work], check=True)
        headers.parent.mkdir(exist_ok=True)
        for folder in pathlib.Path(work, "usr/include").glob("octave-*"):
            shutil.move(folder, headers.parent)
    archive.unlink()


def place(root):
    """Copies, so that nothing of this folder is mounted where it could be written to."""
    folder = root / PLACE
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "target").mkdir(parents=True)
    # Examples and links of the documents are tested, too.
    texts = [*ROOT.glob("LICENSE-*"), *ROOT.glob("*.md")]
    folders = [ROOT / name for name in ("matlab", "tests", "benches", "cuda", "docs", "examples", "packaging", "src")]
    subprocess.run(["cp", "-a", *folders, *texts, folder], check=True)
    subprocess.run(["cp", "-a", ROOT / "target/cuda-stand-in", folder / "target"], check=True)


def add_helpers(root):
    """Compiles libraries with its Octave's headers, into the copy of matlab/ there."""
    headers, _ = headers_of(root)
    environment = {
        **os.environ,
        "MKOCTFILE": str(ROOT / "packaging/headers-mkoctfile"),
        "OCTAVE_HEADERS": str(headers),
    }
    folder = root / PLACE / "matlab"
    subprocess.run([folder / "build-mex", "--from", "matlab/libstencil_mex.so", "mex"], env=environment, check=True)
    return not (folder / f"libstencil_object-{headers.name.rpartition('-')[2]}.so").exists()


def helpers(output, status):
    if status:
        return counts.Counts(failed=1, note="src/mex/object.cc does not compile with the headers of its Octave")
    return counts.Counts(passed=1)


def jobs(setup, suites):
    """The jobs of all suites."""
    made = [parts.library(), parts.stand_in("plain", "modules")]
    for suite in suites:
        made += root_of(suite, HOSTS / suite)
        if suite in IN_FULL:
            made += of_suite(setup, suite, HOSTS / suite)

    def tried(folder):
        return [job for suite in suites for job in of_packages(setup, suite, folder)]

    # The packages have a library for each Octave whose headers are here.
    made.append(parts.packages(True, tuple(f"{suite}, root" for suite in suites), tried))
    return made


def octave(setup, suite, row, label, *options, needs, variables=(), **more):
    """The files of tests/run-octave with these options in the root of a suite."""
    made = parts.octave(setup, f"{row}, {suite}", f"{suite}, {label}", *options, needs=needs, inputs=None, **more)
    for job in made:
        # Its Octave is another than this machine's.
        job.part, job.environment = f"{row}, {suite}", {}
        words = job.command[1 : len(job.command) - len(setup.octave)]
        job.command = in_root(HOSTS / suite, *variables, f"/{PLACE}/tests/run-octave", *words, "octave-cli")
    return made


def root_of(suite, root):
    def make():
        make_root(suite, root)
        # They are the same for all architectures.
        if not suite.endswith("-arm64"):
            fetch_headers(suite, root)

    is_there, needs = f"{suite}, root", ("library", "stand-in, plain")
    return [
        Job(is_there, None, make, counts.work, is_urgent=True, weight=300, limit=2400),
        Job(f"{suite}, copies", None, lambda: place(root), counts.work, needs=(is_there, *needs)),
    ]


def of_suite(setup, suite, root):
    is_placed = f"{suite}, copies"
    after = {"needs": (is_placed,), "after": lambda other: other.name == f"{suite}, helpers"}
    found = f"/{PLACE}/target/cuda-stand-in/plain"
    on_stand_in = ["arrays", "arrays_life", "stencil", "errors", "driver"]
    return [
        Job(f"{suite}, helpers", f"Helpers, {suite}", lambda: add_helpers(root), helpers, needs=(is_placed,)),
        *octave(setup, suite, "Octave (cpu)", "cpu", "--backend", "cpu", **after),
        *octave(setup, suite, "Octave (cpu), class alone", "class alone", "--without-type", **after),
        *octave(
            setup, suite, "Octave (cuda, stand-in)", "stand-in", "--backend", "cuda", names=on_stand_in,
            variables=("STAND_IN_KIND=plain", f"LD_LIBRARY_PATH={found}"), **after,
        ),
    ]


def of_packages(setup, suite, unpacked):
    root = HOSTS / suite
    is_placed, is_bare = f"{suite}, copies of packages", f"{suite}, no compiler"
    after = {"needs": (is_placed,)}
    folder = parts.unpacked_package(unpacked)
    packages, inst = f"/{PLACE}/packages", f"/{PLACE}/packages/{folder.name}/inst"

    def copy():
        subprocess.run(["cp", "-a", unpacked, root / PLACE], check=True)
        parts.choose(parts.unpacked_package(root / PLACE / "packages"), "aarch64" if "arm64" in suite else "x86_64")

    def bare(output, status):
        is_found = re.search("^/", output, re.MULTILINE)
        return counts.Counts(failed=1, note=f"remove it, or {root}") if is_found else counts.Counts(passed=1)

    def compare():
        """Prints in which lines of digest.m this machine differs from the root."""
        tests = ("tests/package", "tests/octave")
        code = lambda root, path: f"addpath {path} {' '.join(f'{root}/{name}' for name in tests)}; digest"
        here = [*setup.octave, "--norc", "--quiet", "--eval", code(ROOT, folder / "inst")]
        there = in_root(root, "octave-cli", "--norc", "--quiet", "--eval", code(f"/{PLACE}", inst))
        runs = (subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True) for command in (here, there))
        lines, others = (run.stdout.splitlines() for run in runs)
        print("\n".join(difflib.unified_diff(lines, others, "x86_64", suite, lineterm="")))
        return lines != others or len(lines) < 100

    compilers = in_root(root, "sh", "-c", "command -v cc c++ gcc g++ clang mkoctfile cargo; true")
    files, portable, variables = ["first_minute", "matlab", "octave"], ["errors", "hostile"], ()
    if is_emulated(suite):
        # A smoke test: qemu takes some fifty times as long.
        files, portable, variables = ["first_minute"], ["reference", "errors"], ("STENCIL_EMULATED=1",)
    made = [
        Job(is_placed, None, copy, counts.work, needs=(f"{suite}, copies",)),
        Job(is_bare, f"Packages, {suite}: no compiler", compilers, bare, needs=(f"{suite}, root",)),
        *octave(
            setup, suite, "Octave, packages", "packages", "--packages", packages, names=files, variables=variables, **after
        ),
        *octave(setup, suite, "Octave, portable", "portable", "--path", inst, names=portable, **after),
    ]
    if is_emulated(suite):
        made.append(Job(f"{suite}, bits", f"Packages, {suite}: bits of x86-64", compare, counts.one, **after))
    return made
