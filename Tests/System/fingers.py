# SPDX-License-Identifier: Apache-2.0
"""A person with an agent and a fingerprint reader, for tests of both services."""

import pytest

from clients import CURRENT_SET, DONE, EVALUATE, SECRET
from machine import eventually

ANY_FINGER = 2
BIOMETRICS, OWNER = 1, 2
LOCKED_OUT = 77
TOUCHED, TYPED = [12, [1]], [12, [2]]


class WithFingers:
    """For a class that derives from a sensor of `sensors` or `fprint`, and from `ClientTest`."""

    # The items that ask for a finger.
    RULES = (("set", CURRENT_SET), ("any", ANY_FINGER))

    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()
        for name, constraints in self.RULES:
            self.assertEqual(self.first.do("app.add", name, SECRET, constraints), DONE)

    def evaluate(self, policy=BIOMETRICS, reuse=0, interactive=True):
        """Begins an evaluation in a new context, which is returned."""
        handle = self.context(self.first)
        parameters = {0: handle, 1: policy, 2: {0: "a test", 3: interactive}}
        self.first.begin("app.call", EVALUATE, {**parameters, 3: reuse} if reuse else parameters, 20)
        return handle

    def asked(self):
        self.prompts.do("agent.await_prompt")

    def touched(self, policy=BIOMETRICS):
        """A context for which the finger was touched."""
        handle = self.evaluate(policy)
        self.asked()
        self.finger("touch")
        self.assertEqual(self.first.end(), TOUCHED)
        self.await_end()
        return handle

    def await_end(self):
        while self.prompts.do("agent.follow", 5)[0] != 2:
            pass

    def read(self, account, handle=None, interactive=False):
        return self.first.do("app.read", account, handle, interactive, None, 20)

    def read_with_a_touch(self, account):
        self.first.begin("app.read", account, None, True, None, 20)
        self.asked()
        self.finger("touch")
        return self.first.end()

    def restart(self):
        self.first, self.prompts = self.app(), self.agent()


class ChangedFingers:
    """Fingers that change between a proof and what it releases, in each tier with a reader: tests for a class that derives
    from `WithFingers`."""

    def test_a_proof_of_the_old_fingers_opens_no_item_bound_to_them_abuse32(self):
        handle = self.touched()
        self.assertEqual(self.read("set", handle), SECRET)
        handle = self.touched()
        self.finger("replace")
        # The process of the sensors tells that of the user, which tells latchkeyd.
        eventually(lambda: self.read("set", handle) != SECRET)
        self.assertNotEqual(self.read("any", handle), SECRET)

    @pytest.mark.promise("abuse.32")
    def test_fingers_that_change_while_the_prompt_is_shown_open_nothing_bound_abuse32(self):
        self.first.begin("app.read", "set", None, True, None, 20)
        self.asked()
        self.finger("replace")
        self.finger("touch")
        self.prompts.do("agent.event", [3])
        self.assertNotEqual(self.first.end(), SECRET)
