# SPDX-License-Identifier: Apache-2.0
"""A device with a software TPM, which speaks the TPM's own protocol: it shares no code with Latchkey.

Structures are those of "TPM 2.0 Library", Part 2, and commands those of Part 3. The messages are those of
docs/reference/device-proof.md.
"""
import base64
import hashlib
import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import time

from server import Device, counted, text

OWNER, ENDORSEMENT, NULL, PASSWORD = 0x40000001, 0x4000000B, 0x40000007, 0x40000009
EK_POLICY = bytes.fromhex("837197674484b3f81a90cc8d46a5d724fd52d76e06520b64f2a1da1b331469aa")
EC_EK = bytes.fromhex("0023000b000300b2") + counted(EK_POLICY) + bytes.fromhex("0006008000430010000300100020") \
    + bytes(32) + bytes.fromhex("0020") + bytes(32)
RSA_EK = bytes.fromhex("0001000b000300b2") + counted(EK_POLICY) + bytes.fromhex("000600800043001008000000000001") \
    + b"\0" + bytes(256)
INFORMATION = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")


def sha256(data):
    return hashlib.sha256(data).digest()


class Reader:
    def __init__(self, data):
        self.data = data

    def take(self, count):
        part, self.data = self.data[:count], self.data[count:]
        assert len(part) == count
        return part

    def number(self, count):
        return int.from_bytes(self.take(count), "big")

    def sized(self):
        return self.take(self.number(2))


