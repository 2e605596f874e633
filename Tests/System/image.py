# SPDX-License-Identifier: Apache-2.0
"""The folders of the cache that machines are booted from. They are built when they are missing, which needs root:
- `machine`: a root file system of the host's own release, with the packages of machine-packages.txt, made by
  debootstrap from the mirror that the host's apt uses;
- `kernel`: the distribution's kernel (vmlinuz) and some of its modules, extracted and never installed.

The name of a folder contains a hash of the function that builds it and of the list of packages. A folder is built
beside its final place and then renamed, so an interrupted build leaves nothing that could be used. A run holds its
folder with a shared lock on the file FOLDER.lock; folders without one that were last used more than a day ago are
removed."""

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
HOST = platform.freedesktop_os_release()
IS_UBUNTU = HOST["ID"] == "ubuntu"
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
    """The mirror from which apt fetches the main component of this release."""
    columns = "$(CREATED_BY) $(CODENAME) $(RELEASE) $(COMPONENT) $(REPO_URI)"
    for line in output("apt-get", "indextargets", "--format", columns).splitlines():
        creator, codename, release, component, address = line.split()
        if creator == "Packages" and HOST["VERSION_CODENAME"] in (codename, release) and component == "main":
            return address
    raise RuntimeError(f"apt knows no source of {HOST['VERSION_CODENAME']}")


def packages():
    lines = (line.partition("#")[0].strip() for line in PACKAGES.read_text().splitlines())
    return [line for line in lines if line]


def build_machine(folder):
    proxy = output("apt-config", "shell", "http_proxy", "Acquire::http::Proxy").partition("=")[2].strip("'")
    # debootstrap mounts /proc and starts processes; they end with the namespaces in which it runs.
    run("unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc",
        "debootstrap", "--variant=minbase", "--merged-usr", f"--components={'main,universe' if IS_UBUNTU else 'main'}",
        f"--include={','.join(packages())}", HOST["VERSION_CODENAME"], folder, mirror(),
        env=ENVIRONMENT | ({"http_proxy": proxy} if proxy else {}))
    unused = ["var/cache/apt/archives", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale",
              "etc/apt/sources.list", "etc/machine-id", "var/lib/dbus/machine-id"]
    # Xvfb depends on drivers of graphics cards, 160 MB; it draws in software without them.
    drivers = ["usr/lib/*/dri", "usr/lib/*/libLLVM-*", "usr/lib/*/libz3.so*"]
    remove(*(folder / path for path in unused), *(path for pattern in drivers for path in folder.glob(pattern)))


def build_kernel(folder):
    general = "linux-image-generic" if IS_UBUNTU else f"linux-image-{output('dpkg', '--print-architecture')}"
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


def image(kind):
    """The folder, and the open file that keeps other runs from removing it."""
    build = {"machine": build_machine, "kernel": build_kernel}[kind]
    recipe = [inspect.getsource(build), HOST["VERSION_CODENAME"], platform.machine(), *packages()]
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
            build(building)
            building.rename(folder)
            print(f"latchkey: built in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return str(folder), lock
