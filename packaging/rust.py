"""A Rust compiler that has the standard libraries of both architectures of the packages.

It is this machine's own where rustup can add them. Without rustup's network it is Debian's rustc-web, which is
unpacked under target/: nothing is installed.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile

from wheels import TARGET, Unavailable, place, run

# A compiler of Debian's finds its own libraries here.
WRAPPER = """#!/bin/sh
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
LD_LIBRARY_PATH=$here/usr/lib/x86_64-linux-gnu${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/usr/bin/rustc" "$@"
"""


def printed(what, *options):
    """Returns what rustc prints of itself, as a path."""
    told = subprocess.run(["rustc", "--print", what, *options], stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(told.stdout.strip())


def debian(folder, foreign):
    """Unpacks Debian's compiler, with the standard library of a foreign architecture, as Debian names it."""
    with tempfile.TemporaryDirectory(dir=TARGET, prefix="rust-") as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "state/lists/partial").mkdir(parents=True)
        (scratch / "archives/partial").mkdir(parents=True)
        # Lists of packages of its own, so that this machine's stay without the foreign architecture.
        settings = [
            f"Dir::State={scratch}/state",
            "Dir::State::status=/var/lib/dpkg/status",
            f"Dir::Cache={scratch}",
            "Debug::NoLocking=true",
            # Others may not write into this folder.
            "APT::Sandbox::User=root",
            "APT::Architectures::=amd64",
            f"APT::Architectures::={foreign}",
        ]
        apt = ["apt-get", "-q", *(word for setting in settings for word in ("-o", setting))]
        # The compiler comes with what this machine lacks, the foreign library alone.
        wanted = [
            [*apt, "update"],
            [*apt, "install", "--yes", "--no-install-recommends", "--download-only", "rustc-web"],
            ["sh", "-c", 'cd "$0/archives" && exec "$@"', scratch, *apt, "download", f"libstd-rust-web-dev:{foreign}"],
        ]
        for command in wanted:
            trouble = run(*command)
            if trouble:
                raise Unavailable(f"there is no Debian rustc-web (is the network there?): {trouble.splitlines()[-1]}")
        for archive in sorted((scratch / "archives").glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", archive, scratch / "made"], check=True)
        if not (scratch / "made/usr/bin/rustc").is_file():
            raise Unavailable("Debian's rustc-web is installed here, and so cannot be unpacked beside it: remove it")
        (scratch / "made/bin").mkdir()
        wrapper = scratch / "made/bin/rustc"
        wrapper.write_text(WRAPPER)
        wrapper.chmod(0o755)
        place(scratch / "made", folder)


def provide(target):
    """Sees to it that the rustc of PATH has the standard library of a target, too."""
    if printed("target-libdir", "--target", target).is_dir():
        return
    trouble = run("rustup", "target", "add", target)
    if not trouble:
        return
    if not shutil.which("apt-get"):
        raise Unavailable(f"rustc has no standard library for {target}: {trouble.splitlines()[-1]}")
    folder = TARGET / "rust-web"
    if not folder.is_dir():
        TARGET.mkdir(exist_ok=True)
        debian(folder, "arm64")
    os.environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    os.environ["RUSTC"] = str(folder / "bin/rustc")


def notices():
    """Returns a name for the file of the standard library's copyright notices, and its contents."""
    root = printed("sysroot")
    places = {
        "rust-std.html": root / "share/doc/rust/COPYRIGHT-library.html",
        "rust-std.txt": root / "share/doc/libstd-rust-web-dev/copyright",
        # Debian's own Rust has them here.
        "rust-std": root / "share/doc/libstd-rust-dev/copyright",
    }
    for name, path in places.items():
        if path.is_file():
            return name, path.read_bytes()
    raise Unavailable(f"the notices of Rust's standard library are not in {root}/share/doc")
