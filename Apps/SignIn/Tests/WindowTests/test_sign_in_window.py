# SPDX-License-Identifier: Apache-2.0
"""Tests of the window: drives it by keyboard through every state with a running server, and checks each state over the
accessibility bus."""

import subprocess

from accessible import check, everything_has_a_name, text_of, until
from sign_in_screen import Machine, SIGN_IN, Server

NARROW = 360
FINGER = "Put your finger on the sensor."
ROLES = ("button", "text", "entry", "label", "combo box")


def opened(machine, server, user="ada"):
    """A window with the form of the registration, filled in except for the code."""
    window = machine.open(f"--server={server.address}", f"--user={user}")
    tree = window.sees("Register This Device")
    everything_has_a_name(tree)
    window.sees(lambda t: (n := t.named("Enrolment code", "text")) and n.focused)
    return window


def registered(machine, server):
    window = opened(machine, server)
    machine.sim("touch")
    window.enter(server.code())
    window.sees("This device is registered.")
    return window


def signed_in(machine, server):
    window = registered(machine, server)
    machine.sim("touch")
    window.keys("Return")
    window.sees("Signed In")
    return window


def fits(window):
    """Checks that no widget exceeds the narrow window."""
    for node in window.now().all():
        left, width = node.across()
        # The panel of the simulated sensor, which real machines do not have, can be scrolled.
        if any(node.name.startswith(words) for words in (
                "How to Leave", "Play ", "Cancel the Prompt", "Enroll Another", "Allow")):
            continue
        if node.role in ROLES and width > 0 and (node.name or node.text):
            limit = NARROW + 1 if node.role == "text" else NARROW
            check(left >= 0 and left + width <= limit, f"{node.role} {node.name!r} is at {left} to {left + width}")


def test_the_whole_way_by_keyboard():
    with Machine() as machine, Server() as server:
        window = opened(machine, server)
        window.picture("register")
        window.type(server.code())
        window.picture("register-filled")
        window.keys("Return")
        tree = window.sees(FINGER)
        check(tree.named("Cancel", "button").focused, "Cancel has the focus while the prompt is shown")
        window.picture("register-finger")
        window.press_button("Play Finger")
        tree = window.sees("This device is registered.")
        everything_has_a_name(tree)
        check(tree.says("ada at localhost"), "the account is shown")
        check(tree.named("Sign In with Fingerprint", "button").focused, "the button has the focus")
        check(not tree.holds("Face ID"), "Face ID is not mentioned")
        window.picture("registered")
        window.keys("Return")
        window.sees(FINGER)
        window.picture("sign-in-finger")
        window.press_button("Play Finger")
        tree = window.sees("Signed In")
        everything_has_a_name(tree)
        check(tree.says("ada") and tree.says(f"http://{server.address}"), "user and server are shown")
        window.picture("signed-in")
        window.sees(lambda t: t.named("Approve", "button").focused)
        window.keys("Return")
        window.sees(FINGER)
        window.picture("approve-finger")
        window.press_button("Play Finger")
        tree = window.sees("Approved: pay 20 EUR to Bob.")
        check(any(n.role == "alert" and n.name.startswith("Approved") for n in tree.all()), "it is announced")
        check(tree.named("Approve", "button").focused, "the button has the focus again")
        window.picture("approved")
        check("pay 20 EUR to Bob" in server.command("export", "ada"), "the server has the act")
        window.keys("ctrl+l")
        tree = window.sees("Signed Out")
        check(tree.named("Sign In with Fingerprint", "button").focused, "the button has the focus")
        window.picture("signed-out")


def test_double_text_keeps_buttons_prompts_and_messages_in_sight():
    with text_of(200), Machine() as machine, Server() as server:
        window = opened(machine, server)

        def in_sight(name):
            def is_shown(tree):
                found = next((n for n in tree.all() if n.name == name), None)
                _, top, _, height = found.frame() if found else (0, 0, 0, 0)
                return 0 < top and top + height <= tree.named("How to Leave", "button").frame()[1]
            return is_shown

        window.sees(in_sight("Register"))
        window.picture("double-text-register")
        machine.sim("touch")
        window.enter(server.code())
        window.sees("This device is registered.")
        machine.sim("touch")
        window.keys("Return")
        window.sees(in_sight("Sign Out"))
        window.sees(lambda t: t.named("Approve", "button").focused)
        window.keys("Return")
        window.sees(lambda t: in_sight(FINGER)(t) and in_sight("Cancel")(t))
        window.picture("double-text-approve")
        window.press_button("Play Finger")
        window.sees(in_sight("Approved: pay 20 EUR to Bob."))
        window.picture("double-text-approved")


