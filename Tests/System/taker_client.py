# SPDX-License-Identifier: Apache-2.0
"""Who has what latchkeyd had: prints for each key that it left in the TPM what each command with it gives, without
latchkey-authd. The commands are a use, and each way in which part 3 of the specification lets a key out."""

import json
import socket
import struct

from chip_client import (CHANGE_PASSWORD, GET_CAPABILITY, NONE, NULL, PLACE, POLICY_COMMAND, POLICY_VALUE, SIGN, Chip,
                         short, signing, sized, word)

DUPLICATE, READ = 0x14B, 0x173
# The storage root key of Latchkey, where the TCG provisions it.
ROOT = 0x81000001


def main():
    # Not with its constructor, which removes what is in the TPM.
    chip = Chip.__new__(Chip)
    chip.socket, chip.blobs = socket.socket(socket.AF_UNIX), {}
    chip.socket.connect(PLACE)
    answer = chip.command(GET_CAPABILITY, [], word(1) + word(0x80000000) + word(64))
    handles = struct.unpack(f">{struct.unpack('>I', answer[5:9])[0]}I", answer[9:])
    seen = []
    for handle in handles:
        kind, _, attributes = struct.unpack(">HHI", chip.command(READ, [handle])[2:10])
        # Made by this TPM, for signatures: not the public key of an authority.
        if kind == 0x23 and attributes & 1 << 18 and attributes & 1 << 5:
            seen.append([attributes, tries(chip, handle)])
    print(json.dumps(seen))


def tries(chip, key):
    """What each attempt with a key gave: "done", or the code of the TPM."""
    copied, text = sized(b"") + short(NULL), signing(bytes(32))

    def attempt(code, handles, parameters, *steps):
        """A command under a policy of these steps; without a step, under the empty password."""
        session = chip.session()[0] if steps else None
        try:
            for step, step_parameters in steps[1:]:
                chip.command(step, [session], step_parameters)
            chip.command(code, handles, parameters, [session])
            return "done"
        except RuntimeError as error:
            return str(error)
        finally:
            if session:
                chip.flush(session)

    return {
        "signed by password": attempt(SIGN, [key], text),
        "signed by an empty policy": attempt(SIGN, [key], text, ()),
        "signed by a policy with the password": attempt(SIGN, [key], text, (), (POLICY_VALUE, b"")),
        "signed by a policy for it": attempt(SIGN, [key], text, (), (POLICY_COMMAND, word(SIGN))),
        "password changed": attempt(CHANGE_PASSWORD, [key, ROOT], sized(b"mine")),
        "password changed by policy": attempt(CHANGE_PASSWORD, [key, ROOT], sized(b"mine"), ()),
        "duplicated by password": attempt(DUPLICATE, [key, NONE], copied),
        "duplicated by policy": attempt(DUPLICATE, [key, NONE], copied, ()),
        "duplicated by a policy for it": attempt(
            DUPLICATE, [key, NONE], copied, (), (POLICY_COMMAND, word(DUPLICATE))),
    }


main()
