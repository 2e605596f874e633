# SPDX-License-Identifier: Apache-2.0
"""A face that a module of PAM recognises: it answers an app that asks who is there, and releases nothing."""

import subprocess
import time

from machine import CHECKOUT, eventually, fact
from modules import MODULE, install_module
from prompts import PASSCODE, PromptTest
from services import CONFIGURATION, RECORDS
from terminals import Terminal

NOT_AVAILABLE = 75
FOLDER, SERVICE_FILE, CAMERA = "/usr/local/lib/latchkey", "/etc/pam.d/latchkey-face", "/run/latchkey-face"
MODULES = f"auth required {MODULE} face\naccount required pam_unix.so\n"

# An app with a reason to use the camera. Its arguments are what it does, in one context.
APP = """
import sys
sys.path.append("/usr/local/lib/latchkey")
from attack_client import App, failure, secret_of
app = App(hello={0: "greeter", 1: "to greet you"})
context = app.call(3)[1]
HOW = {0: "greet you", 3: True}
for word in sys.argv[1:]:
    if word == "add":
        print("added", app.add("guarded", b"the guarded secret", 1))
    elif word == "can":
        print("can", app.call(5, {0: 1}))
    elif word == "read":
        print("read", secret_of(app.call(11, app.reading("guarded", context), 60)))
    else:
        print("evaluated", app.call(6, {0: context, 1: int(word), 2: HOW}, 60))
"""


class FaceTest(PromptTest):
    """Alice at a terminal, a passcode, and a camera that sees whom a file names."""

    BIOMETRY, OWNER = "1", "2"

    def setUp(self):
        super().setUp()
        install_module(self)
        for path in ("Tests/System/attack_client.py", "Tests/Wire/deterministic_cbor.py"):
            self.machine.copy(CHECKOUT / path, f"{FOLDER}/{path.rpartition('/')[2]}")
        self.machine.write(f"{FOLDER}/face_app.py", APP)
        self.machine.write(SERVICE_FILE, MODULES)
        self.addCleanup(self.machine.run, "rm", "-f", SERVICE_FILE, CAMERA)
        original = self.machine.read(CONFIGURATION)
        self.addCleanup(self.stop_services)
        self.addCleanup(self.machine.write, CONFIGURATION, original)
        self.stop_services()
        self.machine.write(CONFIGURATION, original + "face = policy\n")
        # Biometry is used in a session at the machine only, and after a passcode since the start of the service.
        self.session = self.enterContext(self.machine.seat("alice"))
        self.assertReleases(self.asking())
        # latchkey-authd learns of the session from logind.
        eventually(self.is_usable)

    def can_evaluate(self):
        """What an app is told about biometry."""
        app = self.session.start("python3", f"{FOLDER}/face_app.py", "can", stdout=subprocess.PIPE)
        return app.communicate(timeout=10)[0].decode()

    def is_usable(self):
        return f"0: {NOT_AVAILABLE}," not in self.can_evaluate()

    def sees(self, user):
        self.machine.write(CAMERA, user + "\n", mode=0o644)

    def app(self, *what):
        return self.enterContext(Terminal(self.session, "python3", f"{FOLDER}/face_app.py", *what))

    def allowed(self, *what):
        """An app that may use the camera from now on; its prompt waits for the first scan."""
        self.sees("alice")
        first = self.app(self.BIOMETRY)
        first.expect("Allow", "to recognise your face")
        first.type("y")
        first.expect("evaluated [12", seconds=20)
        first.end()
        return self.app(*what)


class PolicyTests(FaceTest):
    def test_a_recognised_face_answers_a_policy_after_the_key_was_pressed(self):
        app = self.allowed(self.BIOMETRY)
        app.expect("Press Enter when the camera may look for your face")
        self.assertEqual(self.machine.run("pgrep", "-x", "latchkey-pam", check=False).returncode, 1)
        begin = time.monotonic()
        app.type("\r")
        app.expect("evaluated [12")
        self.assertEqual(app.end(), 0, app.output)
        fact("a face through PAM", f"answered {(time.monotonic() - begin) * 1000:.0f} ms after the key")

    def test_another_face_is_a_miss_and_each_scan_needs_a_key(self):
        app = self.allowed(self.OWNER)
        self.sees("bob")
        app.expect("Press Enter")
        app.type("\r")
        app.expect("Not recognised", "Press Enter")
        app.type("\r")
        app.expect("Type your passcode")
        app.type(PASSCODE + "\r")
        app.expect("evaluated [12")

    def test_who_declines_the_scan_types_the_passcode(self):
        app = self.allowed(self.OWNER)
        app.expect("Press Enter")
        app.type("n")
        app.expect("Type your passcode")
        app.type("\x03")

    def test_a_face_releases_no_item_of_the_same_context(self):
        app = self.allowed("add", self.BIOMETRY, "read")
        app.expect("Press Enter")
        app.type("\r")
        app.expect("evaluated [12", "Type your passcode")
        app.type(PASSCODE + "\r")
        app.expect("read b'the guarded secret'")

    def test_without_the_line_there_is_no_camera(self):
        self.stop_services()
        self.machine.write(CONFIGURATION, self.machine.read(CONFIGURATION).replace("face = policy\n", ""))
        self.assertIn(f"0: {NOT_AVAILABLE},", self.can_evaluate())
        self.assertNotIn("face", self.machine.run("cat", RECORDS + "/daemon.log").stdout)
        self.assertFalse(self.machine.run("pgrep", "-x", "latchkey-pam", check=False).stdout)


class ModuleTests(FaceTest):
    def test_a_module_that_asks_for_a_password_recognises_no_face(self):
        self.machine.write(SERVICE_FILE, "auth required pam_unix.so\naccount required pam_unix.so\n")
        app = self.app(self.OWNER)
        app.expect("Allow")
        app.type("y")
        app.expect("Type your passcode")
        self.assertNotIn("Password:", app.output)

    def test_a_module_that_hangs_ends_with_the_prompt(self):
        app = self.allowed(self.OWNER)
        self.sees("hang")
        app.expect("Press Enter")
        app.type("\r")
        eventually(lambda: self.machine.run("pgrep", "-x", "latchkey-pam", check=False).returncode == 0)
        app.type("\x03")
        app.expect("evaluated [0")
        eventually(lambda: self.machine.run("pgrep", "-x", "latchkey-pam", check=False).returncode == 1)

    def test_a_service_file_that_includes_others_is_no_camera(self):
        self.machine.write(SERVICE_FILE, "@include common-auth\n@include common-account\n")
        self.stop_services()
        self.assertReleases(self.asking())
        app = self.app(self.OWNER)
        app.expect("Type your passcode")
        app.type("\x03")
