# SPDX-License-Identifier: Apache-2.0
"""Every relative link of a Markdown file names a file or folder of the project."""

import os
import re
import urllib.parse

from repository import ROOT, expect_none, files

# A link with at most one pair of parentheses in its target, and the definition of one.
LINK = re.compile(r"\]\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
DEFINITION = re.compile(r"\s*\[[^\]]+\]:\s+(\S+)")


def links(text):
    """The number of each line outside fenced blocks with each of its targets."""
    is_fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(```|~~~)", line):
            is_fenced = not is_fenced
        elif not is_fenced:
            line = re.sub("`[^`]*`", "", line)
            definition = DEFINITION.match(line)
            for target in [definition[1]] if definition else LINK.findall(line):
                yield number, target


def test_links_name_existing_files():
    complaints = []
    for name, text in files(r".*\.md"):
        for number, target in links(text):
            path = re.sub(r"""\s+".*$|#.*$""", "", target.removeprefix("<").removesuffix(">"))
            if not path or re.match(r"[A-Za-z][\w+.-]*:", path):
                continue
            folder = ROOT if path.startswith("/") else (ROOT / name).parent
            if not os.path.exists(folder / urllib.parse.unquote(path).lstrip("/")):
                complaints.append(f"{name}:{number}: broken link: {path}")
    expect_none(complaints)
