# SPDX-License-Identifier: Apache-2.0
"""What is in the packages of `make deb`, on any machine: nothing is installed."""

import re
import subprocess

import pytest

from debs import BUILT


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The files of all packages."""
    tree = tmp_path_factory.mktemp("tree")
    packages = sorted(BUILT.glob("*.deb"))
    if not packages:
        pytest.skip("no packages: run `make deb` first")
    for package in packages:
        subprocess.run(["dpkg-deb", "--extract", package, tree], check=True)
    return tree


def files(folder, *patterns):
    found = [path for pattern in patterns for path in folder.glob(pattern)]
    assert found, patterns
    return found


def test_lintian_reports_no_error_and_no_warning(tree):
    # Root may not run lintian without being told so.
    subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0",
                    *files(BUILT, "*.changes")], check=True)


def test_descriptions_for_catalogues_of_programs_are_valid(tree):
    # Fails for errors and warnings; what is informative differs between versions.
    subprocess.run(["appstreamcli", "validate", "--no-net", *files(tree, "usr/share/metainfo/*.xml")], check=True)


def test_entries_of_desktops_are_valid_and_name_an_icon_and_a_program(tree, subtests):
    for entry in files(tree, "usr/share/applications/*.desktop", "etc/xdg/autostart/*.desktop"):
        with subtests.test(entry=entry.name):
            subprocess.run(["desktop-file-validate", entry], check=True)
            text = entry.read_text()
            icon = re.search(r"^Icon=(.*)", text, re.MULTILINE)[1]
            assert (tree / f"usr/share/icons/hicolor/scalable/apps/{icon}.svg").is_file()
            program = tree / re.search(r"^Exec=/(\S*)", text, re.MULTILINE)[1]
            assert program.stat().st_mode & 0o100, program


def test_profiles_of_apparmor_are_parsed_without_a_warning(tree, subtests):
    for profile in files(tree, "etc/apparmor.d/latchkey*"):
        with subtests.test(profile=profile.name):
            # For the interface of the profiles themselves, because this kernel may have none. Files of the distribution,
            # which they include, can have a later one.
            done = subprocess.run(["apparmor_parser", "--skip-kernel-load", "--skip-cache", "--kernel-features",
                                   "/etc/apparmor.d/abi/3.0", "--warn=all", profile], stderr=subprocess.PIPE, text=True)
            warnings = [line for line in done.stderr.splitlines()
                        if line.strip() and "differs from policy declared feature abi" not in line]
            assert (done.returncode, warnings) == (0, [])


def test_no_program_searches_further_folders_for_libraries(tree):
    """The folder of the toolchain would be searched on machines where others may be able to make it. The package manager of
    Swift writes $ORIGIN, the folder of the program itself, which belongs to root."""
    programs = [path for path in tree.rglob("*")
                if path.is_file() and not path.is_symlink() and (path.stat().st_mode & 0o100 or path.suffix == ".so")]
    assert programs
    for program in programs:
        found = subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout
        paths = [line for line in found.splitlines() if re.search(r"R(UN)?PATH", line) and "[$ORIGIN]" not in line]
        assert not paths, program
