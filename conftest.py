# SPDX-License-Identifier: Apache-2.0
"""What all tests in Python share: where the built programs are, the machine and the display on which tests run, and the lines
that are printed. docs/design/testing.md says how to run them."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import termios
import types
import unittest

import pytest

ROOT = pathlib.Path(__file__).resolve().parent
# Each variable names a program, or a folder of programs; a run can name others.
PROGRAMS = {
    "LATCHKEY_PROGRAMS": ".build/debug",
    "LATCHKEY_FINGERPRINT": ".build/debug/latchkey-fingerprint",
    "LATCHKEY_RELEASE": ".build/static/release",
    "LATCHKEY_AGENT": ".build/debug/latchkey-agent",
    "LATCHKEY_SETTINGS": ".build/debug/latchkey-settings",
    "LATCHKEY_SIGN_IN": ".build/debug/latchkey-sign-in",
    "LATCHKEY_SIGN_IN_EXAMPLE": ".build/debug/SignIn",
    "QUICKNOTE": ".build/debug/quicknote",
    "LATCHKEY_SERVER": ".build/debug/latchkey-server",
    "LATCHKEY_EXAMPLE": ".build/debug/sign-in-server",
}
FOLDERS = ("LATCHKEY_PROGRAMS", "LATCHKEY_RELEASE")
# What a folder of tests runs, and the command that builds it.
NEEDED = {
    "Tests/Terminal": ("make test", "LATCHKEY_PROGRAMS"),
    "Tests/Wire": ("make test", "LATCHKEY_PROGRAMS"),
    "Tests/Packages": ("make test SUITE=sdk", "LATCHKEY_RELEASE"),
    "Tests/System": ("make test SUITE=system", "LATCHKEY_RELEASE"),
    "RelyingParty/Tests/ServerTests": ("make test SUITE=server", "LATCHKEY_SERVER", "LATCHKEY_PROGRAMS", "LATCHKEY_EXAMPLE"),
    "Tests/Browser": ("make test SUITE=browser", "LATCHKEY_PROGRAMS"),
    "RelyingParty/Tests/BrowserTests": ("make test SUITE=browser", "LATCHKEY_SERVER"),
    "Examples/SignIn/Tests": ("make test SUITE=server", "LATCHKEY_SERVER", "LATCHKEY_PROGRAMS", "LATCHKEY_SIGN_IN_EXAMPLE"),
    "Apps/Agent/Tests": ("make test SUITE=apps", "LATCHKEY_AGENT", "LATCHKEY_PROGRAMS"),
    "Apps/QuickNote/Tests": ("make test SUITE=apps", "QUICKNOTE", "LATCHKEY_PROGRAMS"),
    "Apps/Settings/Tests": (
        "make test SUITE=apps", "LATCHKEY_SETTINGS", "LATCHKEY_AGENT", "LATCHKEY_FINGERPRINT", "LATCHKEY_PROGRAMS"),
    "Apps/SignIn/Tests": ("make test SUITE=apps", "LATCHKEY_SIGN_IN", "LATCHKEY_SERVER", "LATCHKEY_PROGRAMS"),
}
for _name, _path in PROGRAMS.items():
    os.environ.setdefault(_name, str(ROOT / _path))
WAITING = ("test_tpm", "test_services_slow_chip")
IN_CI = os.environ.get("CI") == "true"
FACTS = pytest.StashKey()


# MARK: the run

def interrupt(*_):
    # Once: a second signal must not end the removal of what runs. No handler of a child is changed.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    raise KeyboardInterrupt


def pytest_configure(config):
    """`kill` and a closed terminal take the same way out as Ctrl-C, on which fixtures remove what they made, also in the
    processes of pytest-xdist."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    config.stash[FACTS] = {}


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_newgateway(gateway):
    """pytest-xdist asks a new process for its version before it starts the tests there, which execnet 1.9 (Debian 12) may
    then run in another thread than the main one, where no signal interrupts them. The answer is known."""
    gateway._cache_rinfo = types.SimpleNamespace(platform=sys.platform, version_info=sys.version_info, cwd=os.getcwd())


def folder_of(item):
    return next((name for name in NEEDED if str(item.path).startswith(f"{ROOT / name}/")), None)


def pytest_collection_modifyitems(items, config):
    """Long tests are left out unless LATCHKEY_TESTS is `all`. For pytest-xdist the longest files come first, as far as
    their sizes tell, so that its processes end at about the same time. Those of a virtual machine or a slow TPM are short
    and take long."""
    if os.environ.get("LATCHKEY_TESTS") != "all":
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if item not in long]
    if hasattr(config, "workerinput"):
        items.sort(
            key=lambda item: (not item.path.stem.startswith(WAITING), -item.path.stat().st_size, str(item.path)))


