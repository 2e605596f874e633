# SPDX-License-Identifier: Apache-2.0
"""Stands between the services and the TPM of a machine, and writes down each command; runs as root inside.

usage: chip_relay.py socket|device PLACE CHIP LOG [TIMES]

A socket passes on what one connection at a time sends. A device is like `/dev/tpmrm0`: every one who opens it has a space of
its own, which is loaded for each command and saved after it, as the kernel does (drivers/char/tpm/tpm2-space.c). It is a
file system in userspace that consists of one file, because a machine of namespaces has no kernel, and thus no device, of its
own. With TIMES, a file as Tests/Vectors/tpm-times.tsv, each command takes as long as a firmware TPM takes for it.
"""

import ctypes
import errno
import grp
import json
import os
import queue
import shutil
import socket
import struct
import sys
import threading
import time

from chip_log import CONTEXT_LOAD, CONTEXT_SAVE, FLUSH, milliseconds

GET_CAPABILITY, START_SESSION = 0x17A, 0x176
# CreatePrimary, Load, ContextLoad, LoadExternal and StartAuthSession: their responses begin with a handle.
MAKING = (0x131, 0x157, CONTEXT_LOAD, 0x167, START_SESSION)
# The first handle that the kernel gives an object.
FIRST_OBJECT = 0x80FFFFFF


def frame(code, body=b""):
    return struct.pack(">HII", 0x8001, 10 + len(body), code) + body


def number(data, place=6):
    """A number of a frame; the code of a command or of a response."""
    return int.from_bytes(data[place:place + 4], "big")


def receive(connection):
    """The next frame of a stream; empty at its end."""
    data = b""
    while len(data) < 10 or len(data) < number(data, 2):
        more = connection.recv(1 << 16)
        if not more:
            return b""
        data += more
    return data


