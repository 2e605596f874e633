# SPDX-License-Identifier: Apache-2.0
"""The commands that a TPM got, after what a resource manager has added, in a log of swtpm; and what a firmware TPM takes for
them."""

import functools
import pathlib
import re

TEST_RESULT, CONTEXT_LOAD, CONTEXT_SAVE, FLUSH, POLICY_SECRET = 0x17C, 0x161, 0x162, 0x165, 0x151
GET_RANDOM = 0x17B
NAMES = {TEST_RESULT: "GetTestResult", 0x181: "ReadClock", CONTEXT_LOAD: "ContextLoad", CONTEXT_SAVE: "ContextSave", FLUSH: "FlushContext",
         POLICY_SECRET: "PolicySecret", GET_RANDOM: "GetRandom", 0x157: "Load", 0x15D: "Sign", 0x160: "PolicySigned",
         0x176: "StartAuthSession", 0x173: "ReadPublic", 0x167: "LoadExternal", 0x180: "PolicyRestart",
         0x17A: "GetCapability", 0x169: "NV_ReadPublic", 0x14E: "NV_Read", 0x171: "PolicyOR"}
TIMES = pathlib.Path(__file__).resolve().parents[1] / "Vectors/tpm-times.tsv"


@functools.cache
def rows(file=TIMES):
    return [line.split("\t") for line in pathlib.Path(file).read_text().splitlines() if not line.startswith("#")]


@functools.cache
def times(file=TIMES):
    """The milliseconds of each command by its code; those of all others by None."""
    return {None if code == "other" else int(code, 16): int(time)
            for kind, code, time, *_ in rows(file) if kind == "time"}


def milliseconds(codes, file=TIMES):
    known = times(file)
    return sum(known.get(code, known[None]) for code in codes)


def felt():
    """What is felt of a signature, by what the person does: the number of commands, and their milliseconds."""
    return {name: (int(count), int(time)) for kind, name, count, time in (row for row in rows() if row[0] == "felt")}


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
