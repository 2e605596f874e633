# SPDX-License-Identifier: Apache-2.0
"""Documentation: relative links of Markdown files, and comments of public symbols."""

import json
import os
import pathlib
import re
import urllib.parse

import pytest
from repository import ROOT, documented_modules, expect_none, files, symbol_graph


# MARK: links

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
    """Or folders of the project."""
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


# MARK: comments

WAITING = re.compile("block|prompt|suspend|at once|immediately", re.IGNORECASE)


def complaint(symbol):
    text = "\n".join(line["text"] for line in symbol.get("docComment", {}).get("lines", []))
    throws = " throws" in "".join(part["spelling"] for part in symbol.get("declarationFragments", []))
    parameters = symbol.get("functionSignature", {}).get("parameters", [])
    # The operands of an operator are described by its summary.
    if symbol["kind"]["identifier"] == "swift.func.op":
        parameters = []
    names = [parameter.get("internalName", parameter["name"]) for parameter in parameters]
    missing = [name for name in names if f"- {name}:" not in text and f"Parameter {name}:" not in text]
    if not text:
        return "has no documentation comment"
    if throws and "throw" not in text.lower():
        return "throws and does not name its errors"
    if throws and not WAITING.search(text):
        return "does not say whether it blocks or prompts"
    return f"does not describe {', '.join(missing)}" if missing else None


@pytest.mark.parametrize("module", documented_modules())
def test_public_symbols_are_documented(module, tmp_path):
    """The comment describes the parameters, names the errors, and says whether the function blocks or prompts. Only the
    modules with a catalogue are read; of others the formatter demands comments."""
    # Members that the compiler generates, such as the == of an enumeration, have no location.
    graph = json.loads(symbol_graph(module, tmp_path).read_text())
    symbols = [symbol for symbol in graph["symbols"] if "location" in symbol]
    assert symbols, "the symbol graph is empty"
    complaints = []
    for symbol in symbols:
        if found := complaint(symbol):
            file = pathlib.Path(symbol["location"]["uri"].removeprefix("file://")).relative_to(ROOT)
            line = symbol["location"]["position"]["line"] + 1
            complaints.append(f"{file}:{line}: {'.'.join(symbol['pathComponents'])} {found}")
    expect_none(complaints)
