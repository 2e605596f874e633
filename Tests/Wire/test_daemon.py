# SPDX-License-Identifier: Apache-2.0
"""Attacks on the daemon of one user by an independent client of its protocol: attack_client.py of Tests/System, whose tests
attack the services of a system in the same ways."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from attack_client import Agent, App, failure
from store import SIMULATED, Store

USER = "tier = user\n"
CODE, SECRET = b"246810", b"latchkey-plaintext-93c1"
DEVICE_PASSCODE, CURRENT_SET = 16, 8
PASSCODE, ITEMS = 20, 5
DONE = [1, {}]
CANCEL, GONE = [3], 2
# The places of the step and of the delay in seconds in the content of a prompt, which is a part of the prompt.
CONTENT, STEP, DELAY = 15, 5, 6


class Daemon:
    """A running daemon, and programs that are connected to it."""

    def __init__(self, store):
        self.store = store
        self.path = pathlib.Path(store.file("daemon.lock"))
        self.start()

    def start(self):
        self.store.latchkey("status")
        self.socket = self.path.read_text().split("\n")[1]

    def app(self, name="owner"):
        return App(name, path=self.socket)

    def agent(self):
        agent = Agent(self.socket)
        assert agent.registered == DONE
        return agent

    def kill(self):
        self.store.crash()

    def guess(self, count, first=0):
        """Enters different wrong passcodes in one prompt, and returns its last message."""
        app, agent = self.app(), self.agent()
        number = app.send(11, app.reading("treasure"))
        assert agent.await_prompt()[CONTENT][DELAY] == 0
        for index in range(count):
            agent.event([5, b"wrong%d" % (first + index)])
            last = agent.follow()
        if last[0] != GONE:
            agent.event(CANCEL)
        with contextlib.closing(agent):
            assert failure(app.answer(number, 20))
        app.close()

    def probe(self, seconds):
        """Enters the right passcode at each state of a prompt: the delay that it shows first, whether the item is read, and
        after how many seconds."""
        app, agent, begin = self.app(), self.agent(), time.monotonic()
        number = app.send(11, app.reading("treasure"))
        message = [1, agent.await_prompt()[CONTENT]]
        delay = message[1][DELAY]
        while message[0] != GONE and (left := begin + seconds - time.monotonic()) > 0:
            agent.event([5, CODE])
            with contextlib.suppress(Exception):
                message = agent.follow(left)
        opened = message[0] == GONE and app.answer(number, 5)[0] == ITEMS
        agent.close()
        app.close()
        return delay, opened, time.monotonic() - begin

    def waits_and_opens(self):
        """After three wrong passcodes entry is delayed by 5 s (docs/reference/policy.md)."""
        delay, opened, seconds = self.probe(20)
        return 0 < delay <= 5 and opened and seconds > delay - 1

    def refuses_at_once(self):
        delay, opened, seconds = self.probe(8)
        return delay > 0 and not (opened and seconds < max(1, delay - 1))


@contextlib.contextmanager
def owned(store):
    """A daemon of tier user with a passcode, and an item that needs it."""
    daemon = Daemon(store)
    owner, agent = daemon.app(), daemon.agent()
    number = owner.send(PASSCODE, {0: 4})
    message = [1, agent.await_prompt()[CONTENT]]
    while message[0] != GONE:
        # The new passcode, and the same again.
        agent.event([{3: 11, 4: 12}[message[1][STEP]], CODE])
        message = agent.follow()
    assert owner.answer(number, 20) == DONE
    agent.close()
    assert owner.add("treasure", SECRET, DEVICE_PASSCODE) == DONE
    owner.close()
    yield daemon


@pytest.fixture
def daemon():
    with Store(USER) as store, owned(store) as daemon:
        yield daemon


@pytest.mark.parametrize("counters", ["as they are", "of before", "removed"])
def test_wrong_passcodes_count_after_a_kill(daemon, counters, tmp_path):
    file = daemon.store.file("counters")
    daemon.store.crash(signal.SIGTERM)
    shutil.copy2(file, tmp_path / "counters")
    daemon.start()
    daemon.guess(3)
    daemon.kill()
    if counters == "of before":
        shutil.copy2(tmp_path / "counters", file)
    elif counters == "removed":
        os.remove(file)
    daemon.start()
    assert daemon.waits_and_opens() if counters == "as they are" else daemon.refuses_at_once()


def test_each_wrong_passcode_counts_although_the_daemon_is_killed_after_it(daemon):
    for index in range(3):
        app, agent = daemon.app(), daemon.agent()
        app.send(11, app.reading("treasure"))
        agent.await_prompt()
        agent.event([5, b"wrong%d" % index])
        # The daemon answers after it has counted.
        agent.follow()
        daemon.kill()
        daemon.start()
    assert daemon.waits_and_opens()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_wrong_passcodes_count_on_a_full_disk():
    with Store() as store:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs", store.folder], check=True)
        try:
            store.write("latchkeyd.conf", USER)
            with owned(store) as daemon:
                with open(store.file("filler"), "wb", buffering=0) as file:
                    for size in (1 << 16, 4096, 1):
                        with contextlib.suppress(OSError):
                            while True:
                                file.write(bytes(size))
                daemon.guess(3)
                assert daemon.refuses_at_once()
                daemon.kill()
                os.remove(store.file("filler"))
                daemon.start()
                delay, opened, seconds = daemon.probe(20)
                assert opened and (delay == 0 or seconds > delay - 1)
                daemon.kill()
        finally:
            subprocess.run(["umount", "-l", store.folder], check=True)


def test_a_new_finger_reads_nothing_while_the_new_enrolment_set_cannot_be_written():
    with Store(SIMULATED) as store:
        store.latchkey("sim", "enroll")
        store.latchkey("sim", "passcode", "set", input="1234\n")
        daemon = Daemon(store)
        owner, agent = daemon.app(), daemon.agent()

        def read():
            """The secret that a queued touch gives; what the prompt does not get in time is cancelled."""
            number = owner.send(11, owner.reading("treasure"))
            with contextlib.suppress(Exception):
                agent.await_prompt(3)
                while agent.follow(3)[0] != GONE:
                    pass
            store.run("sim", "cancel")
            reply = owner.answer(number, 10)
            return reply[1][0].get(3) if reply[0] == ITEMS and reply[1] else None

        assert owner.add("treasure", SECRET, CURRENT_SET) == DONE
        store.latchkey("sim", "touch")
        assert read() == SECRET
        # The next write fails, which is that of the set when the finger is replaced: the one after it does not.
        store.latchkey("sim", "fail", "disk")
        store.run("sim", "replace")
        assert owner.add("other", b"x") == DONE
        store.latchkey("sim", "reset")
        store.latchkey("sim", "touch")
        assert read() != SECRET