def pytest_runtest_setup(item):
    command, *names = NEEDED.get(folder_of(item), ("",))
    for name in names:
        program = os.environ[name] + "/latchkeyd" * (name in FOLDERS)
        if not os.path.exists(program):
            pytest.fail(f"{program} is not built: run `{command}` first", pytrace=False)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    report = (yield).get_result()
    if report.skipped and IN_CI and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"with CI=true this test must run: {report.longrepr[2]}"
    if report.failed and "machine" in sys.modules and (journal := sys.modules["machine"].MachineTest.explanation()):
        report.sections.append(("journal of the machine", journal))


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report, config):
    """Instead of a letter, a line with the name and the time of each test, and with what a skipped one needs; `-v` prints what
    pytest does."""
    if config.option.verbose > 0 or not isinstance(report, pytest.TestReport):
        return None
    name = report.nodeid
    if hasattr(report, "context"):
        # A part of a test, of pytest-subtests.
        if report.passed:
            return "subtests passed", "", ""
        name += " " + report.sub_test_description()
    reason = ""
    if report.skipped and hasattr(report, "wasxfail"):
        category = "xfailed"
    elif report.skipped:
        category, reason = "skipped", ": " + report.longrepr[2].removeprefix("Skipped: ")
    elif report.when == "call":
        category = report.outcome
    else:
        category = "error" if report.failed else ""
    line = f"{category:<7} {name} ({report.duration:.1f} s){reason}\n" if category else ""
    return category, line, category.upper()


def pytest_sessionstart(session):
    if reporter := session.config.pluginmanager.get_plugin("terminalreporter"):
        # The names of files, which the lines contain.
        reporter.showfspath = False


# MARK: what was real

def pytest_sessionfinish(session):
    facts = session.config.stash[FACTS]
    if "machine" in sys.modules:
        facts.update(sys.modules["machine"].facts)
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["facts"] = facts


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    node.config.stash[FACTS].update(getattr(node, "workeroutput", {}).get("facts", {}))


def pytest_terminal_summary(terminalreporter, config):
    facts = config.stash[FACTS]
    if facts:
        terminalreporter.section("what was real")
        for name, value in facts.items():
            terminalreporter.line(f"{name:<{max(map(len, facts))}}  {value}")


# MARK: fixtures

@pytest.fixture
def facts(request):
    """What the summary prints, by name."""
    return request.config.stash[FACTS]


@pytest.fixture(scope="module", autouse=True)
def module_cleanups():
    """What `unittest.addModuleCleanup` registered, which pytest does not call."""
    yield
    unittest.doModuleCleanups()


@pytest.fixture(scope="session")
def display():
    """A display, a session bus and an accessibility bus, for all programs that tests start. No terminal, at which they would
    prompt instead: this process leaves its own, and Ctrl-C still reaches it."""
    with contextlib.suppress(OSError), open("/dev/tty") as terminal:
        fcntl.ioctl(terminal, termios.TIOCNOTTY)
    holder = subprocess.Popen(
        [ROOT / "scripts/with-display", "sh", "-c", "env -0; echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    variables = dict(line.split("=", 1) for line in holder.stdout.readline().decode().rstrip("\0\n").split("\0"))
    os.environ.clear()
    os.environ.update(variables)
    yield
    holder.communicate()


@pytest.fixture(scope="session")
def machine_image():
    """The folders of which the machines of Tests/System are made."""
    import image
    import machine
    import virtual

    if os.geteuid() != 0:
        pytest.skip("only root can boot a machine in new namespaces")
    if subprocess.run(["unshare", *"-m -p -f -i -u -n -C true".split()], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("this kernel or container allows no new namespaces")
    if not shutil.which("apt-get"):
        pytest.skip("the machine is made of Debian packages, and there is no apt-get")

    with contextlib.ExitStack() as locks:
        def folder(kind):
            path, lock = image.image(kind)
            locks.enter_context(lock)
            return path

        machine.MachineTest.image = virtual.VirtualTest.image = folder("machine")
        machine.MachineTest.programs = os.environ["LATCHKEY_RELEASE"]
        if os.uname().machine == "x86_64":
            virtual.VirtualTest.kernel = folder("kernel")
        yield
        machine.MachineTest.stop_shared()
