# SPDX-License-Identifier: Apache-2.0
"""Tests of the window when a sensor is locked, needs a permission or has stopped."""

from accessible import check
from agent_screen import Machine


def test_locked_sensor_prompts_for_passcode_and_says_why():
    with Machine("sim enroll") as machine:
        machine.lock_sensor()
        caller = machine.ask("--reason", "open the token store")
        locked = machine.prompt.sees(lambda t: t.field)
        check(locked.announced == "Too many tries: the fingerprint is locked until the passcode is entered.",
              f"announced: {locked.announced!r}")
        machine.prompt.picture("touch-locked")
        machine.prompt.enter("1234")
        caller.ends_with("granted")


def test_face_permission_is_requested_before_sensor_starts():
    with Machine("sim enroll", "sim sensor face", "sim enroll") as machine:
        prompt = machine.prompt
        caller = machine.ask("--reason", "open the album", "--face", "finding your pictures", app="Album")
        asking = prompt.sees(lambda t: "Allow" in t.buttons)
        check(asking.named("It uses the camera for “finding your pictures”"), f"the usage: {asking.names}")
        check(asking.named("It calls itself “Album”"), f"the app's own name: {asking.names}")
        check(asking.buttons == ["Cancel", "Do Not Allow", "Allow"], f"the buttons: {asking.buttons}")
        prompt.picture("face-permission")
        asking.press_button("Allow")
        looking = prompt.reads("Look at the sensor.")
        prompt.picture("face")
        looking.press_button("Play another face")
        prompt.reads("Not recognised. One try left.")
        prompt.picture("face-missed")
        machine.sim("look", "--other")
        passcode = prompt.sees(lambda t: t.takes_text)
        check(passcode.announced == "Not recognised, and no more tries with your face.",
              f"announced: {passcode.announced!r}")
        prompt.picture("face-finished")
        prompt.keys("Escape")
        caller.ends_with("userCancel")


def test_stopped_sensor_is_reported_and_buttons_remain():
    with Machine("sim enroll", "sim sensor face", "sim enroll") as machine:
        caller = machine.ask("--policy", "1", "--reason", "open the album", "--face", "pictures")
        machine.prompt.sees(lambda t: "Allow" in t.buttons).press_button("Allow")
        machine.prompt.reads("Look at the sensor.")
        for _ in range(2):
            machine.sim("look", "--other")
        stopped = machine.prompt.reads("The sensor has stopped looking for your face.")
        check(stopped.buttons[:2] == ["Cancel", "Enter Password"], f"the buttons: {stopped.buttons}")
        machine.prompt.picture("face-stopped")
        stopped.press_button("Enter Password")
        caller.ends_with("userFallback")
