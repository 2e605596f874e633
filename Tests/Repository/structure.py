# SPDX-License-Identifier: Apache-2.0
"""How much a reader of the sources has to hold in the head, in numbers."""

import re

from repository import ROOT, files, targets

INITIALISER = re.compile(r"^[ \t]*(?:package |public |internal |nonisolated |fileprivate )*init\(", re.MULTILINE)


def path_of_a_read():
    """The files on the path of a protected read, as docs/design/architecture.md lists them."""
    page = (ROOT / "docs/design/architecture.md").read_text()
    section = re.search(r"<!-- path:begin -->(.*?)<!-- path:end -->", page, re.DOTALL)
    return list(dict.fromkeys(re.findall(r"`((?:\w+|latchkey-\w+)/[\w+/.-]+\.swift)`", section[1])))


def places(name, sources):
    return [file for file in sources if file.endswith("/" + name)]


def end_of(text, start, opening, closing):
    """The place after the bracket that closes the one before `start`."""
    depth = 1
    while depth and start < len(text):
        depth += (text[start] == opening) - (text[start] == closing)
        start += 1
    return start


def copies_its_parameters(parameters, body):
    """Whether an initialiser does what the compiler's would: each statement assigns a parameter to its field."""
    types = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|<[^<>]*>")
    names = set(re.findall(r"(?:^|,)\s*(?:\w+\s+)?(\w+)\s*:", types.sub("", parameters)))
    copied = set()
    for line in (line.strip() for line in body.strip().split("\n")):
        one = re.fullmatch(r"(?:self\.)?(\w+) = (\w+)", line)
        several = re.fullmatch(r"\(((?:self\.\w+(?:, )?)+)\) = \(((?:\w+(?:, )?)+)\)", line)
        if one and one[1] == one[2]:
            copied.add(one[1])
        elif several and re.findall(r"self\.(\w+)", several[1]) == re.findall(r"\w+", several[2]):
            copied |= set(re.findall(r"\w+", several[2]))
        elif line and not line.startswith("//"):
            return False
    return bool(names) and copied == names


def initialisers(text):
    """The number of lines of each memberwise initialiser that is written by hand."""
    for start in INITIALISER.finditer(text):
        end = end_of(text, start.end(), "(", ")")
        if opening := re.match(r"\s*\{", text[end:]):
            body = end + opening.end()
            close = end_of(text, body, "{", "}")
            if copies_its_parameters(text[start.end():end - 1], text[body:close - 1]):
                yield text.count("\n", start.start(), close) + 1


def measures():
    """Each measure with its value."""
    sources = dict(files(r"Sources/.*\.swift"))
    everything = "\n".join(sources.values())
    path = path_of_a_read()
    memberwise = [lines for text in sources.values() for lines in initialisers(text)]
    requests = re.search(r"package enum Request\b.*?\{(.*?)\n\}", everything, re.DOTALL)[1]
    switches = sorted(len(re.findall(rf"^\s*case (?:let )?\.{name}\b", everything, re.MULTILINE))
                      for name in re.findall(r"^    case (\w+)", requests, re.MULTILINE))
    asynchronous = sum(text.count("@escaping Answer") for name, text in sources.items() if "/LatchkeyService/" in name)
    return {
        "targets of Sources, tests excluded": len(targets(".")),
        "lines of Swift in Sources": everything.count("\n") - len(sources) + 1,
        "files of Swift in Sources": len(sources),
        "files on the path of a protected read, tier user": len(path),
        "targets on it": len({name.split("/")[0] for name in path}),
        "lines in them": sum(sources[file].count("\n") for name in path for file in places(name, sources)),
        "switches that name a request (median of all requests)": switches[len(switches) // 2],
        "`@escaping Answer` in LatchkeyService": asynchronous,
        "memberwise initialisers written by hand": f"{len(memberwise)} ({sum(memberwise)} lines)",
    }
