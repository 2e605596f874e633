# SPDX-License-Identifier: Apache-2.0
"""A machine on which no Latchkey was ever installed, and the packages of `make deb`."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import pytest

from machine import CHECKOUT, Machine, MachineTest
from services import AUTHORITY, KEYCHAIN, SOCKETS

BUILT = CHECKOUT / ".build/deb"
# Where the machine has them.
FOLDER = "/srv/packages"
PACKAGES = ("latchkey", "latchkey-agent", "quicknote")
ANSWER = "latchkey latchkey/purge-stores boolean"
WITHOUT_QUESTIONS = {"DEBIAN_FRONTEND": "noninteractive"}


def built(name):
    """The file of a package; `latchkey-sdk` has a version of the compiler in its name."""
    found = sorted(BUILT.glob(f"{name}_*.deb")) or sorted(BUILT.glob(f"{name}-*_*.deb"))
    if len(found) != 1:
        raise unittest.SkipTest(f"no package {name}: run `make deb` first")
    return found[0]


def field(package, name):
    return subprocess.run(["dpkg-deb", "--field", package, name], check=True, capture_output=True,
                          text=True).stdout.strip()


def of_version(package, version, change=lambda root: None):
    """The bytes of a package with another version, after a change of its unpacked files."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "root"
        subprocess.run(["dpkg-deb", "--raw-extract", package, root], check=True)
        control = root / "DEBIAN/control"
        old = field(package, "Version")
        text = re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.MULTILINE)
        control.write_text(text.replace(f"(= {old})", f"(= {version})"))
        change(root)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", root, f"{folder}/made.deb"], check=True,
                       capture_output=True)
        return pathlib.Path(f"{folder}/made.deb").read_bytes()


@pytest.mark.usefixtures("machine_image")
class PackageTest(unittest.TestCase):
    """A test that begins on a machine without Latchkey; all tests share the machine, and each removes what it installs."""

    machine = None
    # The packages that are copied to the machine, which the classes of a module share.
    packages = (*PACKAGES, "latchkey-server", "latchkey-sdk")
    # The next version of `upgrade`.
    _number = 0

    @classmethod
    def setUpClass(cls):
        if PackageTest.machine is not None:
            return
        files = [built(name) for name in cls.packages]
        PackageTest.machine = Machine(MachineTest.image, "none")
        unittest.addModuleCleanup(cls._remove_machine)
        for file in files:
            cls.machine.copy(file, f"{FOLDER}/{file.name}", 0o644)

    @classmethod
    def _remove_machine(cls):
        PackageTest.machine.stop()
        PackageTest.machine = None

    def setUp(self):
        self.files = self.all_files()

    def tearDown(self):
        """Purges everything, also the stores, so that the next test begins on the same machine."""
        installed = self.machine.run("dpkg-query", "-W", "-f", "${Package}\n", check=False).stdout.split()
        ours = [name for name in installed if name.startswith(("latchkey", "quicknote"))]
        self.answer(True)
        if ours:
            self.purge(*ours)
        self.machine.run("sh", "-c", "rm -rf /var/lib/latchkey /var/lib/latchkey-authd; echo PURGE | "
                         "debconf-communicate latchkey >/dev/null", check=False)
        self.machine.run("systemctl", "daemon-reload")

    # MARK: packages

    def apt(self, *argv, check=True):
        """apt without questions, and without a network: what a package depends on is on the machine."""
        return self.machine.run("apt-get", "-q", "-y", "--no-install-recommends", *argv, env=WITHOUT_QUESTIONS, check=check,
                                timeout=120)

    def install(self, *names):
        return self.apt("install", *(f"{FOLDER}/{built(name).name}" for name in names or ("latchkey",)))

    def remove(self, *names):
        return self.apt("remove", *names or ("latchkey",))

    def purge(self, *names):
        return self.apt("purge", *names or ("latchkey",))

    def upgrade(self, change=lambda root: None, name="latchkey"):
        """Installs a package of a higher version, which is the same but for a change."""
        PackageTest._number += 1
        package = built(name)
        version = f"{field(package, 'Version')}+{self._number}"
        path = f"{FOLDER}/{name}_{version}.deb"
        self.machine.write(path, of_version(package, version, change))
        done = self.apt("-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold", "install", path)
        self.machine.run("rm", path)
        self.assertEqual(self.machine.run("dpkg-query", "-W", "-f", "${Version}", name).stdout, version)
        return done

    def answer(self, delete):
        """Answers the question of a purge beforehand, as an administrator of many machines does."""
        self.machine.run("debconf-set-selections", input=f"{ANSWER} {str(delete).lower()}\n", check=False)

    # MARK: what is on the machine

    def all_files(self):
        """Every file but those that grow on any machine: logs, caches, and the records of dpkg and systemd."""
        left_out = ("/proc", "/sys", "/dev", "/run", "/tmp", "/srv", "/home", "/var/log", "/var/cache", "/var/lib/dpkg",
                    "/var/lib/apt", "/var/lib/systemd", "/var/lib/private", "/var/tmp",
                    os.path.expanduser("~root"))
        pruned = " -o ".join(f"-path {place}" for place in left_out)
        return set(self.machine.run("sh", "-c", rf"find / \( {pruned} \) -prune -o -print").stdout.splitlines())

    def latchkey(self, *argv, user="alice", **options):
        return self.machine.run("latchkey", *argv, user=user, **options)

    def exists(self, path):
        return self.machine.run("test", "-e", path, check=False).returncode == 0

    def state(self, unit):
        return self.machine.unit(unit)["ActiveState"]

    def assertListening(self):
        for socket in SOCKETS:
            self.assertEqual(self.state(socket), "active", socket)
            self.assertEqual(self.machine.run("systemctl", "is-enabled", socket).stdout.strip(), "enabled")

    def processes(self):
        return [self.machine.main_pid(unit) for unit in (KEYCHAIN, AUTHORITY)]
