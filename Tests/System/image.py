# SPDX-License-Identifier: Apache-2.0
"""Folders of the cache, which are built when they are missing. That needs root:
- `machine`: a root file system with the packages of machine-packages.txt, which the tests boot. It is of Debian 13, unless
  LATCHKEY_DEBIAN names another release;
- `bookworm` and `trixie`: one of that release, in which scripts/debian runs a command;
- `kernel`: the distribution's kernel (vmlinuz) and some of its modules, extracted and never installed.

mmdebstrap makes a root file system from the mirror that this machine's apt uses.

The name of a folder contains a hash of the function that builds it and of the list of packages. A folder is built
beside its final place and then renamed, so an interrupted build leaves nothing that could be used. A run holds its
folder with a shared lock on the file FOLDER.lock; folders without one that were last used more than a day ago are
removed.

usage: python3 Tests/System/image.py KIND   prints the folder"""

import fcntl
import hashlib
import inspect
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import time

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "latchkey"
PACKAGES = pathlib.Path(__file__).parent / "machine-packages.txt"
ENVIRONMENT = os.environ | {"LC_ALL": "C"}


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT).stdout.strip()


def run(*command, **options):
    """Runs a command, and shows what it said only if it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, umask=0o022, **options)
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-20:])
        raise RuntimeError(f"{command[0]} failed with status {done.returncode}:\n{last}")


def remove(*paths):
    subprocess.run(["rm", "-rf", "--one-file-system", *paths], check=True)


def mirror():
    """The mirror from which apt fetches the main component of Debian."""
    columns = "$(CREATED_BY) $(ORIGIN) $(COMPONENT) $(REPO_URI)"
    for line in output("apt-get", "indextargets", "--format", columns).splitlines():
        creator, origin, component, address = line.split()
        if (creator, origin, component) == ("Packages", "Debian", "main"):
            return address
    raise RuntimeError("apt knows no source of Debian")


def machine_packages():
    lines = (line.partition("#")[0].strip() for line in PACKAGES.read_text().splitlines())
    return [line for line in lines if line]


def build_root(folder, release, packages, unused=(), hooks=()):
    run("mmdebstrap", "--variant=minbase", f"--include={','.join(packages)}", *hooks, release, folder, mirror(),
        env=ENVIRONMENT)
    remove(*(path for pattern in [*unused, "etc/machine-id", "var/lib/dbus/machine-id"] for path in folder.glob(pattern)))


def build_kernel(folder):
    general = f"linux-image-{output('dpkg', '--print-architecture')}"
    # The package of the current kernel is a dependency of the one without a version in its name.
    names = re.findall(r"^ *Depends: (linux-(?:image|modules)-[0-9].*)$",
                       output("apt-cache", "depends", "--important", general), re.MULTILINE)
    if not names:
        raise RuntimeError(f"apt knows no kernel named {general}")
    extracted, modules = folder / "deb", folder / "modules"
    extracted.mkdir(parents=True)
    modules.mkdir()
    run("apt-get", "-q", "-o", "APT::Sandbox::User=root", "download", *names, cwd=extracted)
    for package in list(extracted.glob("*.deb")):
        run("dpkg-deb", "--extract", package, extracted)
    for kernel in extracted.glob("boot/vmlinuz*"):
        shutil.copy(kernel, folder / "vmlinuz")
    for part in ("crypto", "drivers/char", "drivers/hid", "drivers/virtio", "fs", "lib", "net/9p"):
        for module in extracted.glob(f"lib/modules/*/kernel/{part}/**/*.ko*"):
            shutil.move(module, modules / module.name)
    # Unpacked, because the first file system of a virtual machine is not compressed either.
    for tool, kind in (("unxz", "*.xz"), ("unzstd", "*.zst")):
        if compressed := list(modules.glob(kind)):
            run(tool, *(["-q", "--rm"] if tool == "unzstd" else []), *compressed)
    remove(extracted)


def remove_old(folder):
    """Removes unused folders, and builds that were interrupted. Called with the lock of the cache."""
    for old in CACHE.glob("system-*"):
        lock = pathlib.Path(f"{old}.lock")
        if old.name.endswith((".building", ".building.log")):
            remove(old)
        elif old != folder and old.is_dir() and not (lock.exists() and time.time() - lock.stat().st_mtime < 24 * 3600):
            if subprocess.run(["flock", "-n", "-x", lock, "rm", "-rf", "--one-file-system", old]).returncode == 0:
                lock.unlink()


# Xvfb depends on drivers of graphics cards, 160 MB; it draws in software without them. The machine has no network.
UNUSED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/lib/*/dri", "usr/lib/*/libLLVM*", "usr/lib/*/libz3.so*",
          "etc/apt/sources.list")
# The package has every login and every password ask for a finger.
PASSWORDS_ONLY = "--customize-hook=chroot \"$1\" pam-auth-update --package --remove fprintd"


def image(kind, release=os.environ.get("LATCHKEY_DEBIAN", "trixie")):
    """The folder, and the open file that keeps other runs from removing it."""
    build, options = {
        "machine": (build_root, (release, machine_packages(), UNUSED, [PASSWORDS_ONLY])),
        "bookworm": (build_root, ("bookworm", ["ca-certificates", "git", "make"])),
        "trixie": (build_root, ("trixie", ["ca-certificates", "git", "make"])),
        "kernel": (build_kernel, ()),
    }[kind]
    recipe = [inspect.getsource(build), platform.machine(), *options]
    folder = CACHE / f"system-{kind}-{hashlib.sha256(repr(recipe).encode()).hexdigest()[:16]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / "system.lock", "w") as cache:
        fcntl.flock(cache, fcntl.LOCK_EX)
        # Opening it for writing changes its time.
        lock = open(f"{folder}.lock", "w")
        fcntl.flock(lock, fcntl.LOCK_SH)
        remove_old(folder)
        if not folder.exists():
            print(f"latchkey: building {folder}", file=sys.stderr)
            began = time.monotonic()
            building = pathlib.Path(f"{folder}.building")
            build(building, *options)
            building.rename(folder)
            print(f"latchkey: built in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return str(folder), lock


if __name__ == "__main__":
    print(image(sys.argv[1])[0])
