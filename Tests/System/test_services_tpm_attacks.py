# SPDX-License-Identifier: Apache-2.0
"""A hostile latchkeyd that has the keys of the TPM as it stores them, and a connection to the TPM: it uses a key only
with an approval of latchkey-authd, for which a person gave a proof."""

import time

from chips import WithChip
from clients import CURRENT_SET, FOLDER, PASSCODE, PASSCODE_ONLY, Client, ClientTest
from machine import CHECKOUT, eventually, fact

SCRIPT = "thief_client.py"
ALICE, BOB = 1001, 1002
USAGE, ANY_FINGER = 1 << 30, 2
ALWAYS = 3
TOUCH, TYPED = [[1]], [[2]]
SIGN, AGREE, CERTIFY, UNSEAL, CREATE = 0x15D, 0x154, 0x148, 0x15E, 0x153
ENDED = "ended"
# Statuses of failures.
MALFORMED, NOT_PERMITTED, INVALID, WRONG_KEY, NOT_USABLE = 1, 7, 40, 48, 52
# Codes of the TPM: a policy that does not match, a wrong signature, a wrong nonce, no permission by password.
POLICY_FAILED, BAD_SIGNATURE, OTHER_NONCE, NO_PASSWORD = "TPM 0x99d", "TPM 0x5db", "TPM 0x1cf", "TPM 0x12f"
GENERATOR = bytes.fromhex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
    "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")


class ThiefTest(WithChip, ClientTest):
    """latchkeyd is stopped, and its user has a key that asks for a finger, made as latchkeyd makes one."""

    def setUp(self):
        super().setUp()
        _, self.prompts = self.person()
        for name in ("chip_client.py", SCRIPT):
            self.machine.copy(CHECKOUT / "Tests/System" / name, f"{FOLDER}/{name}")
        self.machine.run("systemctl", "stop", "latchkeyd.socket", "latchkeyd.service")
        self.addCleanup(self.machine.run, "systemctl", "start", "latchkeyd.socket")
        self.caller = self.client()
        self.thief = Client(lambda *argv, **options: self.machine.start(*argv, user="latchkey", **options),
                            "/usr/bin/python3", f"{FOLDER}/{SCRIPT}")
        self.addCleanup(self.thief.stop)
        self.connect()
        self.make("finger", ANY_FINGER)

    def connect(self):
        """A connection to authd, with alice attached as an honest latchkeyd would."""
        self.thief.do("drop", "thief")
        def connected():
            try:
                self.thief.do("Thief", kept="thief")
                return True
            except RuntimeError:
                return False
        self.assertTrue(eventually(connected))
        self.assertEqual(self.thief.do("thief.attach", ALICE, True), [0, {}])

    def connect_for_bob(self, constraints):
        """A connection of the thief for bob, `bob`, whose key has that name too."""
        self.thief.do("Thief", BOB, kept="bob")
        self.assertEqual(self.thief.do("bob.attach", BOB, False), [0, {}])
        self.thief.do("bob.make", BOB, [ALWAYS, USAGE | constraints], "bob")

    def make(self, label, constraints, accessibility=ALWAYS):
        self.thief.do("thief.make", ALICE, [accessibility, USAGE | constraints], label)

    def attempt(self, label="finger", *arguments, **options):
        return self.thief.do("thief.attempt", label, *arguments, **options)

    def token(self, plan=TOUCH, uses=0, purpose=0):
        """The challenge of the token of an evaluation that the person completed."""
        challenge = bytes.fromhex(f"{time.monotonic_ns():064x}")
        self.thief.begin("thief.evaluate_with", self.caller.do("process"), plan, uses, purpose, challenge)
        self.prompts.do("agent.await_prompt")
        if plan == TOUCH:
            self.finger("touch")
        else:
            self.prompts.do("agent.event", [5, PASSCODE])
        self.assertEqual(self.thief.end()[0], 3)
        while self.prompts.do("agent.follow", 5)[0] != 2:
            pass
        return challenge


