# SPDX-License-Identifier: Apache-2.0
"""On a machine that cannot run some tests, as WSL, a container or the account of an ordinary user, these are skipped with what
they need, and none fails."""

import os
import re
import subprocess
import sys

import pytest

from repository import ROOT

# An ordinary user without any capability, who can make no namespace: the outer namespace allows one more, and the inner one is it.
RESTRICTED = ["setsid", "--wait", "unshare", "--user", "--map-root-user", "sh", "-c", """
    echo 1 > /proc/sys/user/max_user_namespaces && exec unshare --user --map-user=64400 --map-group=64400 "$@" """, "sh"]
BUNDLE = ROOT / ".build/debug/latchkeyPackageTests.xctest"
# A suite that needs something, and the beginning of what it says.
SUITES = {
    "OtherUserTests": "root", "OtherUserTerminalTests": "root", "SystemSocketsTests": "root", "StoppedChildTests": "root",
    "KeyMemoryTests": "CAP_SYS_PTRACE", "EventKillTests": "strace and CAP_SYS_PTRACE",
    "IdentifyTests": "permission to create user namespaces", "IdentifyOtherUserTests": "root",
}
FILES = {
    "Tests/System/test_machine.py": "only root can boot a machine in new namespaces",
    "Tests/Wire/test_daemon.py": "mounting a small disk needs root",
}


def restricted(*command, **variables):
    if subprocess.run([*RESTRICTED, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("this kernel or container allows no user namespace, in which capabilities can be removed")
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "LATCHKEY_TESTS")}
    return subprocess.run([*RESTRICTED, *map(str, command)], cwd=ROOT, env=environment | variables, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def test_a_test_in_swift_says_what_it_needs():
    if not BUNDLE.exists():
        pytest.fail(f"{BUNDLE} is not built: run `make check` or `swift build --build-tests` first", pytrace=False)
    done = restricted(BUNDLE, "--testing-library", "swift-testing", "--filter", f"[.]({'|'.join(SUITES)})(/|$)")
    assert done.returncode == 0, done.stdout
    for suite, need in SUITES.items():
        # One test of IdentifyTests needs it, and the others run.
        name = f"Suite {suite}" if suite != "IdentifyTests" else "Test processInNamespace.*"
        assert re.search(f'^\\S+ {name} skipped: "needs {need}', done.stdout, re.MULTILINE), f"{suite}: {done.stdout}"


@pytest.mark.parametrize("file", FILES)
def test_a_test_in_python_says_what_it_needs(file, tmp_path):
    programs = os.environ["LATCHKEY_PROGRAMS"]
    words = "" if "System" in file else "disk"
    done = restricted(sys.executable, "-m", "pytest", "-o", f"cache_dir={tmp_path}", file, "-k", words,
                      LATCHKEY_RELEASE=programs)
    lines = [line for line in done.stdout.splitlines() if line.startswith("skipped ")]
    assert done.returncode == 0 and lines and all(FILES[file] in line for line in lines), done.stdout
    assert " failed" not in done.stdout and " error" not in done.stdout, done.stdout
