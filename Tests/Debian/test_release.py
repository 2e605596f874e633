# SPDX-License-Identifier: Apache-2.0
"""A release that scripts/release made: what a person gets who trusts its key. Long: it builds the packages of two systems."""

import os
import pathlib
import shutil
import subprocess
import tarfile

import pytest

import debs
import image
from machine import CHECKOUT, Machine

pytestmark = pytest.mark.long
APT = {"DEBIAN_FRONTEND": "noninteractive"}


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    """A key of gpg that is thrown away, in a folder of its own."""
    home = tmp_path_factory.mktemp("signing")
    home.chmod(0o700)
    environment = os.environ | {"GNUPGHOME": str(home)}
    subprocess.run(["gpg", "--batch", "--pinentry-mode", "loopback", "--passphrase", "", "--quick-generate-key", "Release",
                    "ed25519", "sign", "1d"], env=environment, check=True, capture_output=True)
    yield environment
    subprocess.run(["gpgconf", "--kill", "all"], env=environment, check=False)


@pytest.fixture(scope="module")
def released(key, tmp_path_factory):
    """The folder of a release of this commit. LATCHKEY_RELEASED names one that was made before, instead of making it."""
    if made := os.environ.get("LATCHKEY_RELEASED"):
        return pathlib.Path(made)
    folder, clone = tmp_path_factory.mktemp("release"), tmp_path_factory.mktemp("clone") / "latchkey"
    subprocess.run(["git", "clone", "--quiet", CHECKOUT, clone], check=True)
    subprocess.run(["git", "-C", clone, "tag", version()], check=True)
    subprocess.run([clone / "scripts/release", "Release", folder], env=key, check=True)
    return folder


def version():
    text = (CHECKOUT / "Sources/Formats/LatchkeyModel/Version.swift").read_text()
    return text.split('productVersion = "')[1].split('"')[0]


def test_every_file_has_its_checksum_and_the_list_is_signed(released, tmp_path):
    files = {str(path.relative_to(released)) for path in released.rglob("*") if path.is_file()}
    sums = (released / "SHA256SUMS").read_text().splitlines()
    assert {line.split("  ", 1)[1] for line in sums} == files - {"SHA256SUMS", "SHA256SUMS.asc"}
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=released, check=True)
    home = tmp_path / "home"
    home.mkdir(0o700)
    for command in (["--import", "latchkey.gpg"], ["--verify", "SHA256SUMS.asc", "SHA256SUMS"]):
        subprocess.run(["gpg", "--homedir", home, *command], cwd=released, check=True, capture_output=True)


def test_the_sources_are_those_of_the_tag(released):
    with tarfile.open(released / f"latchkey-{version()}.tar.xz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()} - {""}
    tracked = set(subprocess.run(["git", "-C", CHECKOUT, "ls-files"], check=True, capture_output=True, text=True)
                  .stdout.split("\n")) - {""}
    assert {name for name in names if name in tracked} == tracked
    assert "Package.swift" in names and not any(name.startswith(".build") for name in names)


@pytest.mark.parametrize("release", ["bookworm", "trixie"])
def test_apt_installs_upgrades_and_removes(release, released):
    """From the signed repository, in a machine of that system; before it, an earlier version is there."""
    folder, lock = image.image("machine", release)
    with lock, Machine(folder, "none") as machine:
        pool = released / "debian/pool" / release
        (earlier,) = pool.glob("latchkey_*.deb")
        machine.write("/srv/earlier.deb", debs.of_version(earlier, "0.0.9"))
        machine.run("apt-get", "-q", "-y", "--no-install-recommends", "install", "/srv/earlier.deb", env=APT, timeout=120)
        machine.run("latchkey", "passcode", "set", user="alice", input="the password of alice\n", check=False)
        machine.run("latchkey", "set", "before the upgrade", user="alice", input="a value")

        shutil.make_archive(str(released) + "-repository", "tar", released / "debian")
        machine.write("/srv/repository.tar", pathlib.Path(f"{released}-repository.tar").read_bytes())
        pathlib.Path(f"{released}-repository.tar").unlink()
        machine.run("sh", "-c", "mkdir /srv/repository && tar -C /srv/repository -xf /srv/repository.tar")
        machine.copy(released / "latchkey.gpg", "/etc/apt/keyrings/latchkey.gpg", 0o644)
        machine.write("/etc/apt/sources.list.d/latchkey.sources", f"Types: deb\nURIs: file:/srv/repository\nSuites: {release}\n"
                      "Components: main\nSigned-By: /etc/apt/keyrings/latchkey.gpg\n")
        machine.run("apt-get", "-q", "update", timeout=120)
        machine.run("apt-get", "-q", "-y", "upgrade", env=APT, timeout=120)
        installed = machine.run("dpkg-query", "-W", "-f", "${Version}", "latchkey").stdout
        assert installed.startswith(version() + "~deb")
        assert machine.run("latchkey", "get", "before the upgrade", user="alice").stdout.strip() == "a value"

        machine.run("apt-get", "-q", "-y", "--no-install-recommends", "install", "latchkey-agent", "quicknote", "latchkey-server",
                    env=APT, timeout=120)
        assert machine.run("latchkey-server", "--version").stdout == f"latchkey-server {version()}\n"
        machine.run("apt-get", "-q", "-y", "remove", "latchkey", "latchkey-server", env=APT, timeout=120)
        assert machine.run("sh", "-c", "command -v latchkey", check=False).returncode != 0
