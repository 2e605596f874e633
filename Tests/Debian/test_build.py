# SPDX-License-Identifier: Apache-2.0
"""A second build of the packages of `make deb`, and a program that is built with the packaged SDK."""

import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

from debs import BUILT, built
from machine import CHECKOUT, fact

PACKAGE = """// swift-tools-version: 6.2
import PackageDescription
let package = Package(name: "app", targets: [.executableTarget(name: "app")])
"""
PROGRAM = """import Foundation
import LocalAuthentication
print(SecItemDelete([kSecClass: kSecClassGenericPassword, kSecAttrAccount: "absent"] as CFDictionary))
print(LAContext().biometryType == .none)
"""
# The packaged SDK in its place, and the toolchain in another place than on the machine that built it.
BUILD = """
mount -t overlay -o "lowerdir=$1/tree/usr/lib:/usr/lib" overlay /usr/lib
mount --bind "$2" "$1/toolchain"
mount -t tmpfs none "$2"
cd "$1/app"
export PATH="$1/toolchain/usr/bin:$PATH" LATCHKEY_HOME="$1/home"
swift build --toolset /usr/lib/latchkey/sdk/toolset.json >&2
.build/debug/app
"""


@pytest.mark.timeout(3600)
def test_a_build_elsewhere_has_the_same_bytes(tmp_path):
    """The other checkout has another path, time zone and language, other permissions, and more in its environment."""
    other = tmp_path / "another place/latchkey"
    other.mkdir(parents=True)
    listed = subprocess.run(["git", "-c", "safe.directory=*", *"ls-files --cached --others --exclude-standard".split()],
                            cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout.splitlines()
    # The script asks git for the files.
    subprocess.run(["git", "init", "-q", other], check=True)
    for name in listed:
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(CHECKOUT / name, other / name, follow_symlinks=False)
    subprocess.run(["sh", "-c", "umask 027; exec scripts/build-deb --clean"], cwd=other, check=True,
                   env=os.environ | {"TZ": "Asia/Tokyo", "LC_ALL": "C", "UNRELATED": "1"})
    packages = sorted(BUILT.glob("*.deb"))
    assert len(packages) == 5
    for package in packages:
        content = package.read_bytes()
        assert content == (other / ".build/deb" / package.name).read_bytes(), package.name
        fact(package.name, hashlib.sha256(content).hexdigest())
    subprocess.run(["rm", "-rf", "--one-file-system", other], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts the SDK in its place")
def test_a_program_is_built_with_the_packaged_sdk(tmp_path):
    subprocess.run(["dpkg-deb", "--extract", built("latchkey-sdk"), tmp_path / "tree"], check=True)
    (tmp_path / "toolchain").mkdir()
    (tmp_path / "app/Sources/app").mkdir(parents=True)
    (tmp_path / "app/Package.swift").write_text(PACKAGE)
    (tmp_path / "app/Sources/app/main.swift").write_text(PROGRAM)
    toolchain = pathlib.Path(shutil.which("swift")).resolve().parents[2]
    done = subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-euc", BUILD, "sh", tmp_path, toolchain],
                          check=True, stdout=subprocess.PIPE, text=True)
    # errSecNotAvailable: there is no daemon.
    assert done.stdout == "-25291\ntrue\n"
