# SPDX-License-Identifier: Apache-2.0
"""What the checks of this folder, the mutants and scripts/generate read: the files of the project, its targets, its
tests with their promises, and the modules of the debug build."""

import functools
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def output(*command, **options):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def expect_none(complaints):
    """Fails with one line for each complaint."""
    __tracebackhide__ = True
    if lines := list(complaints):
        raise AssertionError("\n" + "\n".join(lines))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


# MARK: files

@functools.cache
def names():
    """The files of the project, committed or not, without those that .gitignore names. That there are some is checked
    here, so that a check of no files cannot pass."""
    listed = output("git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    found = [name for name in sorted(set(listed.split("\0"))) if (ROOT / name).is_file()]
    assert found, f"no file in {ROOT}"
    return found


def files(pattern):
    """Name and text of each file whose name matches a regular expression."""
    found = [name for name in names() if re.fullmatch(pattern, name)]
    assert found, f"no file matches {pattern}"
    for name in found:
        yield name, (ROOT / name).read_text()


# MARK: targets

@functools.cache
def targets(package):
    """The path and the dependencies of each target of a package below its folder Sources, by name."""
    described = output("swift", "package", "--ignore-lock", "--package-path", package, "describe", "--type", "json")
    return {target["name"]: (pathlib.PurePath(package) / target["path"], target.get("target_dependencies", []))
            for target in json.loads(described)["targets"]
            if target["path"].startswith("Sources/") and target["type"] != "plugin"}


def below(roots):
    """These targets of the root package and all that they need, lower ones first."""
    order = {}
    for name in roots:
        order.update(dict.fromkeys(below(targets(".")[name][1])))
        order[name] = None
    return list(order)


# MARK: the debug build

@functools.cache
def modules():
    folder = pathlib.Path(output("swift", "build", "--show-bin-path").strip()) / "Modules"
    if not (folder / "LatchkeyKit.swiftmodule").exists():
        raise FileNotFoundError("the modules are not built: run `swift build` first")
    return folder


def module_options():
    """Options with which the compiler and its tools find the modules."""
    maps = sorted(ROOT.glob("Sources/Drivers/*/module.modulemap"))
    return ["-I", modules(), *(part for file in maps for part in ("-Xcc", f"-fmodule-map-file={file}"))]


def compiler_complaints(*arguments):
    """What the compiler says; nothing if it succeeds."""
    done = subprocess.run(["swiftc", "-swift-version", "6", *module_options(), *arguments], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout or f"status {done.returncode}" if done.returncode else ""


def symbol_graph(module, folder):
    """Extracts the public symbols of a module as JSON, and returns the file."""
    triple = json.loads(output("swiftc", "-print-target-info"))["target"]["triple"]
    place = folder / module
    place.mkdir(parents=True)
    output("swift-symbolgraph-extract", "-module-name", module, "-minimum-access-level", "public",
           "-skip-synthesized-members", "-target", triple, *module_options(), "-output-dir", place)
    # Symbols that a module adds to types of other modules are described there.
    for extension in place.glob("*@*"):
        extension.unlink()
    return place / f"{module}.symbols.json"


def documented_modules():
    """The modules with a catalogue (docc) beside their sources."""
    return sorted(catalogue.stem for catalogue in ROOT.glob("Sources/*/*/*.docc"))


# MARK: tests and promises

TYPE = re.compile(r"^ *(?:@[A-Za-z]+(?:\(.*\))? +)*(?:\w+ +)*?(?:struct|enum|class|actor|extension) +([A-Za-z_][\w.]*)")


def swift_marks(text):
    """Each test of a file as (Suite.test, identifiers). The file is formatted: indentation shows where a type ends."""
    types, attribute = [], None
    for line in text.splitlines():
        indentation = len(line) - len(line.lstrip(" "))
        if not line.strip():
            continue
        while types and line.lstrip().startswith("}") and types[-1][0] >= indentation:
            types.pop()
        if re.match(r" *(?:@[A-Za-z]+ +)*@Test\b", line):
            attribute = ""
        if attribute is not None:
            attribute += line
        if found := TYPE.match(line):
            while types and types[-1][0] >= indentation:
                types.pop()
            types.append((indentation, found[1].split(".")[-1]))
        if (found := re.search(r"(?:^|\s)func +`?(\w+)", line)) and attribute is not None:
            marks = [mark for call in re.findall(r"\.promise\(([^)]*)\)", attribute)
                     for mark in re.findall(r'"([^"]*)"', call)]
            outer = [name for place, name in types if place < indentation]
            yield f"{outer[-1] + '.' if outer else ''}{found[1]}", marks
            attribute = None


def python_marks(text):
    """Each function of a file as (name, identifiers)."""
    marks = []
    for line in text.splitlines():
        if found := re.match(r"\s*@pytest\.mark\.promise\((.*)\)", line):
            marks += re.findall(r'"([^"]*)"', found[1])
        elif found := re.match(r"\s*(?:async )?def (\w+)", line):
            yield found[1], marks
            marks = []


@functools.cache
def swift_tests():
    """The identifiers of each test in Swift, by Suite.test."""
    return {name: marks for _, text in files(r"(.*/)?Tests/.*\.swift") for name, marks in swift_marks(text)}


def evidence():
    """The tests that are marked with an identifier, by identifier."""
    found = {}
    marked = list(swift_tests().items())
    marked += [(f"{file} {name}", marks) for file, text in files(r".*\.py") for name, marks in python_marks(text)]
    for name, marks in marked:
        for mark in marks:
            found.setdefault(mark, set()).add(name)
    return found


PROMISES = ROOT / "docs/design/promises.md"


def promises():
    return re.findall(r"^- `([a-z0-9.-]+)` ", PROMISES.read_text(), re.MULTILINE)


def page_of_promises():
    """The page with the list of tests as the sources have it."""
    found = evidence()
    listed = "".join(f"- `{promise}`: {', '.join(f'`{name}`' for name in sorted(found.get(promise, [])))}\n"
                     for promise in promises())
    page, count = re.subn(r"(<!-- tests:begin -->\n).*(<!-- tests:end -->\n)",
                          lambda match: match[1] + listed + match[2], PROMISES.read_text(), flags=re.DOTALL)
    assert count == 1, "the page has no place for the list of tests"
    return page
