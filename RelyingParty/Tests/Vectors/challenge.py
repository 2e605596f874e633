#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes a challenge and the message that a bound key signs from docs/reference/relying-party.md, with Python's library only.

Prints the lines of challenge.tsv: name, tab, hexadecimal digits. Independent of the Swift code, which must agree.
"""
import base64
import hashlib
import hmac
import struct


def counted(data):
    return struct.pack(">H", len(data)) + data


def hkdf(secret, information):
    extracted = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(extracted, information + b"\x01", hashlib.sha256).digest()


master, party, user, key = bytes(range(32)), b"example.com", "J\u00fcrgen".encode(), bytes(range(100, 132))
issued, life, nonce = 1_800_003_599, 60, bytes(range(200, 232))


def issue(binding):
    body = (b"\x01" + hashlib.sha256(b"latchkey relying party id 1\0" + party).digest()
            + hashlib.sha256(b"latchkey challenge binding 1\0" + binding).digest()
            + struct.pack(">QQ", issued, issued + life) + nonce)
    epoch = hkdf(master, b"latchkey challenge epoch 1\0" + struct.pack(">Q", issued // 3600))
    return body + hmac.new(epoch, body, hashlib.sha256).digest()


purposes = {"login": (1, b""), "step-up": (2, b"pay 20 EUR"), "register": (3, b""), "rotate": (4, b"k"), "revoke": (5, b"user")}
for name, (number, context) in purposes.items():
    binding = bytes([number]) + counted(user) + counted(key) + counted(context)
    challenge = issue(binding)
    message = b"latchkey relying party 1\0" + counted(party) + binding + counted(challenge)
    print(f"{name}-challenge\t{challenge.hex()}")
    print(f"{name}-message\t{message.hex()}")
    if name in ("login", "step-up"):
        print(f"{name}-counted\t{(message + struct.pack('>Q', 7)).hex()}")
    # The nonce of a TPM's statement about the key.
    if name in ("register", "rotate"):
        print(f"{name}-nonce\t{hashlib.sha256(b'latchkey attestation nonce 1' + bytes(1) + message).hexdigest()}")

# Challenges of passkeys name no key. The one of a registration has the user handle as context, and the bound key of a session
# signs a message that names the new key.
handle = hmac.new(hkdf(master, b"latchkey user handles 1\0"), counted(user), hashlib.sha256).digest()
print(f"user-handle\t{handle.hex()}")
context = base64.urlsafe_b64encode(handle).rstrip(b"=")
for name, number, user, context in (("passkey-login", 6, b"", b""), ("passkey-register", 7, user, context)):
    challenge = issue(bytes([number]) + counted(user) + counted(bytes(32)) + counted(context))
    print(f"{name}-challenge\t{challenge.hex()}")
binding = bytes([7]) + counted(user) + counted(key) + counted(b"")
message = b"latchkey relying party 1\0" + counted(party) + binding + counted(challenge)
print(f"passkey-register-message\t{message.hex()}")
