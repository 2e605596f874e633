# SPDX-License-Identifier: Apache-2.0
"""What the manifests cannot say about targets. The compiler refuses an import that a manifest does not declare
(`scripts/check build`)."""

import re

import pytest
from repository import ROOT, below, expect_none, targets

# Foundation would make the statically linked daemons many times larger.
WITH_FOUNDATION = {
    "Security", "LocalAuthentication", "LatchkeyKit", "SecureEnclaveKit", "LatchkeySignIn", "LatchkeySimulator"}
# FoundationNetworking would bring libcurl, OpenSSL and libxml2 into every program that links the target.
WITH_NETWORKING = {"LatchkeySignIn"}
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+|\w+\s+)*import\s+(?:\w+\s+)?(Foundation\w*|Dispatch)\b", re.MULTILINE)


@pytest.mark.parametrize("package", [".", "RelyingParty"])
def test_only_the_api_imports_foundation_and_dispatch(package):
    complaints = []
    for name, (folder, _) in targets(package).items():
        for file in sorted((ROOT / folder).rglob("*.swift")):
            for module in IMPORT.findall(re.sub(r'"""(?s:.*?)"""', "", file.read_text())):
                allowed = WITH_NETWORKING if module == "FoundationNetworking" else WITH_FOUNDATION
                if name not in allowed:
                    complaints.append(f"{file.relative_to(ROOT)}: {name} must not import {module}")
    expect_none(complaints)


@pytest.mark.parametrize("driver", ["SimulatedDriver", "SoftwareEnclaveDriver"])
def test_the_service_that_verifies_people_reaches_no_stand_in_for_hardware(driver):
    assert driver in targets(".")
    assert driver not in below(["latchkey-authd"])
