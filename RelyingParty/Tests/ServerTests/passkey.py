# SPDX-License-Identifier: Apache-2.0
"""An authenticator of passkeys and a browser, written from WebAuthn Level 3 and docs/reference/relying-party.md.

Every part can be replaced, so that a test can alter one of them. Signatures are made by the command openssl.
"""
import hashlib
import json
import os
import struct
import subprocess

from server import Device, text

USER_PRESENT, USER_VERIFIED, ELIGIBLE, BACKED_UP, ATTESTED, EXTENDED = 1, 4, 8, 16, 64, 128


def head(major, number):
    """The first bytes of a value of CBOR, in the shortest form (RFC 8949, section 3)."""
    if number < 24:
        return bytes([major << 5 | number])
    for information, size, letter in ((24, 1, "B"), (25, 2, "H"), (26, 4, "I"), (27, 8, "Q")):
        if number < 1 << 8 * size:
            return bytes([major << 5 | information]) + struct.pack(">" + letter, number)
    raise ValueError(number)


def cbor(value):
    """CBOR in the canonical form of CTAP2, if the keys of dictionaries are given in its order."""
    if isinstance(value, bool) or value is None:
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    return head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())


def sha256(data):
    return hashlib.sha256(data).digest()


class Passkey(Device):
    """A key of an authenticator, and the browser that shows its page."""

    def __init__(self, server, user, counter=0, flags=USER_PRESENT | USER_VERIFIED, device="laptop"):
        super().__init__(server, user)
        self.credential, self.authenticator = os.urandom(32), bytes(range(16))
        self.origin, self.flags, self.counter, self.device = "https://" + server.party, flags, counter, device
        self.handle = None

    def cose(self):
        return cbor({1: 2, 3: -7, -1: 1, -2: self.point[1:33], -3: self.point[33:]})

    def data(self, flags=None, party=None, counter=None, credential=b"", extensions=b""):
        """Authenticator data (section 6.1). Each one counts, unless the authenticator does not."""
        if counter is None:
            counter = self.counter
            self.counter += 1 if self.counter else 0
        flags = self.flags if flags is None else flags
        return (sha256((party or self.server.party).encode())
                + bytes([flags | (ATTESTED if credential else 0) | (EXTENDED if extensions else 0)])
                + struct.pack(">I", counter) + credential + extensions)

    def attested(self, identifier=None, key=None):
        identifier = self.credential if identifier is None else identifier
        return self.authenticator + struct.pack(">H", len(identifier)) + identifier + (key or self.cose())

    def client_data(self, operation, challenge, **members):
        values = {"type": "webauthn." + operation, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(values | members, separators=(",", ":")).encode()

    def challenge(self, purpose):
        body = {"purpose": purpose} | ({"user": self.user} if purpose == "register" else {})
        status, reply = self.server.post("/v1/passkeys/challenges", body)
        assert status == 200, reply
        self.handle = reply.get("userHandle", self.handle)
        return reply["challenge"]

    def statement(self, data, client):
        """The format and the statement of `none` (section 8.7)."""
        return "none", {}

    def made(self, client=None, data=None, statement=None):
        """What `navigator.credentials.create()` returns."""
        client = client or self.client_data("create", self.challenge("register"))
        data = data or self.data(credential=self.attested())
        name, value = statement or self.statement(data, client)
        attestation = cbor({"fmt": name, "attStmt": value, "authData": data})
        return self.to_json({"clientDataJSON": text(client), "attestationObject": text(attestation),
                             # What servers without a reader of CBOR use.
                             "authenticatorData": text(data), "publicKeyAlgorithm": -7, "transports": ["usb", "x-new"]})

    def to_json(self, response):
        """`PublicKeyCredential.toJSON()` (section 5.1.4), with a member that a later specification could have."""
        return {"id": text(self.credential), "rawId": text(self.credential), "type": "public-key", "response": response,
                "authenticatorAttachment": "cross-platform", "later": None,
                "clientExtensionResults": {"credProps": {"rk": True}, "prf": {"enabled": False}}}

    def registration(self, code=None, **made):
        body = {"user": self.user, "device": self.device, "credential": self.made(**made)}
        return body | ({"enrollmentCode": code} if code else {})

    def register(self, **made):
        code = self.server.command("code", self.user)
        status, reply = self.server.post("/v1/passkeys", self.registration(code, **made))
        assert status == 201, reply
        assert reply["key"] == text(self.id), reply
        return self

    def assertion(self, challenge, client=None, data=None, **response):
        """What `navigator.credentials.get()` returns."""
        client = client or self.client_data("get", challenge)
        data = data or self.data()
        return self.to_json({"clientDataJSON": text(client), "authenticatorData": text(data),
                             "signature": text(self.sign(data + sha256(client)))} | response)

    def sign_in_body(self, **parts):
        return {"credential": self.assertion(self.challenge("login"), **parts)}

    def chosen_body(self, **parts):
        """A sign-in for which the browser let the person choose the passkey: the authenticator says whose it is."""
        return self.sign_in_body(userHandle=self.handle, **parts)

    def sign_in(self, **parts):
        return self.server.post("/v1/passkeys/sessions", self.sign_in_body(**parts))

    def proof(self, purpose="step-up", context="", **parts):
        """The members of a request that a key signs."""
        status, reply = self.server.post(
            "/v1/challenges", {"user": self.user, "key": text(self.id), "purpose": purpose, "context": context})
        assert status == 200, reply
        return {"user": self.user, "key": text(self.id), "credential": self.assertion(reply["challenge"], **parts)}


def changed(body, credential=None, **response):
    """A body with another credential, or with other members of its response."""
    json = body["credential"]
    if credential is not None:
        json = json | {"id": credential, "rawId": credential}
    return body | {"credential": json | {"response": json["response"] | response}}


class AttestedPasskey(Passkey):
    """A passkey whose authenticator signs with its own key, or with one of its maker (section 8.2)."""

    SUBJECT = "/C=AA/O=Maker/OU=Authenticator Attestation/CN=Model"

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.maker = None

    def certify(self, subject=SUBJECT, extensions=None, authority="FALSE", version=3, curve="P-256", key=None):
        """Makes the key of the maker, unless one is given, with a certificate that it signs itself."""
        self.maker = key or Device(self.server, self.user, curve)
        certificate = self.maker.file + ".der"
        aaguid = "DER:0410" + self.authenticator.hex()
        lines = [f"basicConstraints = critical,CA:{authority}"] if authority else []
        lines += [f"1.3.6.1.4.1.45724.1.1.4 = {aaguid}"] if extensions is None else extensions
        configuration = self.maker.file + ".cnf"
        with open(configuration, "w") as file:
            file.write("[req]\ndistinguished_name = name\n[name]\n[extended]\n" + "\n".join(lines) + "\n")
        extended = ["-extensions", "extended"] if lines and version == 3 else []
        subprocess.run(["openssl", "req", "-new", "-x509", "-utf8", "-key", self.maker.file, "-subj", subject,
                        "-days", "2", "-config", configuration, *extended, "-outform", "DER", "-out", certificate],
                       check=True, capture_output=True)
        with open(certificate, "rb") as file:
            self.certificate = file.read()
        return self

    def statement(self, data, client):
        signer = self.maker or self
        value = {"alg": -7, "sig": signer.sign(data + sha256(client))}
        return "packed", value | ({"x5c": [self.certificate]} if self.maker else {})


class OtherPasskey(AttestedPasskey):
    """A passkey of another algorithm than ES256, whose maker has a key of the same one."""

    def __init__(self, server, user, counter=0, statement="self"):
        super().__init__(server, user, counter=counter)
        self.kind = statement
        self.take_key(self.new_key(server, user))
        if statement == "certificate":
            self.certify(key=self.new_key(server, user))

    def new_key(self, server, user):
        return Device(server, user, options=self.OPTIONS)

    def take_key(self, key):
        self.file = key.file
        self.information = subprocess.run(["openssl", "pkey", "-in", self.file, "-pubout", "-outform", "DER"], check=True,
                                          capture_output=True).stdout
        self.id = sha256(self.stored)

    def statement(self, data, client):
        if self.kind == "none":
            return "none", {}
        value = {"alg": self.ALGORITHM, "sig": self.sign(data + sha256(client), (self.maker or self).file)}
        return "packed", value | ({"x5c": [self.certificate]} if self.maker else {})


class RSAPasskey(OtherPasskey):
    """RS256, as Windows Hello has it (RFC 8230, section 4)."""

    ALGORITHM, NAME = -257, "RS256"
    OPTIONS = "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"

    @property
    def stored(self):
        return self.information

    def cose(self):
        return cbor({1: 3, 3: -257, -1: self.information[-261:-5], -2: b"\1\0\1"})

    def sign(self, message, file=None):
        return subprocess.run(["openssl", "dgst", "-sha256", "-sign", file or self.file], input=message, check=True,
                              capture_output=True).stdout


class EdwardsPasskey(OtherPasskey):
    """EdDSA on Ed25519 (RFC 9053, section 7.2)."""

    ALGORITHM, NAME = -8, "EdDSA"
    OPTIONS = "-algorithm", "ED25519"

    @property
    def stored(self):
        return self.information[-32:]

    def cose(self):
        return cbor({1: 1, 3: -8, -1: 6, -2: self.stored})

    def sign(self, message, file=None):
        path = f"{self.server.scratch.name}/{os.urandom(8).hex()}"
        with open(path, "wb") as output:
            output.write(message)
        return subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", file or self.file, "-in", path],
                              check=True, capture_output=True).stdout
