# SPDX-License-Identifier: Apache-2.0
"""The commands in a log of swtpm, as the TPM got them: after what a resource manager has added."""

import re

TEST_RESULT, CONTEXT_LOAD, CONTEXT_SAVE, FLUSH, POLICY_SECRET = 0x17C, 0x161, 0x162, 0x165, 0x151
GET_RANDOM = 0x17B
NAMES = {TEST_RESULT: "GetTestResult", 0x181: "ReadClock", CONTEXT_LOAD: "ContextLoad", CONTEXT_SAVE: "ContextSave", FLUSH: "FlushContext",
         POLICY_SECRET: "PolicySecret", GET_RANDOM: "GetRandom", 0x157: "Load", 0x15D: "Sign", 0x160: "PolicySigned",
         0x176: "StartAuthSession", 0x173: "ReadPublic", 0x167: "LoadExternal", 0x180: "PolicyRestart",
         0x17A: "GetCapability", 0x169: "NV_ReadPublic", 0x14E: "NV_Read", 0x171: "PolicyOR"}
# Milliseconds that a published firmware TPM takes for a command; 30 for all others. What decrypts or makes a key, what
# computes with a private key, what writes to the non-volatile memory, and the start of a session.
MILLISECONDS = {**dict.fromkeys((0x157, 0x153, 0x131), 600), **dict.fromkeys((0x15D, 0x154), 120),
                **dict.fromkeys((0x12A, 0x122, 0x134, 0x137, 0x13B, 0x120), 100), 0x176: 40}


def milliseconds(codes):
    return sum(MILLISECONDS.get(code, 30) for code in codes)


def commands(log):
    """Pairs of the code of a command and the code of its response.

    TPM2_GetRandom without a session is left out: the kernel asks for random numbers of its own accord.
    """
    found, sent = [], None
    for kind, text in re.findall(r"SWTPM_IO_(Read|Write): length \d+\n((?:[ \t]*(?:[0-9A-F]{2} )+\n)+)", log):
        head = bytes.fromhex("".join(text.split()))
        if kind == "Read":
            sent = (int.from_bytes(head[6:10], "big"), head[:2])
        elif sent is not None:
            if sent != (GET_RANDOM, b"\x80\x01"):
                found.append((sent[0], int.from_bytes(head[6:10], "big")))
            sent = None
    return found


def names(codes):
    return " ".join(NAMES.get(code, hex(code)) for code in codes)
