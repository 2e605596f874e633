# SPDX-License-Identifier: Apache-2.0
"""An independent client of a TPM (TPM 2.0 Library, parts 1 to 3), which makes keys as Latchkey does."""

import hashlib
import os
import socket
import struct

PLACE = "/run/test-tpm/socket"
OWNER, NONE, PASSWORD = 0x40000001, 0x40000007, 0x40000009
ECC, SHA256, ECDSA, NULL, P256 = 0x23, 0x0B, 0x18, 0x10, 3
CREATE_PRIMARY, CREATE, LOAD, LOAD_EXTERNAL = 0x131, 0x153, 0x157, 0x167
SIGN, AGREE, CHANGE_PASSWORD = 0x15D, 0x154, 0x150
START_SESSION, POLICY_SIGNED, POLICY_RESTART, POLICY_PASSWORD, FLUSH = 0x176, 0x160, 0x180, 0x18C, 0x165
GET_CAPABILITY, POLICY_VALUE, POLICY_COMMAND = 0x17A, 0x16B, 0x16C
# TPMA_OBJECT: fixedTPM, fixedParent, sensitiveDataOrigin, adminWithPolicy, noDA, decrypt, sign; as Latchkey makes keys.
KEY = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 10 | 1 << 17 | 1 << 18
# The storage root key: userWithAuth, restricted and decrypt instead of adminWithPolicy and sign.
ROOT = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 10 | 1 << 16 | 1 << 17
AUTHORITY = 1 << 6 | 1 << 18


def digest(data):
    return hashlib.sha256(data).digest()


def short(number):
    return struct.pack(">H", number)


def word(number):
    return struct.pack(">I", number)


def sized(data):
    return short(len(data)) + data


def area(attributes, policy=b"", point=b"", storage=False):
    """TPMT_PUBLIC of a P-256 key."""
    symmetric = short(6) + short(128) + short(0x43) if storage else short(NULL)
    return (short(ECC) + short(SHA256) + word(attributes) + sized(policy) + symmetric + short(NULL) + short(P256)
            + short(NULL) + sized(point[1:33]) + sized(point[33:]))


def name(public):
    return short(SHA256) + digest(public)


def signing(text):
    """The parameters of TPM2_Sign for a digest, without a ticket."""
    return sized(text) + short(ECDSA) + short(SHA256) + short(0x8024) + word(NONE) + sized(b"")


class Chip:
    """A connection to the TPM with the storage root key of Latchkey's template."""

    def __init__(self, path=PLACE):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(path)
        self.blobs = {}
        for kind in (0x80000000, 0x02000000, 0x03000000):
            self.flush_all(kind)
        answer = self.command(CREATE_PRIMARY, [OWNER], sized(bytes(4)) + sized(area(ROOT, storage=True)) + sized(b"")
                              + word(0), [None])
        self.root = struct.unpack(">I", answer[:4])[0]

    def exchange(self, code, body, tag):
        self.socket.sendall(struct.pack(">HII", tag, 10 + len(body), code) + body)
        answer = b""
        while len(answer) < 10 or len(answer) < struct.unpack(">I", answer[2:6])[0]:
            piece = self.socket.recv(4096)
            if not piece:
                raise EOFError("the TPM ended the connection")
            answer += piece
        return struct.unpack(">I", answer[6:10])[0], answer[10:]

    def command(self, code, handles, parameters=b"", sessions=()):
        """The answer after its header; raises for a refusal. A session is a handle, or None for the empty password."""
        body = b"".join(map(word, handles))
        if sessions:
            entries = b"".join(word(session or PASSWORD) + sized(b"") + b"\x01" + sized(b"") for session in sessions)
            body += word(len(entries)) + entries
        status, answer = self.exchange(code, body + parameters, 0x8002 if sessions else 0x8001)
        if status:
            raise RuntimeError(f"TPM {status:#x}")
        return answer

    def create(self, authority, reference):
        """Makes a key whose policy is the approval of an authority, as Latchkey does; its name."""
        signer = name(area(AUTHORITY, point=authority))
        policy = digest(digest(bytes(32) + word(POLICY_SIGNED) + signer) + reference)
        answer = self.command(CREATE, [self.root], sized(sized(b"") + sized(b"")) + sized(area(KEY, policy))
                              + sized(b"") + word(0), [None])[4:]
        private = answer[2:2 + struct.unpack(">H", answer[:2])[0]]
        answer = answer[2 + len(private):]
        public = answer[2:2 + struct.unpack(">H", answer[:2])[0]]
        self.blobs[name(public)] = sized(private) + sized(public)
        return name(public)

    def session(self):
        """Starts a policy session; its handle and the nonce of the TPM."""
        answer = self.command(START_SESSION, [NONE, NONE], sized(os.urandom(16)) + sized(b"") + b"\x01" + short(NULL)
                              + short(SHA256))
        return struct.unpack(">I", answer[:4])[0], answer[6:6 + struct.unpack(">H", answer[4:6])[0]]

    def approve(self, session, nonce, authority, reference, code, key, parameters, signature, seconds=60, whole=None):
        """Presents an approval (TPM2_PolicySigned) of a command; `whole` replaces the digest of the command."""
        answer = self.command(LOAD_EXTERNAL, [], sized(b"") + sized(area(AUTHORITY, point=authority)) + word(OWNER))
        signer = struct.unpack(">I", answer[:4])[0]
        command = digest(word(code) + key + parameters) if whole is None else whole
        try:
            self.command(POLICY_SIGNED, [signer, session], sized(nonce) + sized(command) + sized(reference)
                         + struct.pack(">i", seconds) + short(ECDSA) + short(SHA256) + sized(signature[:32])
                         + sized(signature[32:]))
        finally:
            self.command(FLUSH, [], word(signer))

    def use(self, session, code, key, parameters):
        """Loads a key and carries out a command with it under a session; with None, under the empty password."""
        loaded = struct.unpack(">I", self.command(LOAD, [self.root], self.blobs[key], [None])[:4])[0]
        try:
            handles = [loaded, self.root] if code == CHANGE_PASSWORD else [loaded]
            return self.command(code, handles, parameters, [session])
        finally:
            self.flush(loaded)

    def flush(self, handle):
        self.command(FLUSH, [], word(handle))

    def flush_all(self, kind):
        """Removes what earlier connections left; TPM2_GetCapability lists the handles."""
        answer = self.command(GET_CAPABILITY, [], word(1) + word(kind) + word(64))
        for number in range(struct.unpack(">I", answer[5:9])[0]):
            self.flush(struct.unpack(">I", answer[9 + 4 * number:13 + 4 * number])[0])
