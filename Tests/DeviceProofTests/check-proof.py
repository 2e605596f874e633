#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies the proof for one key as docs/reference/device-proof.md describes it, with nothing but the document, the standard
library and the command openssl. usage: check-proof.py ATTESTATION_KEY PROOF PUBLIC_KEY NONCE  (hexadecimal)
"""
import hashlib, os, subprocess, sys, tempfile

attestation_key, proof, public_key, nonce = (bytes.fromhex(argument) for argument in sys.argv[1:5])
sha256 = lambda data: hashlib.sha256(data).digest()


class Reader:
    def __init__(self, data):
        self.data = data

    def take(self, count):
        part, self.data = self.data[:count], self.data[count:]
        assert len(part) == count, "truncated"
        return part

    def sized(self):
        return self.take(int.from_bytes(self.take(2), "big"))

    def expect(self, digits):
        assert self.take(len(digits) // 2).hex() == digits, "expected " + digits

    def end(self):
        assert not self.data, "trailing bytes"


def point(area, attributes, scheme):
    """Reads a public area of P-256; returns its policy and its point."""
    reader = Reader(area)
    reader.expect("0023" + "000b" + attributes)
    policy = reader.sized()
    reader.expect("0010" + scheme + "0003" + "0010")
    x, y = reader.sized(), reader.sized()
    reader.end()
    return policy, b"\4" + x.rjust(32, b"\0") + y.rjust(32, b"\0")


def integer(number):
    number = number.lstrip(b"\0") or b"\0"
    number = (b"\0" if number[0] & 0x80 else b"") + number
    return bytes([2, len(number)]) + number


reader = Reader(proof)
reader.expect("0104")
key, statement = reader.sized(), reader.sized()
r, s = reader.take(32), reader.take(32)
authority, reference = reader.take(65), reader.take(32)
flags = reader.take(1)[0]
assert flags in (0, 1)
reader.end()

# Check 3: the signature.
_, signer = point(attestation_key, "00050472", "0018" + "000b")
with tempfile.TemporaryDirectory() as folder:
    path = lambda name: os.path.join(folder, name)
    numbers = integer(r) + integer(s)
    for name, data in {
        "key": bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200") + signer,
        "statement": statement,
        "signature": bytes([0x30, len(numbers)]) + numbers,
    }.items():
        with open(path(name), "wb") as file:
            file.write(data)
    subprocess.run(
        ["openssl", "dgst", "-sha256", "-keyform", "DER", "-verify", path("key"), "-signature", path("signature"),
         path("statement")], check=True, stdout=subprocess.DEVNULL)

# Check 4: the statement.
reader = Reader(statement)
reader.expect("ff544347" + "801a")
reader.sized()
assert reader.sized() == nonce, "another nonce"
reader.take(25)
name = reader.sized()
reader.sized()
reader.end()

# Check 5: the name.
assert name == bytes.fromhex("000b") + sha256(key), "another key"

# Check 6: the key.
policy, found = point(key, "000604b2", "0010")
assert found == public_key, "not the registered key"
authority_area = (
    bytes.fromhex("0023" "000b" "00040040" "0000" "0010" "0010" "0003" "0010")
    + b"\0\x20" + authority[1:33] + b"\0\x20" + authority[33:])
assert authority[0] == 4
expected = sha256(
    sha256(bytes(32) + bytes.fromhex("00000160" "000b") + sha256(authority_area)) + reference)
if flags & 1:
    expected = sha256(expected + bytes.fromhex("0000016b"))
assert policy == expected, "another policy"
