# SPDX-License-Identifier: Apache-2.0
"""All tests of windows in a process have one display."""

import pytest


@pytest.fixture(autouse=True)
def display_of_windows(request):
    if request.path.parent.name == "WindowTests":
        request.getfixturevalue("display")
