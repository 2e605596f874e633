#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes test vectors of WebAuthn Level 3, section "Test Vectors", from the seeds that it names, with Python's library only.

Prints the lines of webauthn.tsv: name of the vector, name of the value, hexadecimal digits. The curves, RSA, RFC 6979, DER and CBOR
are written here from their specifications, so nothing is shared with the Swift code or with libcrypto.
"""
import base64
import hashlib
import hmac
import struct

# P-256 (SEC 2, section 2.4.2).
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551
G = (0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296,
     0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5)


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0] and (a[1] + b[1]) % P == 0:
        return None
    slope = ((3 * a[0]**2 - 3) * pow(2 * a[1], -1, P) if a == b else (b[1] - a[1]) * pow(b[0] - a[0], -1, P)) % P
    x = (slope**2 - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(number, point):
    result = None
    while number:
        if number & 1:
            result = add(result, point)
        point, number = add(point, point), number >> 1
    return result


def wide(number):
    return number.to_bytes(32, "big")


def sha256(data):
    return hashlib.sha256(data).digest()


def mac(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()


def nonces(private, digest):
    """The candidates of RFC 6979, section 3.2."""
    seed = private + wide(int.from_bytes(digest, "big") % N)
    value, key = b"\x01" * 32, bytes(32)
    for mark in (b"\x00", b"\x01"):
        key = mac(key, value + mark + seed)
        value = mac(key, value)
    while True:
        value = mac(key, value)
        yield int.from_bytes(value, "big")
        key = mac(key, value + b"\x00")
        value = mac(key, value)


def der(tag, content):
    size = len(content)
    length = bytes([size]) if size < 128 else (b"\x81" + bytes([size]) if size < 256 else b"\x82" + struct.pack(">H", size))
    return bytes([tag]) + length + content


def number(value):
    return der(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def sign(private, message):
    digest, secret = sha256(message), int.from_bytes(private, "big")
    for nonce in nonces(private, digest):
        if 0 < nonce < N:
            r = multiply(nonce, G)[0] % N
            s = pow(nonce, -1, N) * (int.from_bytes(digest, "big") + r * secret) % N
            return der(0x30, number(r) + number(s))


# Edwards25519 (RFC 8032, section 5.1). Points are pairs of x and y, which is slow and short.
Q = 2**255 - 19
D = -121665 * pow(121666, -1, Q) % Q
BASE = (15112221349535400772501151409588531511454012693041857206046113283949847762202,
        46316835694926478169428394003475163141307993866256225615783033603165251855960)
ORDER = 2**252 + 27742317777372353535851937790883648493


def edwards_add(a, b):
    product = D * a[0] * b[0] * a[1] * b[1]
    return ((a[0] * b[1] + a[1] * b[0]) * pow(1 + product, -1, Q) % Q,
            (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, Q) % Q)


def edwards_multiply(number):
    result, point = (0, 1), BASE
    while number:
        if number & 1:
            result = edwards_add(result, point)
        point, number = edwards_add(point, point), number >> 1
    return (result[1] | (result[0] & 1) << 255).to_bytes(32, "little")


def edwards_sign(private, message):
    """The public key and a signature (sections 5.1.5 and 5.1.6)."""
    digest = hashlib.sha512(private).digest()
    secret = int.from_bytes(digest[:32], "little") & (1 << 254) - 8 | 1 << 254
    key = edwards_multiply(secret)
    scalar = lambda *parts: int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % ORDER
    nonce = scalar(digest[32:], message)
    point = edwards_multiply(nonce)
    return key, point + ((nonce + scalar(point, key, message) * secret) % ORDER).to_bytes(32, "little")


# The two smallest Mersenne primes of at least 1024 bits.
PRIMES = 2**1279 - 1, 2**2203 - 1
MODULUS = PRIMES[0] * PRIMES[1]
DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


def rsa_sign(message):
    """RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017, section 8.2.1)."""
    size, end = (MODULUS.bit_length() + 7) // 8, DIGEST_INFO + sha256(message)
    padded = b"\0\1" + b"\xff" * (size - 3 - len(end)) + b"\0" + end
    exponent = pow(65537, -1, (PRIMES[0] - 1) * (PRIMES[1] - 1))
    return pow(int.from_bytes(padded, "big"), exponent, MODULUS).to_bytes(size, "big")


def public(private):
    x, y = multiply(int.from_bytes(private, "big"), G)
    return wide(x), wide(y)


def head(major, value):
    if value < 24:
        return bytes([major << 5 | value])
    if value < 256:
        return bytes([major << 5 | 24, value])
    return bytes([major << 5 | 25]) + struct.pack(">H", value)


def cbor(value):
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value)) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(cbor, value))
    return head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())


class Seeds:
    """Values of HKDF-SHA-256 (RFC 5869), whose salts are counted."""

    def __init__(self, name):
        self.name, self.count = name.encode(), 0

    def take(self, size=32):
        extracted = mac(bytes([self.count]), b"WebAuthn test vectors")
        self.count += 1
        result, block, index = b"", b"", 0
        while len(result) < size:
            index += 1
            block = mac(extracted, block + self.name + bytes([index]))
            result += block
        return result[:size]


def name(*parts):
    """A name of X.501; the country is a PrintableString."""
    identifiers = {"CN": b"\x55\x04\x03", "O": b"\x55\x04\x0a", "OU": b"\x55\x04\x0b", "C": b"\x55\x04\x06"}
    return der(0x30, b"".join(
        der(0x31, der(0x30, der(6, identifiers[kind]) + der(0x13 if kind == "C" else 0x0c, text.encode())))
        for kind, text in parts))


ECDSA = der(0x30, der(6, bytes.fromhex("2a8648ce3d040302")))
CURVE = der(0x30, der(6, bytes.fromhex("2a8648ce3d0201")) + der(6, bytes.fromhex("2a8648ce3d030107")))
UNIT = "Authenticator Attestation"


def attestation_certificate(private, serial):
    """The certificate of an attestation key, issued by the authority of all vectors."""
    authority = Seeds("Attestation CA").take()
    keys = [b"\x04" + b"".join(public(key)) for key in (private, authority)]
    issuer, subject = (name(("CN", "WebAuthn test vectors"), ("O", "W3C"), ("OU", unit), ("C", "AA"))
                       for unit in (UNIT + " CA", UNIT))
    own, issuing = (hashlib.sha1(key).digest() for key in keys)
    extensions = [
        der(6, b"\x55\x1d\x13") + der(1, b"\xff") + der(4, der(0x30, b"")),
        der(6, b"\x55\x1d\x0f") + der(1, b"\xff") + der(4, der(3, b"\x07\x80")),
        der(6, b"\x55\x1d\x0e") + der(4, der(4, own)),
        der(6, b"\x55\x1d\x23") + der(4, der(0x30, der(0x80, issuing)))]
    validity = der(0x17, b"240101000000Z") + der(0x18, b"30240101000000Z")
    body = der(0x30, der(0xa0, number(2)) + number(int.from_bytes(serial, "big")) + ECDSA + issuer
               + der(0x30, validity) + subject + der(0x30, CURVE + der(3, b"\x00" + keys[0]))
               + der(0xa3, der(0x30, b"".join(der(0x30, extension) for extension in extensions))))
    return der(0x30, body + ECDSA + der(3, b"\x00" + sign(authority, body)))


def client_data(kind, challenge, extra, framing):
    encode = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    text = f'{{"type":"webauthn.{kind}","challenge":"{encode(challenge)}","origin":"https://example.org",{framing}'
    if extra:
        text += (',"extraData":"clientDataJSON may be extended with additional fields in the future, such as this: '
                 + encode(extra) + '"')
    return (text + "}").encode()


def credential(seeds, algorithm):
    """The key in the form of COSE, and the function that signs with it."""
    if algorithm == "RS256":
        return {1: 3, 3: -257, -1: MODULUS.to_bytes((MODULUS.bit_length() + 7) // 8, "big"), -2: b"\x01\x00\x01"}, rsa_sign
    private = seeds.take()
    if algorithm == "EdDSA":
        return {1: 1, 3: -8, -1: 6, -2: edwards_sign(private, b"")[0]}, lambda message: edwards_sign(private, message)[1]
    x, y = public(private)
    return {1: 2, 3: -7, -1: 1, -2: x, -3: y}, lambda message: sign(private, message)


def vector(title, packed=None, framing='"crossOrigin":false', size=32):
    seeds = Seeds(title)
    challenge = seeds.take()
    key, sign_with_key = credential(seeds, title.split(".")[1])
    extra = seeds.take(16) if seeds.take(1)[0] & 1 else None
    client = client_data("create", challenge, extra, framing)
    aaguid, identifier = seeds.take(16), seeds.take(size)
    flags = seeds.take(1)[0] & 0x1c
    flags &= 0x1c if flags & 8 else 4
    data = (sha256(b"example.org") + bytes([0x41 | flags]) + bytes(4) + aaguid + struct.pack(">H", size) + identifier
            + cbor(key))
    statement = {}
    if packed == "self":
        statement = {"alg": -7, "sig": sign_with_key(data + sha256(client))}
    elif packed == "certificate":
        signer, serial = seeds.take(), seeds.take(16)
        statement = {"alg": -7, "sig": sign(signer, data + sha256(client)),
                     "x5c": [attestation_certificate(signer, serial)]}
    form = "packed" if packed else "none"
    yield "challenge", challenge
    yield "aaguid", aaguid
    yield "credential", identifier
    yield "clientDataJSON", client
    yield "attestationObject", cbor({"fmt": form, "attStmt": statement, "authData": data})
    challenge = seeds.take()
    extra = seeds.take(16) if seeds.take(1)[0] & 1 else None
    client = client_data("get", challenge, extra, framing)
    state = seeds.take(1)[0] & (0x14 if flags & 8 else 4)
    data = sha256(b"example.org") + bytes([1 | flags & 8 | state]) + bytes(4)
    yield "assertion-challenge", challenge
    yield "assertion-clientDataJSON", client
    yield "assertion-authenticatorData", data
    yield "assertion-signature", sign_with_key(data + sha256(client))


def main():
    for title, options in (
            ("none.ES256", {}), ("packed-self.ES256", {"packed": "self"}),
            ("none.ES256.crossOrigin", {"framing": '"crossOrigin":true'}),
            ("none.ES256.topOrigin", {"framing": '"crossOrigin":true,"topOrigin":"https://example.com"'}),
            ("none.ES256.long-credential-id", {"size": 1023}), ("packed.ES256", {"packed": "certificate"}),
            ("packed.RS256", {"packed": "certificate"}), ("packed.EdDSA", {"packed": "certificate"})):
        for part, value in vector(title, **options):
            print(f"{title}\t{part}\t{value.hex()}")


main()
