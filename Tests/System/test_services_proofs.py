# SPDX-License-Identifier: Apache-2.0
"""Handles, proofs and prompts that end, are repeated, or belong to another program: docs/reference/services.md."""

import pytest

from clients import (
    CANCELLED, CONTEXT, DONE, INVALIDATE, LOCK, NO_CONTEXT, NO_INTERACTION, NOT_INTERACTIVE, SECRET, SET_PASSCODE,
    SYSTEM_CANCEL, UNLOCK, ClientTest)
from machine import eventually
from services import AUTHORITY

MINE, OTHER = "/usr/bin/notes", "/usr/bin/mail"


class ProofTests(ClientTest):
    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()

    def read(self, handle, app="app", interactive=False):
        return self.first.do(f"{app}.read", "presence", handle, interactive)

    @pytest.mark.promise("abuse.11")
    def test_a_handle_of_another_connection_is_invalid_abuse11(self):
        handle = self.proven(self.first, self.prompts)
        self.assertEqual(self.read(handle), SECRET)
        self.first.do("App", kept="second")
        self.assertEqual(self.read(handle, "second"), NO_CONTEXT)
        bob = self.app("bob")
        self.assertEqual(bob.do("app.read", "presence", handle), NO_CONTEXT)

    @pytest.mark.promise("abuse.12")
    def test_a_handle_is_refused_after_its_invalidation_abuse12(self):
        handle = self.proven(self.first, self.prompts)
        self.assertEqual(self.first.do("app.call", INVALIDATE, {0: handle}), DONE)
        self.assertEqual(self.read(handle), NO_CONTEXT)
        self.assertEqual(self.read(handle, interactive=True), NO_CONTEXT)

    def test_a_proof_ends_with_a_lock_abuse12(self):
        handle = self.proven(self.first, self.prompts)
        self.assertEqual(self.first.do("app.call", LOCK), DONE)
        self.assertNotEqual(self.read(handle), SECRET)
        with self.typing(self.prompts):
            self.assertEqual(self.first.do("app.call", UNLOCK, {0: "", 3: True}, 20), DONE)
        self.assertEqual(self.read(handle), NO_INTERACTION)
        self.assertEqual(self.first.do("app.read", "free"), SECRET)

    @pytest.mark.promise("abuse.13")
    def test_a_proof_ends_with_the_connection_of_the_services_abuse13(self):
        handle = self.proven(self.first, self.prompts)
        self.assertEqual(self.read(handle), SECRET)
        self.kill_service(AUTHORITY)
        self.assertNotEqual(self.read(handle), SECRET)
        # A program that connects waits for the new connection.
        eventually(lambda: self.latchkey("status", check=False).returncode == 0, 20)
        self.assertIn(self.read(handle), (NO_INTERACTION, NO_CONTEXT))
        fresh = self.proven(self.first, self.agent())
        self.assertEqual(self.read(fresh), SECRET)

    def test_a_proof_ends_with_latchkeyd_abuse13(self):
        handle = self.proven(self.first, self.prompts)
        self.kill_both()
        again = self.app()
        again.do("app.call", CONTEXT)
        self.assertEqual(again.do("app.read", "presence", handle, False), NO_CONTEXT)

    @pytest.mark.promise("abuse.25")
    def test_nothing_is_shown_where_interaction_is_not_allowed_abuse25(self):
        for context in (None, self.context(self.first)):
            self.assertEqual(self.first.do("app.read", "presence", context, False), NO_INTERACTION)
        handle = self.context(self.first)
        reply = self.first.do("app.call", 6, {0: handle, 1: 2, 2: {0: "a test", 3: False}})
        self.assertEqual(reply[1][0], NOT_INTERACTIVE)
        self.assertShowsNothing(self.prompts)

    def assertShowsNothing(self, agent, seconds=0.5):
        with self.assertRaisesRegex(RuntimeError, "no reply within the deadline"):
            agent.do("agent.get", seconds)


class PromptTests(ClientTest):
    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()

    assertShowsNothing = ProofTests.assertShowsNothing

    def asking(self, program):
        """A program of alice that waits for a prompt, which is not shown yet."""
        app = self.app(program=self.program(program))
        app.do("app.add", "own", SECRET, 1)
        app.begin("app.read", "own", None, True, None, 20)
        return app

    @pytest.mark.promise("abuse.18")
    def test_two_programs_are_prompted_one_after_the_other_each_by_its_name_abuse18(self):
        mine = self.asking(MINE)
        self.assertEqual(self.prompts.do("agent.await_prompt")[2:4], ["notes", MINE])
        other = self.asking(OTHER)
        self.assertShowsNothing(self.prompts)
        self.prompts.do("agent.event", [3])
        self.assertEqual(mine.end(), CANCELLED)
        self.assertEqual(self.prompts.do("agent.await_prompt")[2:4], ["mail", OTHER])
        self.prompts.do("agent.event", [3])
        self.assertEqual(other.end(), CANCELLED)

    @pytest.mark.promise("abuse.20")
    def test_without_an_agent_and_a_terminal_the_answer_comes_in_time_abuse20(self):
        self.prompts.do("drop", "agent")
        bob = self.app("bob")
        bob.do("Agent", kept="agent")
        reply = eventually(lambda: self.first.do("app.read", "presence", None, True, None, 2) == NOT_INTERACTIVE)
        self.assertTrue(reply)
        self.assertShowsNothing(bob)

    def test_the_end_of_the_agent_ends_the_prompt_and_the_next_one_is_shown_abuse21(self):
        mine = self.asking(MINE)
        self.prompts.do("agent.await_prompt")
        self.prompts.stop()
        self.assertEqual(mine.end(), SYSTEM_CANCEL)
        again = self.agent()
        with self.typing(again):
            self.assertEqual(mine.do("app.read", "own", None, True, None, 20), SECRET)

    def test_a_new_passcode_that_is_entered_as_soon_as_the_prompt_is_visible_counts(self):
        # Without a password of his account, bob is asked for the new passcode at once.
        self.machine.run("passwd", "--lock", "bob")
        self.addCleanup(self.machine.run, "passwd", "--unlock", "bob")
        bob, prompts = self.app("bob"), self.agent("bob")
        for number in range(1000):
            bob.begin("app.call", 20, {0: SET_PASSCODE}, 20)
            prompts.do("agent.await_then", [[0], [11, b"a passcode of bob"]])
            kind, content = prompts.do("agent.follow", 2)
            self.assertEqual((kind, content[5]), (1, 4), number)
            prompts.do("agent.event", [3])
            self.assertEqual(bob.end()[1][0], CANCELLED)
            self.assertEqual(prompts.do("agent.follow")[0], 2)

    @pytest.mark.promise("abuse.18")
    def test_a_prompt_goes_to_the_agent_of_its_login_session_which_no_other_one_can_answer_abuse18(self):
        self.prompts.stop()
        first, second = (self.enterContext(self.machine.session("alice")) for _ in range(2))
        agents = [self.agent(session=session) for session in (first, second)]
        for session, own, foreign in ((first, *agents), (second, *reversed(agents))):
            app = self.app(session=session)
            app.begin("app.read", "presence", None, True, None, 20)
            own.do("agent.await_prompt")
            number = own.do("agent.shown")[0]
            self.assertShowsNothing(foreign)
            for near in range(max(0, number - 2), number + 3):
                for event in ([0], [5, b"a passcode 4711"], [3]):
                    foreign.do("agent.event", event, near)
            self.assertShowsNothing(foreign)
            own.do("agent.event", [3])
            self.assertEqual(app.end(), CANCELLED)
            own.do("agent.follow")
