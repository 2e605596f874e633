# SPDX-License-Identifier: Apache-2.0
"""Both services of tier tpm on the kernel's resource manager, and what a person does with them; runs as root in the
virtual machine, which has neither systemd nor logind. Prints what was found as JSON.

Between the parts TPM2_GetTestResult is sent, which the services never use, so that a log of the TPM can be divided."""

import json
import os
import signal
import struct
import subprocess
import sys
import time

from person_client import SECONDS, Terminal, assert_signed, finger, latchkey, new_passcode, prepare_files, signing

PASSCODE, OTHER = "a passcode of alice 4711", "another passcode 815"
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
        terminal = signing(name)
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
    assert_signed(name)


def main():
    prepare_files()
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