class ApprovalTests(ThiefTest):
    def test_one_touch_permits_one_use(self):
        token = self.token()
        self.assertEqual(self.attempt("finger", [token]), "used")
        self.assertEqual(self.attempt("finger", [token]), NOT_PERMITTED)

    def test_without_a_token_nothing_is_approved(self):
        for tokens in ([], [bytes(32)], [b"\xff" * 32] * 2):
            self.assertEqual(self.attempt("finger", tokens), NOT_PERMITTED)

    def test_without_an_approval_the_TPM_uses_no_key(self):
        seen = self.thief.do("thief.without_approval", "finger")
        self.assertNotIn("used", seen)
        self.assertEqual(seen[0], POLICY_FAILED)

    def test_a_token_of_another_connection_is_not_one(self):
        token = self.token()
        self.connect()
        self.make("again", ANY_FINGER)
        self.assertEqual(self.attempt("again", [token]), NOT_PERMITTED)

    def test_an_approval_is_valid_once_and_in_its_session(self):
        seen = self.thief.do("thief.replay", "finger", [self.token()])
        self.assertEqual(seen[0], "used")
        self.assertNotIn("used", seen[1:])
        fact("a replayed approval", f"TPM: {', '.join(seen[1:])}")

    def test_an_approval_that_is_changed_opens_nothing(self):
        seen = self.thief.do("thief.altered", "finger", [self.token()])
        self.assertEqual(seen.pop("unchanged"), "used")
        self.assertNotIn("used", seen.values(), seen)
        self.assertEqual(seen["another command"], POLICY_FAILED)
        fact("a changed approval", f"TPM: {seen}")

    def test_an_approval_for_another_rule_does_not_open_the_key(self):
        self.make("free", 0)
        # The same key with the rule of one that needs no proof: the reference is another one.
        rule, reference = [ALWAYS, USAGE], self.thief.do("thief.keys")["free"][1]
        self.assertEqual(self.attempt("finger", f2=rule), WRONG_KEY)
        self.assertEqual(self.attempt("finger", f2=rule, f6=reference), BAD_SIGNATURE)
        self.assertEqual(self.attempt("free"), "used")
        # The approval for a key without a rule names that key and its rule.
        self.assertEqual(self.attempt("free", target="finger"), BAD_SIGNATURE)
        self.assertEqual(self.attempt("finger", [], f1=bytes(16)), WRONG_KEY)

    def test_the_passcode_does_not_release_a_key_of_the_finger_nor_a_touch_one_of_the_passcode(self):
        self.make("typed", PASSCODE_ONLY)
        typed = self.token(TYPED)
        self.assertEqual(self.attempt("finger", [typed]), NOT_PERMITTED)
        self.assertEqual(self.attempt("typed", [self.token()]), NOT_PERMITTED)
        self.assertEqual(self.attempt("typed", [typed]), "used")

    def test_a_token_for_one_key_releases_no_other(self):
        self.make("second", ANY_FINGER)
        token = self.token(uses=1)
        for _ in range(3):
            self.assertEqual(self.attempt("finger", [token]), "used")
        self.assertEqual(self.attempt("second", [token]), NOT_PERMITTED)
        self.assertEqual(self.attempt("finger", [token]), "used")

    def test_the_end_of_a_keys_name_cannot_be_moved(self):
        # The digest of a command does not say where the name ends and the parameters begin.
        self.make("second", ANY_FINGER)
        token = self.token(uses=1)
        for label in ("finger", "second"):
            for end in (0, 2, 33):
                seen = self.thief.do("thief.shifted", label, [token], end)
                self.assertNotEqual(seen, "used", f"{label} {end}")
        self.assertEqual(self.attempt("finger", [token]), "used")

    def test_a_token_for_another_purpose_is_none(self):
        for purpose in (1, 3, 5):
            self.assertEqual(self.attempt("finger", [self.token(TYPED, purpose=purpose)]), NOT_PERMITTED)

    def test_a_key_of_another_user_needs_a_proof_of_theirs(self):
        # A connection is for one user.
        self.assertEqual(self.thief.do("thief.attach", BOB, False)[1][0], NOT_PERMITTED)
        self.connect_for_bob(ANY_FINGER)
        token = self.token(uses=1)
        self.assertEqual(self.thief.do("bob.attempt", "bob", [token]), NOT_PERMITTED)
        # Alice's authority computes a reference with her number.
        self.assertEqual(self.attempt("bob", [token], f0=ALICE), WRONG_KEY)
        reference = self.thief.do("thief.keys")["finger"][1]
        self.assertIn(self.attempt("bob", [token], f0=ALICE, f6=reference), (BAD_SIGNATURE, POLICY_FAILED))
        self.assertEqual(self.attempt("finger", [token]), NOT_PERMITTED)

    def test_a_user_that_is_not_attached_has_no_approval(self):
        self.assertEqual(self.attempt("finger", f0=BOB), MALFORMED)
        self.assertEqual(self.attempt("finger", f0=0), MALFORMED)

    def test_changed_fingers_end_approvals(self):
        self.make("set", CURRENT_SET)
        token, other = self.token(uses=1), self.token(uses=1)
        self.assertEqual(self.attempt("set", [token]), "used")
        # authd asks latchkeyd to adopt the new set.
        self.thief.begin("thief.adopted", 5)
        self.finger("replace")
        self.assertIs(self.thief.end(), True)
        self.assertEqual(self.attempt("set", [token]), WRONG_KEY)
        self.assertEqual(self.attempt("finger", [other]), NOT_PERMITTED)
        self.assertEqual(self.attempt("set", [self.token()]), WRONG_KEY)
        self.assertEqual(self.attempt("finger", [self.token()]), "used")

    def test_a_lock_and_the_end_of_the_program_end_approvals(self):
        token = self.token(uses=1)
        self.assertEqual(self.thief.do("thief.change", 1), [0, {}])
        self.assertEqual(self.thief.do("thief.change", 2), [0, {}])
        self.assertEqual(self.attempt("finger", [token]), NOT_PERMITTED)
        token = self.token(uses=1)
        pid = self.caller.do("process")
        self.caller.stop()
        eventually(lambda: self.machine.run("test", "-e", f"/proc/{pid}", check=False).returncode == 1)
        self.assertEqual(self.attempt("finger", [token]), NOT_PERMITTED)


