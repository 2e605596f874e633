# SPDX-License-Identifier: Apache-2.0
"""Type-checks, against the modules of the debug build, what no target compiles: Examples/SwiftUI and the SwiftUI views
of Apps/SignIn, with a stub of SwiftUI, which does not exist on Linux; and every Swift block of the README, docs and the
catalogues of the modules, as a file of its own. Blocks of a manifest are marked `swift manifest` and skipped."""

import pathlib
import re
import shutil

import pytest
from repository import ROOT, compiler_complaints, files, line_of

# As the manifests are.
STRICT = ["-warnings-as-errors", "-enable-upcoming-feature", "ExistentialAny", "-parse-as-library"]
BLOCKS = [(f"{name}:{line_of(text, block.start())}", block[1])
          for name, text in files(r"README\.md|(Sources|docs)/.*\.md")
          for block in re.finditer(r"^```swift\n(.*?)^```", text, re.MULTILINE | re.DOTALL)]


def check(*arguments):
    assert compiler_complaints(*STRICT, *arguments) == ""


@pytest.fixture(scope="module")
def swift_ui(tmp_path_factory):
    """Options with which SwiftUI is found."""
    folder = tmp_path_factory.mktemp("SwiftUI")
    check("-emit-module", "-module-name", "SwiftUI", "-o", folder / "SwiftUI.swiftmodule",
          "Examples/SwiftUI/Stub/SwiftUI.swift")
    return ["-I", folder]


def test_the_swiftui_example(swift_ui):
    check("-typecheck", *swift_ui, *sorted(ROOT.glob("Examples/SwiftUI/Sources/*.swift")))


def test_the_swiftui_views_of_the_app_that_signs_in(swift_ui, tmp_path):
    check("-enable-upcoming-feature", "InternalImportsByDefault", "-emit-module", "-module-name", "SignInCore",
          "-o", tmp_path / "SignInCore.swiftmodule", *sorted(ROOT.glob("Apps/SignIn/Sources/SignInCore/*.swift")))
    check("-typecheck", "-I", tmp_path, *swift_ui, *sorted(ROOT.glob("Apps/SignIn/SwiftUI/*.swift")))


@pytest.mark.parametrize("block", [block for _, block in BLOCKS], ids=[place for place, _ in BLOCKS])
def test_a_block_compiles(block, tmp_path):
    file = tmp_path / "snippet.swift"
    file.write_text(block)
    toolchain = pathlib.Path(shutil.which("swiftc")).resolve().parent.parent
    complaints = compiler_complaints(
        "-typecheck", "-plugin-path", toolchain / "lib/swift/host/plugins/testing", "-module-name", "Snippet", file)
    assert complaints == ""
