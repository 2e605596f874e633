# SPDX-License-Identifier: Apache-2.0
"""Every public symbol has a documentation comment that describes its parameters, names its errors, and says whether it
blocks or prompts. Reads the symbol graphs of the modules with a catalogue; for others the formatter demands
comments."""

import json
import pathlib
import re

import pytest
from repository import ROOT, documented_modules, expect_none, symbol_graph

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
