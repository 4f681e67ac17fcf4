"""Tools that come as Python packages: pinned by hash, installed under target/, without root."""

import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

TARGET = pathlib.Path(__file__).resolve().parent.parent / "target"


class Unavailable(Exception):
    """A tool cannot be had here, and why in one line."""


class Refused(Exception):
    """The files are not the pinned ones."""


def run(*command):
    """Runs a command; its output where it fails, else None."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    except OSError as error:
        return str(error)
    return (done.stdout.strip() or f"status {done.returncode}") if done.returncode else None


def place(made, folder):
    """Renames a folder that is complete, unless another run was first."""
    try:
        made.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def installed(pin):
    """The folder that holds the package of a pin: installed whole or not at all."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise Unavailable(f"{pin.stem} is pinned for Linux on x86-64, this is {sys.platform} on {platform.machine()}")
    # The pin is in the folder's name, so that another version is another folder; so is the Python that it is for.
    digest = hashlib.sha256(pin.read_bytes()).hexdigest()[:16]
    folder = TARGET / f"{pin.stem}-{digest}-{sys.implementation.cache_tag}"
    if folder.is_dir():
        return folder
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=TARGET, prefix=f"{pin.stem}-") as scratch:
        scratch = pathlib.Path(scratch)
        python = sys.executable
        if run(python, "-m", "pip", "--version"):
            # Debian's Python has no pip. A virtual environment has one, once python3-venv is installed.
            if run(python, "-m", "venv", scratch / "venv"):
                raise Unavailable("this Python has neither pip nor venv (Debian and Ubuntu: python3-venv)")
            python = scratch / "venv/bin/python"
        packages = scratch / "packages"
        # Gives up early without a network.
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--retries", "1", "--timeout", "30"]
        trouble = run(*pip, "--no-deps", "--require-hashes", "--target", packages, "-r", pin)
        if trouble:
            if "DO NOT MATCH THE HASHES" in trouble:
                raise Refused(f"the package that pip offers is not the one that {pin.name} pins:\n{trouble}")
            errors = re.findall(r"^ERROR: (.*)", trouble, re.MULTILINE) or trouble.splitlines()
            raise Unavailable(f"pip cannot install {pin.stem} (is the network there?): {errors[0]}")
        place(packages, folder)
    return folder
