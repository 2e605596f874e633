# SPDX-License-Identifier: Apache-2.0
"""Computes the policy of a TPM's key for each row of docs/reference/policy.md ("Keys of a TPM"), without Latchkey's code: from that
table and the TPM 2.0 Library Specification, part 1, section 19.7, and part 3, section 23.

usage: python3 tpm_policies.py >tpm-policies.tsv
"""

import hashlib

SIGNED, SECRET, AUTH_VALUE, OR = 0x160, 0x151, 0x16B, 0x171
# Bits of SecAccessControlCreateFlags.
PRESENCE, ANY, SET, PASSCODE, EITHER, ALL, USAGE, PASSWORD = 1, 2, 8, 16, 1 << 14, 1 << 15, 1 << 30, 1 << 31
# The generator of P-256, which is a valid public key.
X = bytes.fromhex("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
Y = bytes.fromhex("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
USER, STORE, JUDGE, CLASS = 1001, b"\x53" * 16, b"\0\x0b" + b"\x4a" * 32, 4
ENROLMENT, EPOCH = b"\5\6", b"\xee" * 16

# The columns of the table: flags, and how the policy demands the passcode if an index of the TPM verifies it.
SIGNED_ONLY, SECRET_ONLY, SIGNED_OR_SECRET, BOTH = range(4)
ROWS = [("no constraint", 0, SIGNED_ONLY), ("userPresence", PRESENCE, SIGNED_OR_SECRET), ("biometryAny", ANY, SIGNED_ONLY),
        ("devicePasscode", PASSCODE, SECRET_ONLY), ("biometryAny or devicePasscode", ANY | PASSCODE | EITHER, SIGNED_OR_SECRET),
        ("biometryAny and devicePasscode", ANY | PASSCODE | ALL, BOTH), ("biometryCurrentSet", SET, SIGNED_ONLY),
        ("biometryCurrentSet or devicePasscode", SET | PASSCODE | EITHER, SIGNED_OR_SECRET),
        ("biometryCurrentSet and devicePasscode", SET | PASSCODE | ALL, BOTH)]


def number(value, size=4):
    return value.to_bytes(size, "big")


def sized(data):
    return number(len(data), 2) + data


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def authority():
    """The name of the authority's key: ECC, SHA-256, sign and userWithAuth, no policy, NULL, NULL, P-256, NULL."""
    return b"\0\x0b" + digest(
        bytes.fromhex("0023000b000400400000" "00100010" "00030010"), sized(X), sized(Y))


def reference(flags, part, epoch):
    label = b"latchkey key policy v1" if part == SIGNED_ONLY else b"latchkey key policy v2"
    is_bound = flags & SET
    return digest(label, bytes([part]), number(USER), sized(STORE), bytes([CLASS]), number(flags),
                  sized(ENROLMENT if is_bound else b""), sized(epoch) if is_bound and epoch else b"")


def extended(policy, command, name, ref):
    return digest(digest(policy, number(command), name), ref)


def policy(flags, part, ref):
    start = bytes(32)
    signed, secret = (extended(start, *step, ref) for step in ((SIGNED, authority()), (SECRET, JUDGE)))
    found = {SIGNED_ONLY: signed, SECRET_ONLY: secret, SIGNED_OR_SECRET: digest(start, number(OR), signed, secret),
             BOTH: extended(secret, SIGNED, authority(), ref)}[part]
    return digest(found, number(AUTH_VALUE)) if flags & PASSWORD else found


def main():
    print("# access control, flags, passcode demanded of the TPM, epoch, reference, policy; made by tpm_policies.py")
    for name, flags, with_index in ROWS:
        for extra, words in ((0, ""), (PASSWORD, " with applicationPassword")):
            # `.and` joins the password to a constraint that is neither userPresence nor a choice.
            joined = flags | USAGE | extra | (ALL if extra and flags and not flags & (EITHER | PRESENCE) else 0)
            for part in sorted({SIGNED_ONLY, with_index}):
                for epoch in (b"", EPOCH) if flags & SET else (b"",):
                    ref = reference(joined, part, epoch)
                    print(name + words, f"{joined:08x}", part, epoch.hex() or "-", ref.hex(),
                          policy(joined, part, ref).hex(), sep="\t")


main()
