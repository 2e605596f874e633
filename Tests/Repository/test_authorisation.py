# SPDX-License-Identifier: Apache-2.0
"""Only LatchkeyPolicy can make an Authorisation."""

import re

import pytest
from repository import ROOT, compiler_complaints, expect_none, files

ACCESS = ("inaccessible due to 'internal' protection level|no accessible initializers|cannot assign to property"
          "|incorrect argument label|cannot convert value of type|missing argument")


def complaints_about(line, folder):
    """What the compiler says of this line in a file of another module of the same package."""
    file = folder / "file.swift"
    file.write_text(f"import LatchkeyModel\nimport LatchkeyPolicy\n{line}\n")
    return compiler_complaints("-typecheck", "-package-name", ROOT.name.lower(), "-module-name", "Room", file)


def test_a_module_that_takes_and_combines_authorisations_compiles(tmp_path):
    line = "func both(_ a: Authorisation, _ b: Authorisation) -> Authorisation { a.union(b).union(.none) }"
    assert complaints_about(line, tmp_path) == ""


@pytest.mark.promise("decision.value")
@pytest.mark.parametrize("line", [
    "let a = Authorisation([])",
    "let a = Authorisation.init([])",
    "let a = Authorisation(proofs: [])",
    "let p = Authorisation.Proof(evaluation: 1, caller: .none, method: .passcode, enrolment: nil, time: 0)",
    "func a(_ a: Authorisation) -> Authorisation { var a = a; a.proofs = []; return a }",
])
def test_a_module_that_makes_an_authorisation_does_not_compile(line, tmp_path):
    """And that because of the access level."""
    assert re.search(ACCESS, complaints_about(line, tmp_path))


def test_a_token_is_turned_into_an_authorisation_in_one_place():
    """Which computes its code itself."""
    allowed = {"Sources/Engine/LatchkeyPolicy/TokenExpectation.swift",
               "Sources/Engine/LatchkeyService/Service+Authority.swift"}
    expect_none(f"{name} turns tokens into authorisations" for name, text in files(r"Sources/.*\.swift")
                if "answering:" in text and name not in allowed)
