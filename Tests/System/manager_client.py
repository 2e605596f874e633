# SPDX-License-Identifier: Apache-2.0
"""Both services of tier tpm on the kernel's resource manager, and what a person does with them; runs as root in the
virtual machine, which has neither systemd nor logind. Prints what was found as JSON.

Between the parts TPM2_GetTestResult is sent, which the services never use, so that a log of the TPM can be divided."""

import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import time

PASSCODE, OTHER = "a passcode of alice 4711", "another passcode 815"
SECONDS = 60
# Seconds before a person answers a prompt, and until what follows a reply is done.
PATIENCE = 4
found, seconds, parts, STARTED = {}, {}, [], []


def chip(code, parameters=b""):
    """Sends a command to the TPM itself; the resource manager sees none of it."""
    device = os.open("/dev/tpm0", os.O_RDWR)
    os.write(device, struct.pack(">HII", 0x8001, 10 + len(parameters), code) + parameters)
    answer = os.read(device, 4096)
    os.close(device)
    assert answer[6:10] == bytes(4), answer.hex()
    return answer[10:]


def handles(first):
    """TPM2_GetCapability of TPM_CAP_HANDLES: how many handles of a type there are."""
    return struct.unpack(">I", chip(0x17A, struct.pack(">III", 1, first, 64))[5:9])[0]


def left():
    return {"objects": handles(0x80000000), "loaded sessions": handles(0x02000000),
            "saved sessions": handles(0x03000000)}


def part(name):
    chip(0x17C)
    parts.append(name)


def environment():
    return {"PATH": "/usr/bin:/bin", "HOME": "/home/alice", "LANG": "C.UTF-8", "TERM": "xterm"}


def as_alice():
    os.initgroups("alice", 1001)
    os.setgid(1001)
    os.setuid(1001)


def latchkey(*argv, input=None):
    done = subprocess.run(["latchkey", *argv], env=environment(), input=input, capture_output=True, text=True,
                          timeout=SECONDS, preexec_fn=as_alice)
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout


class Terminal:
    """`latchkey` on a terminal of its own; `output` is what it has shown."""

    def __init__(self, *argv):
        self.output, self.read = "", 0
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            try:
                # A prompt uses a terminal of the caller only.
                os.fchown(0, 1001, 5)
                as_alice()
                os.execvpe("latchkey", ["latchkey", *argv], environment())
            finally:
                os._exit(127)

    def expect(self, *texts):
        for text in texts:
            deadline = time.monotonic() + SECONDS
            while (place := self.output.find(text, self.read)) < 0:
                if not self.receive(deadline):
                    raise AssertionError(f"not shown: {text!r} but {self.output[self.read:]!r}")
            self.read = place + len(text)

    def receive(self, deadline):
        ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
        try:
            data = os.read(self.terminal, 1 << 16) if ready else b""
        except OSError:
            data = b""  # The last program on the terminal has ended.
        self.output += data.decode(errors="replace")
        return data != b""

    def type(self, text):
        os.write(self.terminal, text.encode() + b"\r")

    def end(self):
        while self.receive(time.monotonic() + SECONDS):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.terminal)
        assert status == 0, self.output
        return self.output


def start_services():
    STARTED.append(subprocess.Popen(["/usr/libexec/latchkey-authd"], stdin=subprocess.DEVNULL))
    reached("/run/latchkey/agents.sock")
    STARTED.append(subprocess.Popen(
        ["setpriv", "--reuid", "latchkey", "--regid", "latchkey", "--groups", "tss", "--bounding-set", "-all",
         "/usr/libexec/latchkeyd", "--system"], stdin=subprocess.DEVNULL))
    reached("/run/latchkey/public/keychain.sock")


def reached(path):
    deadline = time.monotonic() + SECONDS
    while not os.path.exists(path):
        assert time.monotonic() < deadline, path
        # The service makes the socket and reports nothing: systemd, which it would tell, does not run here.
        time.sleep(0.05)


