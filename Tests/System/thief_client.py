# SPDX-License-Identifier: Apache-2.0
"""A hostile latchkeyd that tries to use keys of a TPM. It runs as the user of latchkeyd in the machine, and understands
the calls of attack_client.py too."""

import os
import sys

import attack_client
from attack_client import ALICE, Service
from chip_client import (
    AGREE, CHANGE_PASSWORD, POLICY_COMMAND, POLICY_PASSWORD, POLICY_RESTART, POLICY_VALUE, SIGN, Chip, digest, signing,
    sized, word)


class Thief(Service):
    """A hostile latchkeyd: the connection to authd for a user. The connection to the TPM, the store and the keys are those of
    all its connections."""

    chip, store, keys = None, os.urandom(16), {}

    def __init__(self, uid=ALICE):
        super().__init__(uid)
        Thief.chip = Thief.chip or Chip()

    def make(self, uid, rule, label):
        """Makes a key with a rule, `[accessibility, constraints]`, as an honest latchkeyd does."""
        reply = self.call(7, {0: uid, 1: self.store, 2: rule})
        if reply[0] != 4:
            raise RuntimeError(str(reply))
        authority, reference = reply[1][0], reply[1][1]
        self.keys[label] = (authority, reference, self.chip.create(authority, reference), uid, rule)

    def fields(self, label, nonce, parameters, tokens=(), code=SIGN, **changed):
        """The fields of approve; `changed` replaces fields by their number, as `f3`."""
        _, reference, key, uid, rule = self.keys[label]
        fields = {0: uid, 1: self.store, 2: rule, 3: key, 4: code, 5: parameters, 6: reference, 7: nonce,
                  8: list(tokens), 10: 0}
        fields.update({int(field[1:]): value for field, value in changed.items()})
        return fields

    def approval(self, label, tokens=(), code=SIGN, parameters=None, **changed):
        """Asks for an approval in a new session: `[session, nonce, reply]`."""
        session, nonce = self.chip.session()
        parameters = signing(digest(b"stolen")) if parameters is None else parameters
        reply = self.call(8, self.fields(label, nonce, parameters, tokens, code, **changed))
        return [session, nonce, reply]

    def attempt(self, label, tokens=(), code=SIGN, parameters=None, target=None, used=None, **changed):
        """Asks for an approval of a command with a key, and carries out a command with `target`: "used", the number of
        authd's refusal, or the code of the TPM's."""
        session, nonce, reply = self.approval(label, tokens, code, parameters, **changed)
        try:
            if not isinstance(reply, list) or reply[0] != 5:
                return "ended" if reply == "ended" else "late" if reply is None else reply[1][0]
            parameters = signing(digest(b"stolen")) if parameters is None else parameters
            return self.carry_out(target or label, session, nonce, reply[1][1], parameters, code, used)
        finally:
            self.chip.flush(session)

    def carry_out(self, label, session, nonce, signature, parameters=None, code=SIGN, used=None, seconds=60,
                  whole=None):
        """Presents a signature as an approval, and uses the key; "used", or the code of the TPM's refusal."""
        authority, reference, key, _, _ = self.keys[label]
        parameters = signing(digest(b"stolen")) if parameters is None else parameters
        try:
            self.chip.approve(session, nonce, authority, reference, code, key, parameters, signature, seconds, whole)
            self.chip.use(session, code, key, parameters if used is None else used)
        except RuntimeError as error:
            return str(error)
        return "used"

    def replay(self, label, tokens):
        """One approval in its session twice, and then in another one: what each gave."""
        session, nonce, reply = self.approval(label, tokens)
        signature = reply[1][1]
        seen = [self.carry_out(label, session, nonce, signature) for _ in range(2)]
        other, own = self.chip.session()
        seen += [self.carry_out(label, other, own, signature), self.carry_out(label, other, nonce, signature)]
        self.chip.flush(session)
        self.chip.flush(other)
        return seen

    def altered(self, label, tokens):
        """An approval whose parts are changed before it is presented: what each gave."""
        session, nonce, reply = self.approval(label, tokens)
        signature, seen = reply[1][1], {}
        for change, values in (
                ("another text", {"parameters": signing(digest(b"another"))}),
                ("another command", {"used": signing(digest(b"another"))}),
                ("every command", {"whole": b""}), ("longer", {"seconds": 3600}), ("no expiry", {"seconds": 0}),
                ("every session", {"nonce": b""}),
                ("forged", {"signature": bytes(31) + b"\x01" + bytes(31) + b"\x01"})):
            arguments = {"nonce": nonce, "signature": signature, **values}
            seen[change] = self.carry_out(label, session, **arguments)
            self.chip.command(POLICY_RESTART, [session])
        seen["unchanged"] = self.carry_out(label, session, nonce, signature)
        self.chip.flush(session)
        return seen

    def without_approval(self, label):
        """Commands with the key under a password and under policies without the approval."""
        key, seen = self.keys[label][2], []
        session, _ = self.chip.session()
        for steps in ((), (POLICY_PASSWORD,), (POLICY_VALUE,), (POLICY_COMMAND,)):
            try:
                for step in steps:
                    self.chip.command(step, [session], word(SIGN) if step == POLICY_COMMAND else b"")
                self.chip.use(session, SIGN, key, signing(digest(b"stolen")))
                seen.append("used")
            except RuntimeError as error:
                seen.append(str(error))
            self.chip.command(POLICY_RESTART, [session])
        self.chip.flush(session)
        for code, parameters in ((SIGN, signing(digest(b"stolen"))), (CHANGE_PASSWORD, sized(b"mine"))):
            try:
                self.chip.use(None, code, key, parameters)
                seen.append("used")
            except RuntimeError as error:
                seen.append(str(error))
        return seen

    def crossed(self, label, tokens, point):
        """An approval of a signature, used for an agreement."""
        session, nonce, reply = self.approval(label, tokens)
        try:
            authority, reference, key, _, _ = self.keys[label]
            self.chip.approve(session, nonce, authority, reference, SIGN, key, signing(digest(b"stolen")), reply[1][1])
            self.chip.use(session, AGREE, key, point)
            return "used"
        except RuntimeError as error:
            return str(error)
        finally:
            self.chip.flush(session)

    def shifted(self, label, tokens, end):
        """Asks with a name of `end` bytes, and the rest of it at the beginning of the parameters."""
        key, parameters = self.keys[label][2], signing(digest(b"stolen"))
        return self.attempt(label, tokens, f3=key[:end], f5=key[end:] + parameters)

    def adopted(self, seconds):
        """Answers calls until authd asked for the adoption of an enrolment set and reported that it uses it; whether it
        did. A proof by the fingers of before counts until then."""
        before = len(self.seen)
        def is_used():
            sets = [fields.get(1) for _, _, (operation, fields) in self.seen[before:] if operation == 3]
            return bool(sets) and self.states[ALICE][1][0].get(1) == sets[-1]
        return self.pump(is_used, seconds)

    def bind(self, uid, rule):
        return self.call(7, {0: uid, 1: self.store, 2: rule})

    def evaluate_with(self, pid, plan, uses, purpose, challenge):
        """Evaluates a plan for a process of alice."""
        fields = self.evaluation(pid, plan=plan, purpose=purpose, challenge=challenge)
        return self.call(3, {**fields, 10: uses}, 20)

    def flood(self, label, count):
        """Sends approve calls without reading the answers."""
        session, nonce = self.chip.session()
        fields = self.fields(label, nonce, signing(digest(b"stolen")))
        for _ in range(count):
            self.send(8, fields)


# The process outside calls it by its name.
attack_client.Thief = Thief

if __name__ == "__main__":
    attack_client.serve(sys.stdin.buffer, sys.stdout.buffer)
