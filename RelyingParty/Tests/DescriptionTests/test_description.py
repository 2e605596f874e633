# SPDX-License-Identifier: Apache-2.0
"""schemathesis makes requests from the description in OpenAPI, and checks that the replies of a running server are the
described ones. It comes from PyPI into a folder of the cache.

The check that every request which fulfils the schema is accepted is left out: a schema cannot say that a public key is on
its curve, or how many bytes a text has."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from administration import AdministrationServer
from test_services import BackEnd

VERSION = "4.32.5"
# An empty form has no length, which is 411.
SETTINGS = "[checks.negative_data_rejection]\nexpected-statuses = [400, 401, 403, 404, 405, 411, 415, 429]\n"


@pytest.fixture(scope="module")
def schemathesis():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    tools = cache / f"latchkey/schemathesis-{VERSION}"
    if not (tools / "bin/schemathesis").exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", tools], check=True)
            subprocess.run([tools / "bin/pip", "install", "-q", f"schemathesis=={VERSION}"], check=True)
        except BaseException:
            shutil.rmtree(tools, ignore_errors=True)
            raise
    return tools / "bin/schemathesis"


@pytest.fixture(scope="module")
def page():
    """An administrator who is signed in to the page of a server."""
    with AdministrationServer() as server:
        (pathlib.Path(server.scratch.name) / "schemathesis.toml").write_text(SETTINGS)
        yield server.signed_in("ada")


# Each part of the interface has a right of its own.
@pytest.mark.parametrize("paths, headers", [
    ("^/(v1/(?!introspection|approvals|enrolments)|health|ready)",
     lambda page: {"Authorization": f"Bearer {page.device.token}"}),
    ("^/v1/(introspection|approvals|enrolments)", lambda page: BackEnd(page.server, "api", "--enroll").header()),
    ("^/admin/api/", lambda page: {name: value for name, value in page.headers().items() if name != "Content-Type"}),
], ids=["devices", "back-ends", "page"])
def test_replies_are_those_of_the_description(schemathesis, page, paths, headers):
    server = page.server
    subprocess.run(
        [schemathesis, "run", f"http://127.0.0.1:{server.port}/v1/openapi.json", "--max-examples", "50", "--workers", "1",
         "--seed", "17", "--exclude-checks", "positive_data_acceptance", "--include-path-regex", paths,
         *(word for name, value in headers(page).items() for word in ("-H", f"{name}: {value}"))],
        cwd=server.scratch.name, check=True)