def stop_services():
    for process in reversed(STARTED):
        process.send_signal(signal.SIGTERM)
        process.wait(SECONDS)
    STARTED.clear()
    subprocess.run(["rm", "-rf", "/run/latchkey"], check=True)


def finger(command):
    with socket.socket(socket.AF_UNIX) as sensor:
        sensor.connect("/run/latchkey/sensor.sock")
        sensor.sendall(command.encode())
        assert sensor.recv(64) == b"ok\n"


def new_passcode(terminal, passcode):
    for question in ("Type a new passcode", "Type the new passcode again"):
        terminal.expect(question)
        terminal.type(passcode)
    terminal.expect("Write this recovery code down", "Enter")
    code = re.findall(r"[0-9A-Z]{5}(?:-[0-9A-Z]{5}){3}-[0-9A-Z]{6}", terminal.output)[-1]
    terminal.type("")
    terminal.expect("last group")
    terminal.type(code[-6:])
    return code


def read_by_passcode(passcode=PASSCODE, wrong=()):
    terminal = Terminal("get", "token")
    terminal.expect("Type your passcode")
    for number, text in enumerate(wrong):
        terminal.type(text)
        terminal.expect("is wrong", f"{2 - number} tries left")
    terminal.type(passcode)
    return terminal.end().rstrip().endswith("the secret")


def sign(name, words, answer):
    """Signs twice, by phase: while the prompt is shown, from the answer to the reply, and after it. The second signature
    from the answer to its end is measured."""
    for turn in (f"first {name}", name):
        part(f"{turn}, before")
        terminal = Terminal("key", "sign", name, "/tmp/text", "--output", "/tmp/alice/signature", "--replace")
        terminal.expect(words)
        # A person reads the prompt first; meanwhile the chip is prepared.
        time.sleep(PATIENCE)
        part(turn)
        begin = time.monotonic()
        answer(terminal)
        terminal.end()
        seconds[name] = time.monotonic() - begin
        part(f"{turn}, after")
        time.sleep(PATIENCE)
    latchkey("key", "public", name, "--output", "/tmp/alice/public", "--replace")
    done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", "/tmp/alice/public", "-signature",
                           "/tmp/alice/signature", "/tmp/text"], capture_output=True, text=True)
    assert done.stdout == "Verified OK\n", done.stderr


def main():
    with open("/tmp/text", "w") as file:
        file.write("the text that is signed")
    os.mkdir("/tmp/alice")
    os.chown("/tmp/alice", 1001, 1001)
    start_services()
    part("a passcode is set")
    terminal = Terminal("passcode", "set")
    terminal.expect("password of your account")
    terminal.type(sys.argv[1])
    code = new_passcode(terminal, PASSCODE)
    terminal.end()
    latchkey("set", "token", "--protect", "passcode", input="the secret")
    found["tier"] = json.loads(latchkey("status", "--json"))["tier"]
    part("a wrong passcode and the right one")
    found["read"] = read_by_passcode(wrong=["a wrong one"])
    part("keys are made")
    latchkey("key", "create", "finger", "--enclave", "--protect", "biometry")
    latchkey("key", "create", "passcode", "--enclave", "--protect", "passcode")
    sign("finger", "Touch the sensor", lambda _: finger("touch"))
    sign("passcode", "Type your passcode", lambda terminal: terminal.type(PASSCODE))
    part("the services are started again")
    found["used"] = left()
    stop_services()
    found["stopped"] = left()
    start_services()
    found["read again"] = read_by_passcode()
    part("the recovery code is used")
    terminal = Terminal("recover")
    terminal.expect("Type the recovery code of the keychain")
    terminal.type(code)
    new_passcode(terminal, OTHER)
    terminal.end()
    found["recovered"] = read_by_passcode(OTHER)
    part("the end")
    stop_services()
    found["after"] = left()
    print(json.dumps({**found, "seconds": seconds, "parts": parts}))


main()
