# SPDX-License-Identifier: Apache-2.0
"""What root of the machine can compute with a known passcode: the secrets of latchkey-authd, so that a test can search
for them elsewhere. It has a connection to the TPM; neither service runs."""

import hashlib
import hmac
import json
import struct
import subprocess
import sys

from chip_client import Chip, LOAD, sized, word
from deterministic_cbor import decode

UNSEAL, POLICY_SECRET, PASSWORD = 0x15E, 0x151, 0x40000009
MARK = b"latchkey passcodes 1\n"


def derive(key, label):
    """HKDF of docs/reference/store-format.md."""
    return hmac.digest(key, label + b"\0\x01", "sha256")


def combined(secret, label):
    return derive(hmac.digest(bytes(32), sized(secret), "sha256"), label)


def fields(data, *sizes):
    """Fields of those sizes; 0 for one with two bytes of length in front."""
    found = []
    for size in sizes:
        if size == 0:
            size, data = struct.unpack(">H", data[:2])[0], data[2:]
        found.append(data[:size])
        data = data[size:]
    return found


def point(scalar):
    """The public key of a private one, by openssl."""
    key = bytes.fromhex("30310201010420") + scalar + bytes.fromhex("a00a06082a8648ce3d030107")
    done = subprocess.run(["openssl", "ec", "-inform", "DER", "-pubout", "-outform", "DER"], input=key,
                          capture_output=True, check=True)
    return done.stdout[-65:]


def main(records, passcode):
    with open(records + "/passcodes", "rb") as file:
        current = decode(file.read()[len(MARK) + 32:])[0]
    cost, salt, index = current[0], current[1], current[-1]
    _, parent, handle, public, area, private, hidden = fields(index, 1, 0, 4, 0, 0, 0, 0)
    stretched = hashlib.scrypt(passcode.encode() + b"\x01", salt=salt, n=1 << cost, r=8, p=1, maxmem=1 << 28, dklen=32)
    value = derive(stretched, b"latchkey passcode value v1")

    chip = Chip()
    session, _ = chip.session()
    status, _ = chip.exchange(
        POLICY_SECRET, handle + word(session) + word(9 + len(value)) + word(PASSWORD) + sized(b"") + b"\x01"
        + sized(value) + sized(b"") + sized(b"") + sized(b"") + word(0), 0x8002)
    assert status == 0, hex(status)
    loaded = struct.unpack(">I", chip.command(LOAD, [chip.root], sized(private) + sized(area), [None])[:4])[0]
    secret = fields(chip.command(UNSEAL, [loaded], b"", [session])[4:], 0)[0]
    chip.flush(loaded)

    key = combined(secret, b"latchkey passcode reset v1")
    reset = subprocess.run(
        ["openssl", "enc", "-aes-256-ctr", "-K", key.hex(), "-iv", hidden[:12].hex() + "00000002"],
        input=hidden[12:44], capture_output=True, check=True).stdout
    assert point(reset) == public, "the reset key is another one"
    with open(records + "/approval", "rb") as file:
        approval = file.read()[-32:]
    print(json.dumps({name: found.hex() for name, found in (
        ("the stretched passcode", stretched), ("the value of the index", value), ("the sealed secret", secret),
        ("the half of the slot key", derive(stretched, b"latchkey slot half v1")), ("the reset key", reset),
        ("the key of approvals", approval))}))


if __name__ == "__main__":
    main(*sys.argv[1:])
