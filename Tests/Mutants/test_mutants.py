# SPDX-License-Identifier: Apache-2.0
"""Changes one text at a time on which a rule or a defence depends, and expects a test in Swift to fail each time. A
mutant that survives means a missing test. A mutant whose tests do not end in time counts as killed by the deadline.

Tests/Vectors/policy-mutations.tsv lists transitions of the policy reducer. These mutants are built in a scratch package
of the targets concerned. The fast tests run first, and the enumerations only if those pass. Tests/Vectors/mutations.tsv
lists defences anywhere below Sources. These mutants are built in a copy of the checkout with its build folder, and run
the tests that the entry names. Because the build folder contains absolute paths, the copy is mounted over the checkout
in a mount namespace; where this is not allowed, the copy is built from scratch.

usage: make mutants [ONLY=ID]   Without LATCHKEY_TESTS=all only the lists are compared with the sources and the
tests."""

import collections
import os
import pathlib
import re
import subprocess
import tempfile
import time

import pytest
from repository import ROOT, expect_none, names, output, swift_tests

pytestmark = pytest.mark.timeout(7200)
BUILD_SECONDS = 600
SLOW = "ExhaustiveTests|MonotonicityTests"
POLICY_TARGETS = ["Sources/Drivers/CLatchkeyLinux", "Sources/Formats/LatchkeyModel", "Sources/Engine/LatchkeyPolicy"]
MANIFEST = """
let package = Package(
    name: "latchkey",
    targets: [
        .systemLibrary(name: "CLatchkeyLinux", path: "Sources/Drivers/CLatchkeyLinux"),
        .target(
            name: "LatchkeyModel", dependencies: ["CLatchkeyLinux"], path: "Sources/Formats/LatchkeyModel",
            swiftSettings: strict),
        .target(
            name: "LatchkeyPolicy", dependencies: ["LatchkeyModel"], path: "Sources/Engine/LatchkeyPolicy",
            swiftSettings: strict),
        .target(name: "TestPromises", path: "Tests/TestPromises", swiftSettings: strict),
        .testTarget(
            name: "LatchkeyPolicyTests", dependencies: ["LatchkeyPolicy", "LatchkeyModel", "TestPromises"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
"""


# MARK: the lists

class Mutant(collections.namedtuple("Mutant", "id file old new tests rule")):
    def applied(self, text):
        """The text of the file with the mutation, and how often the old text occurs in it."""
        old, new = (re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), part)
                    for part in (self.old, self.new))
        return text.replace(old, new), len(re.findall(f"(?={re.escape(old)})", text))


def rows(name):
    lines = (ROOT / "Tests/Vectors" / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


LISTS = {"policy-mutations.tsv": 5, "mutations.tsv": 6}
# The rows with another number of columns are complaints of the first test.
POLICY = [Mutant(*row[:4], "", row[4]) for row in rows("policy-mutations.tsv") if len(row) == 5]
DEFENCES = [Mutant(*row) for row in rows("mutations.tsv") if len(row) == 6]


@pytest.mark.parametrize("name", LISTS)
def test_rows_have_all_columns_and_names_of_their_own(name):
    listed = rows(name)
    ids = [row[0] for row in listed]
    assert ids
    expect_none([f"{row[0]} has {len(row)} columns, not {LISTS[name]}" for row in listed if len(row) != LISTS[name]]
                + [f"{id} is the name of two rows" for id, count in collections.Counter(ids).items() if count > 1])


@pytest.mark.parametrize("mutants", [POLICY, DEFENCES], ids=LISTS)
def test_rows_match_the_sources_and_the_tests(mutants):
    complaints = []
    for mutant in mutants:
        source = ROOT / "Sources" / mutant.file
        text = source.read_text() if source.is_file() else ""
        changed, count = mutant.applied(text)
        if count != 1:
            complaints.append(f"{mutant.id} changes a text that is not in Sources/{mutant.file} exactly once")
        elif changed == text:
            complaints.append(f"{mutant.id} changes nothing")
        if not any(re.search(mutant.tests, name) for name in swift_tests()):
            complaints.append(f"{mutant.id} names no test: {mutant.tests}")
    expect_none(complaints)


# MARK: the packages in which mutants are built

class Package:
    """A copy of sources with their tests. Its commands run in `folder`, or in the namespace that `enter` makes."""

    def __init__(self, folder, options, enter=()):
        self.folder, self.options, self.enter = folder, options, list(enter)
        # Without a mutant, until the tests have shown how long they take.
        self.seconds = 900

    def run(self, seconds, *command):
        """The status and the output of a command. A deadline has the status 124 or 137."""
        # Variables that would run the long enumeration or record the traces again.
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("LATCHKEY_TESTS", "LATCHKEY_WRITE_POLICY_TRACES")}
        done = subprocess.run(
            [*self.enter, "timeout", "-k", "5", str(seconds), *command], cwd=self.folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            env=environment | {"NO_COLOR": "1", "SWIFT_BACKTRACE": "enable=no"})
        return done.returncode, done.stdout

    def build(self):
        status, said = self.run(BUILD_SECONDS, "swift", "build", "--build-tests", *self.options)
        if status:
            error = re.search("error: .*", said)
            pytest.fail(f"does not compile: {error[0] if error else said[-2000:]}", pytrace=False)

    def tests(self, *arguments):
        """Why the tests failed, or None. With a limit of memory, because a mutant can loop, and not with `swift test`,
        which the deadline would end while the tests continue."""
        status, said = self.run(
            self.seconds, "sh", "-c", 'ulimit -v 8000000 2>/dev/null; exec "$@"', "sh",
            ".build/debug/latchkeyPackageTests.xctest", "--testing-library", "swift-testing", *arguments)
        if status == 0:
            assert re.search("Test run with [1-9]", said), f"{arguments} runs no test"
            return None
        if status in (124, 137):
            return f"its deadline of {self.seconds} s"
        issue = re.search(r"^\S+ +Test (.*?)( with [0-9].*)? recorded an issue", said, re.MULTILINE)
        return issue[1] if issue else f"a crash: {said[-2000:]}"

    def verify(self, filter):
        """Why the tests of the filter fail, or all tests, the slow ones last."""
        if filter:
            return self.tests("--filter", filter)
        return self.tests("--skip", SLOW) or self.tests("--filter", SLOW)

    def verify_original(self, filter):
        """Builds and tests without a mutation. The deadline is then a minute plus ten times that duration, so that a
        busy machine kills no mutant."""
        self.build()
        began = time.monotonic()
        reason = self.verify(filter)
        assert reason is None, f"the tests fail without any mutation: {reason}"
        self.seconds = 60 + 10 * int(time.monotonic() - began)

    def kill(self, mutant, facts):
        """Fails if no test does."""
        source = self.folder / "Sources" / mutant.file
        text = source.read_text()
        try:
            source.write_text(mutant.applied(text)[0])
            self.build()
            reason = self.verify(mutant.tests)
        finally:
            source.write_text(text)
        if not reason:
            pytest.fail(f"SURVIVED: no test fails although this is wrong: {mutant.rule}", pytrace=False)
        facts[mutant.id] = f"killed by {reason.splitlines()[0]}"


