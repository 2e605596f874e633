# SPDX-License-Identifier: Apache-2.0
"""docs/design/architecture.md names the files on the path of a protected read."""

from repository import expect_none, files
from structure import measures, path_of_a_read, places


def test_the_files_on_the_path_of_a_read_exist():
    sources = dict(files(r"Sources/.*\.swift"))
    assert path_of_a_read()
    expect_none(f"{name} does not exist, or is not unique"
                for name in path_of_a_read() if len(places(name, sources)) != 1)


def test_the_structure_can_be_measured():
    assert all(measures().values())