class TPM:
    """A running swtpm."""

    def __init__(self, state=None):
        self.scratch = tempfile.TemporaryDirectory()
        state = state or self.scratch.name
        self.path = path = f"{self.scratch.name}/socket"
        self.process = subprocess.Popen(
            ["swtpm", "socket", "--tpm2", "--server", f"type=unixio,path={path}", "--tpmstate", f"dir={state}",
             "--flags", "not-need-init,startup-clear"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        end = time.monotonic() + 20
        while True:
            try:
                self.socket.connect(path)
                break
            except (FileNotFoundError, ConnectionRefusedError):
                assert time.monotonic() < end and self.process.poll() is None, "swtpm does not start"
                # swtpm reports its start in no other way than by this socket.
                time.sleep(0.01)

    def close(self):
        self.socket.close()
        self.process.kill()
        self.process.wait(20)
        self.scratch.cleanup()

    def run(self, code, handles, parameters=b"", sessions=(), has_handle=False):
        """Sends a command. Sessions are handles, without a key; they end with it. Returns a reader of the reply's
        parameters."""
        area = b"".join(struct.pack(">I", session) + b"\0\0" + b"\0" + b"\0\0" for session in sessions)
        body = b"".join(struct.pack(">I", handle) for handle in handles)
        body += (struct.pack(">I", len(area)) + area if sessions else b"") + parameters
        self.socket.sendall(struct.pack(">HII", 0x8002 if sessions else 0x8001, 10 + len(body), code) + body)
        reply = b""
        while len(reply) < 10 or len(reply) < int.from_bytes(reply[2:6], "big"):
            part = self.socket.recv(4096)
            assert part, "swtpm ended"
            reply += part
        assert reply[6:10] == bytes(4), f"command {code:x}: response {reply[6:10].hex()}"
        reader = Reader(reply[10:])
        handle = reader.number(4) if has_handle else None
        if sessions:
            reader = Reader(reader.take(reader.number(4)))
        return (handle, reader) if has_handle else reader

    def primary(self, hierarchy, template):
        """Makes a key; returns handle, public area, digest of its creation, and ticket."""
        handle, reader = self.run(0x131, [hierarchy], bytes.fromhex("000400000000") + counted(template) + b"\0\0"
                                  + bytes(4), [PASSWORD], has_handle=True)
        public = reader.sized()
        reader.sized()
        return handle, public, reader.sized(), reader.take(6) + counted(reader.sized())

    def flush(self, handle):
        self.run(0x165, [], struct.pack(">I", handle))

    def policy_session(self):
        handle, reader = self.run(0x176, [NULL, NULL], counted(os.urandom(16)) + b"\0\0" + b"\1"
                                  + bytes.fromhex("0010000b"), has_handle=True)
        return handle, reader.sized()

    def certificate(self):
        """The RSA endorsement certificate that swtpm_setup stored."""
        index = 0x01C00002
        size = int.from_bytes(self.run(0x169, [index]).sized()[-2:], "big")
        data = b""
        while len(data) < size:
            data += self.run(0x14E, [index, index], struct.pack(">HH", min(512, size - len(data)), len(data)),
                             [PASSWORD]).sized()
        return data


def certified_state(folder):
    """The state of a new virtual chip with the certificate that swtpm_setup makes, and the roots of its authority."""
    authority = pathlib.Path(folder)
    state = authority / "state"
    state.mkdir()
    (authority / "localca.conf").write_text(
        f"statedir = {authority}\nsigningkey = {authority}/signkey.pem\nissuercert = {authority}/issuercert.pem\n"
        f"certserial = {authority}/certserial\n")
    (authority / "localca.options").write_text(
        "--platform-manufacturer Test\n--platform-version 1\n--platform-model test\n")
    (authority / "setup.conf").write_text(
        "create_certs_tool = /usr/bin/swtpm_localca\n"
        f"create_certs_tool_config = {authority}/localca.conf\n"
        f"create_certs_tool_options = {authority}/localca.options\nactive_pcr_banks = sha256\n")
    subprocess.run(["swtpm_setup", "--tpm2", "--tpmstate", state, "--config", authority / "setup.conf",
                    "--create-ek-cert", "--overwrite"], check=True, capture_output=True)
    roots = authority / "roots.pem"
    roots.write_text((authority / "swtpm-localca-rootca-cert.pem").read_text()
                     + (authority / "issuercert.pem").read_text())
    return state, roots


def area(attributes, policy, scheme):
    """The template of a key on P-256. The random x makes every primary key a different one."""
    return (bytes.fromhex("0023000b" + attributes) + counted(policy) + bytes.fromhex("0010" + scheme + "00030010")
            + counted(os.urandom(32)) + b"\0\0")


def point(public):
    return b"\4" + public[-66:-34] + public[-32:]


def rsa_information(modulus):
    """The SubjectPublicKeyInfo of an RSA key of 2,048 bits with the exponent 65,537 (RFC 8017, appendix A.1.1)."""
    numbers = b"\x02\x82\x01\x01\0" + modulus + b"\x02\x03\x01\0\x01"
    key = b"\x30\x82" + counted(numbers)
    algorithm = bytes.fromhex("300d06092a864886f70d0101010500")
    return b"\x30\x82" + counted(algorithm + b"\x03\x82" + counted(b"\0" + key))


def der(r, s):
    def integer(number):
        number = number.lstrip(b"\0") or b"\0"
        number = (b"\0" if number[0] & 0x80 else b"") + number
        return bytes([2, len(number)]) + number
    numbers = integer(r) + integer(s)
    return bytes([0x30, len(numbers)]) + numbers


class Maker:
    """A maker of TPMs: a certificate authority, which openssl plays."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.name = os.urandom(4).hex()
        self.roots = self.folder / f"{self.name}-root.pem"
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                     f"{self.name}-root.key", "-out", self.roots, "-subj", "/CN=Maker", "-days", "3650")

    def openssl(self, *arguments, data=None):
        return subprocess.run(["openssl", *arguments], cwd=self.folder, input=data, check=True,
                              capture_output=True).stdout

    def make_issuer(self, permissions):
        """Makes a certificate below the root, and returns its name and its DER."""
        name = f"{self.name}-{os.urandom(4).hex()}"
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                     f"{name}.key", "-out", "issuer.csr", "-subj", "/CN=Issuer")
        (self.folder / "extensions").write_text(permissions + "\n")
        self.openssl("x509", "-req", "-in", "issuer.csr", "-CA", self.roots, "-CAkey", f"{self.name}-root.key",
                     "-set_serial", "8", "-days", "3650", "-extfile", "extensions", "-out", f"{name}.pem")
        return name, self.openssl("x509", "-in", f"{name}.pem", "-outform", "der")

    def certify(self, public, manufacturer="id:49465800", model="SLB9670", usage="2.23.133.8.1", permissions=None,
                issuer=None):
        """A certificate for an endorsement key, with the extensions of the EK Credential Profile.

        permissions -- the extensions that say what the key may do, one a line
        issuer -- the name of a certificate below the root"""
        is_rsa = public[:2] == b"\0\1"
        information = rsa_information(public[-256:]) if is_rsa else INFORMATION + point(public)
        pem = self.openssl("pkey", "-pubin", "-inform", "der", data=information)
        (self.folder / "ek.pem").write_bytes(pem)
        permissions = permissions or ("keyUsage = critical," + ("keyEncipherment" if is_rsa else "keyAgreement")
                                      + "\nbasicConstraints = critical,CA:FALSE")
        # openssl removes the prefix "1." of a name in a section.
        (self.folder / "extensions").write_text(
            f"{permissions}\nextendedKeyUsage = {usage}\nsubjectAltName = critical,dirName:device\n[device]\n"
            f"1.2.23.133.2.1 = {manufacturer}\n1.2.23.133.2.2 = {model}\n1.2.23.133.2.3 = id:0001\n")
        certificate = f"{issuer}.pem" if issuer else self.roots
        return self.openssl("x509", "-new", "-force_pubkey", "ek.pem", "-CA", certificate, "-CAkey",
                            f"{issuer or self.name + '-root'}.key", "-set_serial", "7", "-subj", "/", "-days", "3650",
                            "-extfile", "extensions", "-outform", "der")


class TPMDevice(Device):
    """A device whose key is in a software TPM, with an attestation key for one relying party.

    A use of the key needs the signature of an authority, as the keys of Latchkey do.
    """

    def __init__(self, server, user, tpm, certificates, template=EC_EK):
        self.server, self.user, self.tpm = server, user, tpm
        self.authority_file = f"{server.scratch.name}/{os.urandom(8).hex()}.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out",
                        self.authority_file], check=True, capture_output=True)
        self.authority = subprocess.run(["openssl", "pkey", "-in", self.authority_file, "-pubout", "-outform", "DER"],
                                        check=True, capture_output=True).stdout[-65:]
        self.reference, self.template = os.urandom(32), template
        self.authority_area = (bytes.fromhex("0023000b00040040000000100010") + bytes.fromhex("00030010")
                               + counted(self.authority[1:33]) + counted(self.authority[33:]))
        policy = sha256(sha256(bytes(32) + bytes.fromhex("00000160000b") + sha256(self.authority_area))
                        + self.reference)
        self.attestation_key, self.attestation_area, *_ = tpm.primary(ENDORSEMENT, area("00050472", b"", "0018000b"))
        self.key, self.public, self.creation, self.ticket = tpm.primary(OWNER, area("000604b2", policy, "0010"))
        self.point = point(self.public)
        self.id = sha256(self.point)
        information = INFORMATION + self.point
        self.pem = subprocess.run(["openssl", "pkey", "-pubin", "-inform", "der"], input=information, check=True,
                                  capture_output=True).stdout.decode()
        endorsement, public, *_ = tpm.primary(ENDORSEMENT, template)
        tpm.flush(endorsement)
        certificates = certificates(public) if callable(certificates) else certificates
        self.request = (b"\1\1" + counted(public) + bytes([len(certificates)])
                        + b"".join(counted(certificate) for certificate in certificates)
                        + counted(self.attestation_area))

    def sign(self, message):
        authority, _ = self.tpm.run(0x167, [], b"\0\0" + counted(self.authority_area) + struct.pack(">I", OWNER),
                                    has_handle=True)
        session, nonce = self.tpm.policy_session()
        approval = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.authority_file],
                                  input=nonce + bytes(4) + self.reference, check=True, capture_output=True).stdout
        r_length = approval[3]
        numbers = approval[4:4 + r_length], approval[6 + r_length:]
        signature = bytes.fromhex("0018000b") + b"".join(
            counted(number.lstrip(b"\0").rjust(32, b"\0")) for number in numbers)
        self.tpm.run(0x160, [authority, session], counted(nonce) + b"\0\0" + counted(self.reference) + bytes(4)
                     + signature)
        reply = self.tpm.run(0x15D, [self.key], counted(sha256(message)) + bytes.fromhex("0018000b8024400000070000"),
                             [session])
        reply.take(4)
        self.tpm.flush(authority)
        return der(reply.sized(), reply.sized())

    def begin(self, user=None):
        """Sends the request of the enrolment; returns status and reply."""
        return self.server.post("/v1/attestations", {"user": user or self.user, "request": text(self.request)})

    def answer(self, challenge):
        """The answer of the TPM to the challenge of an enrolment."""
        # The TPM has room for three keys.
        endorsement, *_ = self.tpm.primary(ENDORSEMENT, self.template)
        session, _ = self.tpm.policy_session()
        self.tpm.run(0x151, [ENDORSEMENT, session], b"\0\0" * 3 + bytes(4), [PASSWORD])
        secret = self.tpm.run(0x147, [self.attestation_key, endorsement], challenge[2:], [PASSWORD, session]).sized()
        self.tpm.flush(endorsement)
        return b"\1\3" + counted(secret)

    def statement(self, nonce):
        """The proof for the key: what the TPM says about its creation."""
        reply = self.tpm.run(0x14A, [self.attestation_key, self.key],
                             counted(nonce) + counted(self.creation) + b"\0\x10" + self.ticket, [PASSWORD])
        statement = reply.sized()
        reply.take(4)
        r, s = reply.sized().rjust(32, b"\0"), reply.sized().rjust(32, b"\0")
        return b"\1\4" + counted(self.public) + counted(statement) + r + s + self.authority + self.reference + b"\0"

    def evidence(self, enrolment, answer, message=None):
        nonce = sha256(b"latchkey attestation nonce 1\0" + (message or self.signed))
        return {"enrolment": enrolment, "answer": text(answer), "proof": text(self.statement(nonce))}

    def attested_registration(self, code):
        """The body that registers the key with evidence."""
        status, reply = self.begin()
        assert status == 200, reply
        answer = self.answer(decoded(reply["challenge"]))
        body = self.registration(code) | {"tier": "tpm"}
        return body | {"attestation": self.evidence(reply["enrolment"], answer)}


def decoded(value):
    return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))