def test_a_cancelled_prompt_says_what_else_is_possible():
    with Machine() as machine, Server() as server:
        window = registered(machine, server)
        window.keys("Return")
        window.sees(FINGER)
        window.keys("Escape")
        tree = window.sees("The sign-in was cancelled.")
        check(tree.says("choose the passcode"), "the other way is named")
        window.picture("cancelled")
        window.keys("Escape")
        window.sees(lambda t: not t.says("The sign-in was cancelled."))


def test_a_wrong_code_is_explained():
    with Machine() as machine, Server() as server:
        window = opened(machine, server)
        machine.sim("touch")
        window.enter("wrong")
        tree = window.sees("The server did not accept the registration.")
        check(tree.says("The enrolment code may be wrong"), "what to do is said")
        window.picture("wrong-code")
        machine.sim("reset")


def test_a_server_that_is_down_is_explained():
    with Machine() as machine, Server() as server:
        window = registered(machine, server)
        server.stop()
        window.keys("Return")
        window.sees("The server cannot be reached.")
        window.picture("server-down")
        window.press_button("Forget This Device")
        window.sees(lambda t: True, title="Forget This Device?")
        window.picture("forget-question", title="Forget This Device?")
        window.answer("Forget This Device?", "Forget")
        window.sees(lambda t: t.named("Remove Only Here", "button"))
        window.picture("not-forgotten")
        window.press_button("Remove Only Here")
        tree = window.sees("Register This Device")
        check(tree.says("The server still lists it"), "what remains is said")
        window.picture("removed-here")


def test_a_forgotten_device_is_revoked():
    with Machine() as machine, Server() as server:
        window = registered(machine, server)
        window.press_button("Forget This Device")
        window.sees(lambda t: True, title="Forget This Device?")
        machine.sim("touch")
        window.answer("Forget This Device?", "Forget")
        window.sees("The server has revoked its key.")
        check("revoked" in server.command("keys", "ada"), server.command("keys", "ada"))


def test_another_finger_ends_the_key_and_a_new_code_replaces_it():
    with Machine() as machine, Server() as server:
        window = registered(machine, server)
        machine.sim("enroll")
        window.keys("Return")
        tree = window.sees("The enrolled fingers or faces changed")
        everything_has_a_name(tree)
        check(tree.named("Use a New Code", "button").focused, "the offer has the focus")
        window.picture("fingers-changed")
        window.keys("Return")
        tree = window.sees(lambda t: (n := t.named("Enrolment code", "text")) and n.focused)
        check(tree.named("User", "text").text == "ada", "the account is filled in")
        window.picture("new-code")
        machine.sim("touch")
        window.enter(server.code())
        window.sees("This device is registered.")
        machine.sim("touch")
        window.keys("Return")
        window.sees("Signed In")


def test_a_locked_sensor_asks_for_the_passcode():
    with Machine() as machine, Server() as server:
        window = registered(machine, server)
        for tries in 3, 2:
            for _ in range(tries):
                machine.sim("touch", "--other")
            window.keys("ctrl+l")
            window.sees(lambda t: t.says("locked") or t.says("not recognised"))
        tree = window.sees(lambda t: t.named("Enter Passcode", "button"))
        check(tree.named("Enter Passcode", "button").focused, "the passcode is offered")
        window.picture("sensor-locked")
        machine.sim("enter", input="1234\n")
        window.keys("Return")
        window.sees("Fingerprint is unlocked.")
        window.picture("sensor-unlocked")
        machine.sim("touch")
        window.keys("ctrl+l")
        window.sees("Signed In")


def test_a_revoked_key_signs_out_and_offers_a_new_code():
    with Machine() as machine, Server() as server:
        window = signed_in(machine, server)
        server.command("revoke", "ada")
        machine.sim("touch")
        window.keys("Return")
        window.sees(lambda t: t.says("Signed Out") and t.says("The server did not accept"))
        window.picture("revoked")
        machine.sim("reset")