class Chip:
    """The TPM, which takes one connection and carries out one command at a time."""

    def __init__(self, place, log, times):
        self._place, self._log, self._times, self._connection = place, log, times, None

    def exchange(self, command, is_of_manager=False):
        begin = time.monotonic_ns()
        answer = self.ask(command)
        if self._times:
            end = begin + milliseconds([number(command)], self._times) * 1_000_000
            time.sleep(max(0, end - time.monotonic_ns()) / 1e9)
        self._log.write(json.dumps({"begin": begin, "end": time.monotonic_ns(), "manager": is_of_manager,
                                    "sent": command.hex(), "answered": answer.hex()}) + "\n")
        return answer

    def ask(self, command):
        """Sends a command that is neither written down nor delayed."""
        if self._connection is None:
            self._connection = socket.socket(socket.AF_UNIX)
            self._connection.connect(self._place)
        self._connection.sendall(command)
        answer = receive(self._connection)
        if not answer:
            self.leave()
            raise OSError(errno.EIO, "the TPM has ended")
        return answer

    def leave(self):
        """Ends the connection, so that another program can use the TPM."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


# MARK: a socket

def serve_socket(place, chip):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        shutil.chown(place, "root", "latchkey")
        os.chmod(place, 0o660)
        listener.listen()
        while True:
            with listener.accept()[0] as user:
                try:
                    while command := receive(user):
                        user.sendall(chip.exchange(command))
                except OSError:
                    pass  # One of both has ended, which the other one sees now.
                chip.leave()


# MARK: a resource manager

class Space:
    def __init__(self):
        self.objects, self.sessions = {}, {}


class Manager:
    """Loads what a space holds before each of its commands, and saves and removes it afterwards: three more commands for an
    object, two for a session."""

    def __init__(self, chip):
        self._chip, self._spaces, self._handles = chip, {}, None

    def _read_handles(self):
        """How many handles each command begins with, by its code."""
        answer = self._chip.ask(frame(GET_CAPABILITY, struct.pack(">III", 2, 0x11F, 256)))
        attributes = (number(answer, place) for place in range(19, len(answer), 4))
        self._handles = {word & 0xFFFF: word >> 25 & 7 for word in attributes}
        # Its handle is a parameter for the TPM.
        self._handles[FLUSH] = 1

    def _send(self, code, body):
        return self._chip.exchange(frame(code, body), is_of_manager=True)

    def exchange(self, opened, command):
        if self._handles is None:
            self._read_handles()
        space, loaded = self._spaces.setdefault(opened, Space()), {}
        for handle, context in list(space.objects.items()):
            answer = self._send(CONTEXT_LOAD, context)
            if number(answer) == 0:
                loaded[handle] = number(answer, 10)
            else:
                del space.objects[handle]
        for handle, context in list(space.sessions.items()):
            if number(self._send(CONTEXT_LOAD, context)) != 0:
                del space.sessions[handle]
        answer = self._chip.exchange(self._translated(command, loaded))
        if number(answer) == 0 and number(command) in MAKING:
            made = number(answer, 10)
            if made >> 24 == 0x80:
                handle = next(free for free in range(FIRST_OBJECT, 0, -1) if free not in loaded)
                loaded[handle] = made
                answer = answer[:10] + struct.pack(">I", handle) + answer[14:]
            else:
                space.sessions[made] = b""
        self._save(space, loaded)
        return answer

    def _translated(self, command, loaded):
        """A command with the handles that the TPM knows."""
        for place in range(10, 10 + 4 * self._handles.get(number(command), 0), 4):
            if number(command, place) in loaded:
                command = command[:place] + struct.pack(">I", loaded[number(command, place)]) + command[place + 4:]
        return command

    def _save(self, space, loaded):
        space.objects = {}
        for handle, place in loaded.items():
            saved = self._send(CONTEXT_SAVE, struct.pack(">I", place))
            # The command may have removed it.
            if number(saved) == 0:
                space.objects[handle] = saved[10:]
                self._send(FLUSH, struct.pack(">I", place))
        for handle in list(space.sessions):
            saved = self._send(CONTEXT_SAVE, struct.pack(">I", handle))
            if number(saved) == 0:
                space.sessions[handle] = saved[10:]
            else:
                # It has ended with the command.
                del space.sessions[handle]

    def close(self, opened):
        for handle in self._spaces.pop(opened, Space()).sessions:
            self._send(FLUSH, struct.pack(">I", handle))


# MARK: a device

class Device:
    """The file that programs open (linux/fuse.h: a header of 40 bytes asks, one of 16 bytes answers)."""

    GETATTR, OPEN, READ, WRITE, RELEASE, FLUSH, INIT, INTERRUPT, FORGET = 3, 14, 15, 16, 18, 25, 26, 36, 2
    # Reads and writes reach this program as they are made, without a position.
    DIRECT, STREAM = 1, 16

    def __init__(self, place, chip):
        self._chip, self._manager, self._work = chip, Manager(chip), queue.SimpleQueue()
        self._opened, self._answers, self._next = set(), {}, 1
        group = grp.getgrnam("latchkey").gr_gid
        self._attributes = struct.pack("<6Q10I", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o100660, 1, 0, group, 0, 4096, 0)
        with open(place, "wb"):
            pass
        self._kernel = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self._kernel},rootmode=100660,user_id=0,group_id=0,allow_other,default_permissions".encode()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"chip-relay", place.encode(), b"fuse", 6, options) != 0:
            raise OSError(ctypes.get_errno(), "mount")

    def serve(self):
        threading.Thread(target=self._carry_out, daemon=True).start()
        while True:
            request = os.read(self._kernel, 1 << 18)
            _, operation, unique = struct.unpack("<IIQ", request[:16])
            opened = struct.unpack("<Q", request[40:48])[0] if len(request) >= 48 else 0
            if operation == self.INIT:
                self._reply(unique, struct.pack("<4I2H10I", 7, 31, 65536, 0, 12, 10, 65536, *[0] * 9)[:64])
            elif operation == self.GETATTR:
                self._reply(unique, struct.pack("<QII", 0, 0, 0) + self._attributes)
            elif operation == self.OPEN:
                self._opened.add(self._next)
                self._reply(unique, struct.pack("<QII", self._next, self.DIRECT | self.STREAM, 0))
                self._next += 1
            elif operation == self.READ:
                self._reply(unique, self._answers.pop(opened, b""))
            elif operation in (self.WRITE, self.RELEASE):
                # They wait for the TPM, and others go on meanwhile.
                self._work.put((operation, unique, opened, request[80:]))
            elif operation == self.FLUSH:
                self._reply(unique)
            elif operation not in (self.INTERRUPT, self.FORGET):
                self._reply(unique, error=errno.ENOSYS)

    def _reply(self, unique, body=b"", error=0):
        try:
            os.write(self._kernel, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)
        except FileNotFoundError:
            pass  # The program was killed meanwhile.

    def _carry_out(self):
        while True:
            operation, unique, opened, data = self._work.get()
            try:
                if operation == self.WRITE:
                    # As the kernel does, a write waits for the TPM, and the next read gets the answer.
                    self._answers[opened] = self._manager.exchange(opened, data)
                    self._reply(unique, struct.pack("<II", len(data), 0))
                    continue
                self._manager.close(opened)
            except OSError:
                if operation == self.WRITE:
                    self._reply(unique, error=errno.EIO)
                    continue
            self._opened.discard(opened)
            self._answers.pop(opened, None)
            if not self._opened:
                self._chip.leave()
            self._reply(unique)


def main(kind, place, chip, log, times=None):
    with open(log, "a", buffering=1) as log:
        chip = Chip(chip, log, times)
        if kind == "device":
            Device(place, chip).serve()
        serve_socket(place, chip)


if __name__ == "__main__":
    main(*sys.argv[1:])
