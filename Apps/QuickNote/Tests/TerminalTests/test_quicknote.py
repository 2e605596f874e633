# SPDX-License-Identifier: Apache-2.0
"""QuickNote's terminal interface on a simulated keychain. Without a terminal it shows its input, and the daemon no prompt."""

import fcntl
import os
import signal
import subprocess
import termios
import time

import pytest

from store import SIMULATED, Store
from terminal import LOCAL, Terminal

QUICKNOTE = os.environ["QUICKNOTE"]


@pytest.fixture
def store():
    """A keychain in which an app with the password `pw` has one note."""
    with Store(SIMULATED) as store:
        store.environment["LATCHKEY_APP_ID"] = "quicknote"
        front(store, "pw", "pw", "n", "a milk and bread", "q")
        yield store


def front(store, *lines, status=0):
    """Runs the interface with these input lines, and returns its output."""
    done = subprocess.run([QUICKNOTE, "--tui"], env=store.environment, input="".join(f"{line}\n" for line in lines), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    assert (done.returncode == 0) == (status == 0), done.stdout
    return done.stdout


def test_a_note_is_read_with_the_password_alone(store):
    assert "milk and bread" in front(store, "p", "pw", "q")
    wrong = front(store, "p", "wrong", "", "q")
    assert "milk" not in wrong and "That is not the password" in wrong
    for name in os.listdir(store.folder):
        if os.path.isfile(store.file(name)):
            with open(store.file(name), "rb") as file:
                assert b"milk and bread" not in file.read(), name


def test_a_keychain_of_another_tier_is_reported_and_nothing_is_changed(store):
    store.crash(signal.SIGTERM)
    store.write("latchkeyd.conf", "tier = user\n")
    refused = front(store, "pw", "pw", "q", status=1)
    assert "error: The keychain cannot be used: " in refused and "Choose a password" not in refused
    store.crash(signal.SIGTERM)
    store.write("latchkeyd.conf", SIMULATED)
    assert "milk and bread" in front(store, "p", "pw", "q")


def test_ctrl_c_while_a_password_is_typed_restores_the_modes_of_the_terminal(store):
    with Terminal([QUICKNOTE, "--tui"], store.environment) as terminal:
        terminal.expect("> ")
        terminal.type("p\n")
        terminal.expect("back): ")
        assert not terminal.modes[LOCAL] & termios.ECHO
        terminal.type("\x03")
        assert terminal.end() == -signal.SIGINT
        assert terminal.modes == terminal.first_modes


def test_an_argument_that_is_no_text_is_refused():
    assert subprocess.run([QUICKNOTE, "--tui", b"caf\xe9"], capture_output=True).returncode == 64


def test_the_status_tells_of_a_missing_output():
    closed = subprocess.run([QUICKNOTE, "--help"], preexec_fn=lambda: os.close(1), stderr=subprocess.PIPE)
    assert closed.returncode == 74


def test_an_output_that_does_not_block_gets_everything():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    rest = fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096) - 10
    os.write(writing, b"x" * rest)
    slow = subprocess.Popen([QUICKNOTE, "--help"], stdout=writing)
    os.close(writing)
    with open(reading, "rb") as output:
        text = output.read()[rest:]
    assert slow.wait() == 0
    assert text and text == subprocess.run([QUICKNOTE, "--help"], capture_output=True).stdout


def test_a_note_survives_kills_while_the_app_saves(store, tmp_path):
    """Ten kills, each later than the one before: every note opens, and every line is complete."""
    keys = tmp_path / "keys"
    keys.write_text("p\npw\nn\n" + "a a whole line\n" * 5000)
    for tenths in range(1, 11):
        with keys.open() as typed, subprocess.Popen([QUICKNOTE, "--tui"], env=store.environment, stdin=typed,
                                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as app:
            time.sleep(tenths / 10)
            assert app.poll() is None, "the app had already ended"
            app.kill()
    notes = front(store, "p", "pw", "1", "q")
    assert "milk and bread" in notes and "cannot be read" not in notes
    whole = [line for line in notes.splitlines() if "whole" in line]
    assert "a whole line" in whole and all("a whole line" in line for line in whole), whole
