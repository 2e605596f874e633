#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts `latchkey` in hostile states of a process, with arguments of any bytes, and checks what must always hold.

Each of the three streams is open, closed, full, slow, of the wrong direction or without another end; names and paths are
bytes that resemble those of stored items; limits are low; sometimes the command also has to start the daemon. Checked:
the exit status is a documented one and no signal ended the process; a secret is written to standard output only, and
only for the name that has it; no stream of the command is open in the daemon; the store is sound at the end.

usage: Tests/Fuzz/processes.py SECONDS [--programs FOLDER] [--seed NUMBER]
"""

import argparse
import fcntl
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unicodedata

STATUSES = {0, 1, 64, 66, 69, 73, 74, 77}
SECONDS_OF_A_RUN = 60
MARK = b"SECRET-"
NAMES = ["token", "caf\u00e9", "caf\ufffd", "cafe\u0301", "K", "\u212a", "/\u0301x", "a\r\nb", "\\xE9", "--", "-s"]
APP = "caf\u00e9"
APPS = [APP.encode(), "cafe\u0301".encode(), b"caf\xe9", b"other", b"caf\xef\xbf\xbd", b"other," + "\u0301x".encode()]
INPUTS = ["pipe", "pipe", "slow", "closed", "null", "wrong", "folder"]
OUTPUTS = ["pipe", "pipe", "pipe", "slow", "closed", "null", "full", "wrong", "folder", "alone"]


class Finding(Exception):
    """Something that must never happen."""


class Stream:
    """One of the streams of a process in a chosen state, and what was written to it."""

    def __init__(self, kind, data=None):
        self.kind, self.written, self.thread, self.inode = kind, b"", None, None
        is_input = data is not None
        if kind in ("pipe", "slow", "alone"):
            reading, writing = os.pipe()
            self.end, near = (reading, writing) if is_input else (writing, reading)
            self.inode = os.fstat(self.end).st_ino
            if kind == "slow":
                os.set_blocking(self.end, False)
                fcntl.fcntl(self.end, fcntl.F_SETPIPE_SZ, 4096)
            if kind == "alone":
                os.close(near)
                return
            self.thread = threading.Thread(target=self.feed if is_input else self.drain, args=(near, data), daemon=True)
        elif kind != "closed":
            path = {"full": "/dev/full", "folder": "/"}.get(kind, "/dev/null")
            writes = (kind == "wrong") == is_input and kind != "folder"
            self.end = os.open(path, os.O_WRONLY if writes else os.O_RDONLY)
        else:
            self.end = None

    def feed(self, near, data):
        step = 1 if self.kind == "slow" and len(data) < 100 else 3000
        with open(near, "wb", buffering=0) as file:
            try:
                for start in range(0, len(data), step):
                    file.write(data[start : start + step])
            except BrokenPipeError:
                pass

    def drain(self, near, _):
        with open(near, "rb", buffering=0) as file:
            while piece := file.read(1000 if self.kind == "slow" else 65536):
                self.written += piece


class Machine:
    """A store in a folder of its own."""

    def __init__(self, programs):
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="latchkey-fuzz.")
        self.environment = {
            b"LATCHKEY_HOME": self.folder.encode() + b"/store", b"LATCHKEY_DAEMON": os.fsencode(programs / "latchkeyd"),
            b"HOME": self.folder.encode(), b"PATH": b"/usr/bin:/bin", b"LATCHKEY_APP_ID": APP.encode(),
            b"SWIFT_BACKTRACE": b"enable=no", b"LC_ALL": b"C.UTF-8",
        }

    def run(self, words, streams, limits=(), more=None):
        """Runs the command; returns its status, and what it wrote to both streams."""

        def begin():
            for number, stream in enumerate(streams):
                os.dup2(stream.end, number) if stream.end is not None else os.close(number)
            for kind, limit in limits:
                resource.setrlimit(kind, (limit, resource.getrlimit(kind)[1]))

        process = subprocess.Popen(
            [os.fsencode(self.programs / "latchkey"), *words], env={**self.environment, **(more or {})}, cwd=self.folder,
            preexec_fn=begin, start_new_session=True)
        for stream in streams:
            if stream.end is not None:
                os.close(stream.end)
            if stream.thread:
                stream.thread.start()
        try:
            status = process.wait(SECONDS_OF_A_RUN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Finding("the process does not end") from None
        self.check_daemon(streams)
        for stream in streams:
            if stream.thread:
                stream.thread.join(SECONDS_OF_A_RUN)
        return status, streams[1].written, streams[2].written

    def simple(self, *words, data=b""):
        return self.run(list(words), [Stream("pipe", data), Stream("pipe"), Stream("pipe")])

    @property
    def daemon(self):
        """The process of the daemon; None without one."""
        try:
            lines = pathlib.Path(self.folder, "store/daemon.lock").read_text().split("\n")
            return int(lines[2])
        except (FileNotFoundError, IndexError, ValueError):
            return None

    def check_daemon(self, streams):
        try:
            links = {int(entry.name): os.readlink(entry.path) for entry in os.scandir(f"/proc/{self.daemon}/fd")}
        except (FileNotFoundError, PermissionError):
            return
        shared = {f"pipe:[{stream.inode}]" for stream in streams if stream.inode}
        for number, link in links.items():
            if link in shared or number < 3 and link != "/dev/null":
                raise Finding(f"the daemon has descriptor {number}, {link}")

    def end(self):
        if process := self.daemon:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.folder, ignore_errors=True)


def resembling(chance, names):
    """Bytes that are one of the names, or resemble it."""
    name = chance.choice(list(names))
    text = name.decode(errors="replace")
    changes = [
        lambda: name, lambda: name, lambda: unicodedata.normalize("NFD", text).encode(),
        lambda: unicodedata.normalize("NFC", text).encode(), lambda: text.encode("latin-1", "replace"),
        lambda: name[: chance.randrange(len(name))], lambda: name + bytes([chance.randrange(1, 256)]),
        lambda: bytes(chance.randrange(1, 256) for _ in range(chance.randrange(1, 9))), lambda: text.upper().encode(),
    ]
    return chance.choice(changes)().replace(b"\0", b"")


def play(chance, machine, secrets):
    """One run of the command, on a store with these secrets by name."""
    name = resembling(chance, secrets)
    path = resembling(chance, secrets).replace(b"/", b"_") or b"_"
    words, asked = chance.choice([
        ([b"get", b"--", name], name), ([b"get", b"--json", b"--", name], name), ([b"get", b"--service=latchkey", b"--", name], name),
        ([b"get", b"-s" + name, b"token"], b"token" if name == b"latchkey" else None), ([b"list"], None),
        ([b"list", b"--json"], None), ([b"status"], None), ([b"log", b"--limit", b"5"], None), ([name, name], None),
        ([b"key", b"sign", b"signer", b"--output", path, b"--replace"], None), ([b"complete", b"--", name, b""], None),
        ([b"key", b"sign", b"signer", b"--hex", b"--", path], None), ([b"import", path], None), ([b"export", path], None),
        ([b"help", name], None), ([b"set", b"--service", b"scratch", b"--replace", b"--", name], None),
        ([b"delete", b"--service", b"nothing", b"--", name], None), ([b"check"], None), ([b"--help"], None),
    ])
    data = bytes(chance.randrange(256) for _ in range(chance.choice([0, 1, 50, 20_000])))
    kinds = [chance.choice(INPUTS), chance.choice(OUTPUTS), chance.choice(OUTPUTS)]
    limits = chance.choice([[], [], [(resource.RLIMIT_FSIZE, chance.choice([0, 512, 300_000]))],
                            [(resource.RLIMIT_NOFILE, chance.choice([5, 6, 7, 8, 12, 24]))]])
    app = chance.choice(APPS) if chance.random() < 0.2 else APP.encode()
    what = f"{words} with streams {kinds}, limits {limits}, app {app}"
    if asked == b"":
        asked = None
    try:
        streams = [Stream(kinds[0], data), Stream(kinds[1]), Stream(kinds[2])]
        status, output, errors = machine.run(words, streams, limits, {b"LATCHKEY_APP_ID": app})
        if status not in STATUSES:
            raise Finding(f"the status is {status}")
        if MARK in errors:
            raise Finding("a secret is on standard error")
        right = secrets.get(asked) if app == APP.encode() else None
        if right is None and (MARK in output or asked is not None and status == 0):
            raise Finding("a name that is not stored was answered")
        if right is not None and MARK in output.replace(right, b""):
            raise Finding("the secret of another name was written")
        if right is not None and status == 0 and kinds[1] in ("pipe", "slow") and right not in output:
            raise Finding("the secret was not written, and the status is 0")
        if right is not None and not limits and kinds[1] in ("pipe", "slow") and status:
            raise Finding(f"the secret was not written; the status is {status}")
        if words[:2] == [b"key", b"sign"] and b"--output" in words and status == 0:
            os.unlink(os.path.join(machine.folder.encode(), path))
    except (Finding, OSError) as error:
        raise Finding(f"{error}: {what}") from error
    return what


def prepared(machine):
    """Fills the store, and returns its secrets by name."""
    secrets = {}
    for number, name in enumerate(NAMES):
        secret = MARK + b"%d-" % number + b"x" * (200_000 if number == 1 else 20)
        status, _, errors = machine.simple(b"set", b"--", name.encode(), data=secret)
        if status:
            raise Finding(f"{name!r} cannot be stored: {errors}")
        secrets[name.encode()] = secret
    if machine.simple(b"key", b"create", b"signer")[0]:
        raise Finding("no key can be made")
    return secrets


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seconds", type=float)
    parser.add_argument("--programs", type=lambda path: pathlib.Path(path).resolve(), default=pathlib.Path(".build/debug").resolve())
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    chance, count = random.Random(options.seed), 0
    machine = Machine(options.programs)
    try:
        secrets = prepared(machine)
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            count += 1
            if chance.random() < 0.1:
                # The command starts the daemon in its own state.
                fresh = Machine(options.programs)
                try:
                    play(chance, fresh, {name: None for name in secrets})
                finally:
                    fresh.end()
            else:
                play(chance, machine, secrets)
        for name, secret in secrets.items():
            if machine.simple(b"get", b"--", name)[:2] != (0, secret):
                raise Finding(f"{name!r} has another secret at the end")
        if (result := machine.simple(b"check"))[0]:
            raise Finding(f"the store is damaged at the end: {result}")
    except Finding as finding:
        raise SystemExit(f"error: fuzzer processes, seed {options.seed}, run {count}: {finding}") from finding
    finally:
        machine.end()
    print(f"inputs tried: {count}")


if __name__ == "__main__":
    main()