class RequestTests(ThiefTest):
    def test_only_signatures_and_agreements_are_approved(self):
        token = self.token(uses=1)
        for code in (CERTIFY, UNSEAL, CREATE, 0x150, 0x14B, 0x1, 0, 0xFFFFFFFF):
            self.assertEqual(self.attempt("finger", [token], code=code), NOT_PERMITTED, hex(code))
        point = bytes.fromhex("0044") + b"\0\x20" + GENERATOR[1:33] + b"\0\x20" + GENERATOR[33:]
        self.assertEqual(self.attempt("finger", [token], code=AGREE, parameters=point), "used")
        # An approved signature is none of an agreement, and the reverse.
        self.assertEqual(self.thief.do("thief.crossed", "finger", [token], point), POLICY_FAILED)

    def test_fields_of_other_sizes_approve_nothing(self):
        token = self.token(uses=1)
        for field, values in (("f7", (b"", bytes(15), bytes(65), bytes(100000))), ("f3", (bytes(65), bytes(1 << 20))),
                              ("f5", (bytes(513), bytes(1 << 20))), ("f6", (b"", bytes(31), bytes(33), bytes(1 << 16))),
                              ("f1", (b"", bytes(15), bytes(17))), ("f8", ([token] * 1000, [b""], [bytes(1 << 20)])),
                              ("f4", (-1, 1 << 32)), ("f2", ([0, USAGE], [ALWAYS, 0], [ALWAYS, 1 << 29], [ALWAYS])),
                              ("f9", ({}, {0: 1}, {0: 9, 1: bytes(34)}, {0: 1, 1: bytes(33)}, b"")),
                              ("f10", (-1, 1 << 32, "a session")), ("f0", (1 << 32, "alice"))):
            for value in values:
                with self.subTest(field=field, value=str(value)[:40]):
                    seen = self.attempt("finger", [token], **{field: value})
                    self.assertIn(seen, (ENDED, MALFORMED, NOT_PERMITTED, INVALID, WRONG_KEY, NOT_USABLE))
                    if seen == ENDED:
                        # A frame that cannot be read ends the connection, and all proofs with it.
                        self.connect()
                        self.make("finger", ANY_FINGER)
                        token = self.token(uses=1)
        for field in ("f3", "f5"):
            self.assertNotEqual(self.attempt("finger", [self.token()], **{field: b""}), "used")
        self.assertEqual(self.attempt("finger", [self.token()]), "used")

    def test_rules_that_no_TPM_can_check_bind_no_key(self):
        for rule in ([ALWAYS, USAGE | 32], [ALWAYS, USAGE | 1 | 16], [ALWAYS, USAGE | 1 << 14 | 1 << 15]):
            reply = self.thief.do("thief.bind", ALICE, rule)
            self.assertEqual((reply[0], reply[1][0]), (1, INVALID))

    def test_the_key_of_approvals_is_read_by_root_only(self):
        for path in ("/var/lib/latchkey-authd", f"/var/lib/latchkey-authd/{ALICE}"):
            done = self.machine.run("ls", path, user="latchkey", check=False)
            self.assertIn("Permission denied", done.stderr)

    def test_a_flood_of_one_user_does_not_stop_another(self):
        self.connect_for_bob(0)
        quiet = self.seconds()
        self.thief.do("thief.flood", "finger", 5000)
        flooded = self.seconds()
        fact("an approval", f"{quiet * 1000:.1f} ms; behind 5,000 refused ones of another user {flooded * 1000:.0f} ms")
        self.assertLess(flooded, 5)

    def seconds(self):
        begin = time.monotonic()
        self.assertEqual(self.thief.do("bob.attempt", "bob"), "used")
        return time.monotonic() - begin


del ThiefTest