def test_a_face_is_warned_of_while_signed_out():
    with Machine(sensor="face") as machine, Server() as server:
        window = opened(machine, server)
        warning = "Face ID scans your face as soon as you press the button."
        check(window.now().says(warning), "the warning is shown before the registration")
        window.picture("register-face")
        window.enter(server.code())
        window.sees("Look at the sensor.")
        window.press_button("Allow")
        machine.happens("prompt: faceID, tries left", 1)
        window.press_button("Play Face")
        tree = window.sees("This device is registered.")
        check(tree.says(warning), "the warning is shown")
        check("scans your face" in tree.named("Sign In with Face ID", "button").description, "it is exposed, too")
        check(not tree.holds("ingerprint"), "a fingerprint is not mentioned")
        window.picture("signed-out-face")
        machine.sim("look")
        window.keys("Return")
        tree = window.sees("Signed In")
        check(not tree.says(warning), "the warning is hidden")


def test_a_machine_without_a_sensor_uses_the_passcode():
    with Machine(sensor="none") as machine, Server() as server:
        window = opened(machine, server)
        check(window.now().named("Sign in with") is None, "there is nothing to choose")
        window.picture("register-passcode")
        machine.sim("enter", input="1234\n")
        window.enter(server.code())
        window.sees(lambda t: t.named("Sign In with Passcode", "button"))
        window.picture("signed-out-passcode")
        machine.sim("enter", input="1234\n")
        window.keys("Return")
        window.sees("Signed In")


def test_a_restarted_app_knows_the_account():
    with Machine() as machine, Server() as server:
        signed_in(machine, server).end()
        window = machine.open()
        tree = window.sees("Signed Out")
        check(tree.says("ada at localhost"), "the account is shown")


def test_a_narrow_window_holds_every_state():
    with Machine() as machine, Server() as server:
        window = opened(machine, server)
        window.resize(NARROW, 560)
        window.sees(lambda t: 0 < t.across()[1] <= NARROW)
        fits(window)
        window.enter(server.code())
        window.sees(FINGER)
        fits(window)
        window.press_button("Play Finger")
        window.sees("This device is registered.")
        fits(window)
        machine.sim("touch")
        window.keys("Return")
        window.sees("Signed In")
        fits(window)
        server.stop()
        window.keys("ctrl+l")
        window.sees("The server cannot be reached.")
        fits(window)
        window.press_button("Forget This Device")
        window.sees(lambda t: True, title="Forget This Device?")
        window.answer("Forget This Device?", "Forget")
        window.sees(lambda t: t.named("Remove Only Here", "button"))
        fits(window)


def test_shortcuts_are_listed():
    with Machine() as machine, Server() as server:
        window = opened(machine, server)
        window.keys("ctrl+question")
        window.sees("Sign in, or sign out", title="Keyboard Shortcuts")


def test_closing_ends_the_session():
    with Machine() as machine, Server() as server:
        window = signed_in(machine, server)
        requests = server.written().count("/v1/session\"")
        window.keys("ctrl+q")
        window.process.wait(20)
        check(window.process.returncode == 0, f"it ended with {window.process.returncode}")
        until(lambda: server.written().count("/v1/session\"") > requests, server.written)


def test_keychain_of_another_tier_is_reported():
    with Machine() as machine, Server() as server:
        registered(machine, server).end()
        machine.sim("stop")
        until(lambda: not machine.serves(), lambda: "the daemon does not end")
        with open(machine.folder + "/latchkeyd.conf", "w") as file:
            file.write("tier = user\n")
        window = machine.open()
        tree = window.sees("The Keychain Cannot Be Used")
        check(tree.named("Try Again", "button").focused, "it can be tried again")
        check(not tree.says("tier"), "words of developers are among the details only")
        window.picture("unavailable")
        window.press_button("Details")
        window.sees("tier")


def test_missing_display_and_wrong_arguments_are_reported():
    with Machine() as machine:
        environment = {k: v for k, v in machine.environment.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
        for arguments, status, words in (
            ([], 69, "there is no display"), (["--wrong"], 2, "There is no option --wrong."),
            (["--help"], 0, ""),
        ):
            done = subprocess.run([SIGN_IN, *arguments], env=environment, capture_output=True, text=True, timeout=20)
            check(done.returncode == status and words in done.stderr, f"{arguments}: {done}")
