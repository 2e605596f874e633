# SPDX-License-Identifier: Apache-2.0
"""Promises and tests belong together.

A promise is an item of docs/design/promises.md that begins with its identifier in backticks. A test is marked with it
by `.promise("...")` in its `@Test(...)`, or by `@pytest.mark.promise("...")`. `scripts/generate promises` writes the
list of tests there. In the pages of the server, the last cell of each row of a table whose last heading begins with
"test" names existing tests, or says "(not built)"."""

import re

import pytest
from repository import (PROMISES, ROOT, evidence, expect_none, files, page_of_promises, promises, python_marks,
                        swift_tests)


def test_each_promise_has_a_test_and_each_mark_a_promise():
    known, marked = promises(), evidence()
    assert known
    expect_none(
        [f"two promises have the identifier {name}" for name in sorted(set(known)) if known.count(name) > 1]
        + [f"no test is marked with {name}" for name in known if name not in marked]
        + [f"{test}: there is no promise {name}" for name in sorted(marked.keys() - set(known))
           for test in sorted(marked[name])])


def test_the_list_of_tests_is_that_of_the_sources():
    is_current = page_of_promises() == PROMISES.read_text()
    assert is_current, "run `scripts/generate promises`"


@pytest.mark.parametrize("page", ["docs/design/server-check-lists.md", "docs/reference/relying-party.md"])
def test_each_row_of_a_page_names_existing_tests(page):
    known = set(swift_tests())
    known |= {name for _, text in files(r"RelyingParty/Tests/(.*/)?test_\w+\.py") for name, _ in python_marks(text)}
    complaints, rows, is_checked, before = [], 0, False, ""
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        last = re.split(r" \| ", line.rstrip("| "))[-1].lstrip("| ")
        if re.fullmatch(r"\|[ :|-]+\|", line):
            is_checked = before.startswith("test")
        elif not line.startswith("|"):
            is_checked = False
        elif is_checked:
            rows += 1
            named = re.findall(r"`([A-Z]\w*\.[a-z]\w*|test_\w+)`", last)
            complaints += [f"{page}:{number}: there is no test {test}" for test in named if test not in known]
            if not named and "(not built)" not in last:
                complaints.append(f"{page}:{number}: names no test, and does not say (not built)")
        before = last
    assert rows, f"{page} has no row with tests"
    expect_none(complaints)
