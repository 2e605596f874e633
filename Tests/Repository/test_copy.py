# SPDX-License-Identifier: Apache-2.0
"""scripts/copy, with which `make` builds a checkout that cannot be written."""

import shutil
import subprocess

import pytest

from repository import ROOT


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "Größe und Maß"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts/copy", folder / "scripts")
    (folder / "Sources/.build").mkdir(parents=True)
    (folder / "Sources/.build/old").write_text("a build")
    (folder / "Sources/a file").write_text("one")
    (folder / "Sources/link").symlink_to("a file")
    (folder / "empty").mkdir()
    return folder


def copy(checkout, target, *command):
    return subprocess.run([checkout / "scripts/copy", target, *command], capture_output=True, text=True)


def test_a_command_runs_in_a_copy_without_builds(checkout, tmp_path):
    target = tmp_path / "a copy"
    done = copy(checkout, target, "sh", "-c", 'cat "$1"; pwd; ls -A Sources', "sh", "Sources/link")
    assert done.stdout == f"one{target}\na file\nlink\n" and not done.stderr
    assert (target / "empty").is_dir() and (target / "Sources/link").is_symlink()
    assert copy(checkout, target, "sh", "-c", "exit 3").returncode == 3


def test_an_earlier_copy_is_brought_up_to_date_and_keeps_its_builds(checkout, tmp_path):
    target = tmp_path / "copy"
    copy(checkout, target, "true")
    (target / "Sources/.build").mkdir()
    (target / "Sources/.build/new").write_text("a build")
    unchanged = (target / "scripts/copy").stat()
    (checkout / "Sources/a file").write_text("two")
    (checkout / "Sources/link").unlink()
    assert copy(checkout, target, "ls", "-A", "Sources").stdout == ".build\na file\n"
    assert (target / "Sources/a file").read_text() == "two" and (target / "Sources/.build/new").exists()
    # A file that was written again would be compiled again.
    assert (target / "scripts/copy").stat() == unchanged


def test_no_other_folder_is_touched(checkout, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine").write_text("x")
    done = copy(checkout, other, "true")
    assert done.returncode == 2 and "neither empty nor an earlier copy" in done.stderr
    assert [file.name for file in other.iterdir()] == ["mine"]
    assert copy(checkout, checkout / "Sources", "true").returncode == 2