def copy(names, folder):
    subprocess.run(["xargs", "-0", "cp", "--parents", "-a", "-t", folder], cwd=ROOT, check=True, text=True,
                   input="\0".join(names))


@pytest.fixture(scope="module")
def policy():
    with tempfile.TemporaryDirectory(prefix="latchkey-mutants.") as folder:
        yield policy_package(pathlib.Path(folder))


def policy_package(folder):
    traces = ["Tests/Vectors/policy-traces"] if (ROOT / "Tests/Vectors/policy-traces").exists() else []
    copy([*POLICY_TARGETS, "Tests/LatchkeyPolicyTests", "Tests/TestPromises", *traces], folder)
    manifest = (ROOT / "Package.swift").read_text()
    head, strict = (re.search(pattern, manifest, re.DOTALL | re.MULTILINE)[0]
                    for pattern in (r".*?^import PackageDescription\n", r"^let isStrict.*?^    \]\n"))
    (folder / "Package.swift").write_text(head + strict + MANIFEST)
    package = Package(folder, ["-debug-info-format", "none"])
    package.verify_original("")
    return package


@pytest.fixture(scope="module")
def checkout(request):
    chosen = {item.callspec.params["mutant"].tests for item in request.session.items
              if item.path == request.path and item.originalname == "test_a_defence_is_tested"}
    with tempfile.TemporaryDirectory(prefix="latchkey-mutants.") as folder:
        yield copied_checkout(pathlib.Path(folder), "|".join(sorted(chosen)))


def copied_checkout(folder, filter):
    """A copy of the checkout, mounted over it if the system allows that, in which the tests of the filter pass."""
    copy(names(), folder)
    os.environ["LATCHKEY_FPRINTD"] = output("scripts/fprintd").strip()
    enter = []
    for namespace in ("-m", "-rm"):
        command = ["unshare", namespace, "--propagation", "private", "sh", "-c",
                   'mount --bind "$1" "$2" && cd "$2" && shift 2 && exec "$@"', "sh", folder, ROOT]
        if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL).returncode == 0:
            enter = command
            break
    if enter and (ROOT / ".build/debug").is_symlink():
        # Without the builds of other packages.
        parts = ["build.db", "debug", "debug.yaml", "plugin-tools.yaml", "plugins", "workspace-state.json"]
        parts.append(os.readlink(ROOT / ".build/debug").split("/")[0])
        copy([f".build/{part}" for part in parts if (ROOT / ".build" / part).exists()], folder)
    package = Package(folder, ["--explicit-target-dependency-import-check", "error"], enter)
    package.verify_original(filter)
    return package


# MARK: the mutants

@pytest.mark.long
@pytest.mark.parametrize("mutant", POLICY, ids=lambda mutant: mutant.id)
def test_a_rule_is_tested(mutant, policy, facts):
    policy.kill(mutant, facts)


@pytest.mark.long
@pytest.mark.parametrize("mutant", DEFENCES, ids=lambda mutant: mutant.id)
def test_a_defence_is_tested(mutant, checkout, facts):
    checkout.kill(mutant, facts)
