# SPDX-License-Identifier: Apache-2.0
"""Services of the system that read their own secrets without a person: docs/reference/services.md, docs/reference/identity.md."""

import json

from clients import NO_INTERACTION, NO_PASSCODE, PRESENCE, SCRIPT, SECRET, ClientTest
from services import AUTHORITY, KEYCHAIN, NOT_FOUND, REFUSED

FOLDER = SCRIPT.rsplit("/", 1)[0]
# A service written for an interpreter: adds an item without a rule and one that asks for a person, reads both, and prints
# its group, whether it has its secret, and the statuses of the other item, also where the app allows no prompt.
ADD = f"""
import json, sys
sys.path.insert(0, "{FOLDER}")
from attack_client import App
app = App()
done = [app.add(name, {SECRET!r}, rule)[0] for name, rule in (("free", 0), ("presence", {PRESENCE}))]
secret = app.read("free")
print(json.dumps([app.group(), done, secret == {SECRET!r}, app.read("presence"), app.read("presence", None, False)]))
"""
READ = ADD.replace("done = [app.add", "done = None and [app.add")


class HeadlessTests(ClientTest):
    def setUp(self):
        super().setUp()
        for name in ("first", "second"):
            self.machine.run("useradd", "--system", "--shell", "/usr/sbin/nologin", f"svc-{name}", check=False)

    def run_unit(self, user, *argv, unit="test-headless.service", options=()):
        """Runs a command in a unit with a user of its own; returns what it wrote."""
        properties = [part for option in (f"User={user}", *options) for part in ("-p", option)]
        return self.machine.run("systemd-run", "--wait", "--pipe", "--quiet", "--collect", f"--unit={unit}",
                                *properties, *argv, check=False)

    def shell(self, user, command, **options):
        return self.run_unit(user, "sh", "-c", command, **options)

    def script(self, user, text, **options):
        done = self.run_unit(user, "/usr/bin/python3", "-c", text, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def kill_both(self):
        for unit in (KEYCHAIN, AUTHORITY):
            self.kill_service(unit)

    def test_a_service_reads_its_own_secret_without_a_person(self):
        self.assertEqual(self.shell("svc-first", "printf secret | latchkey set --protect none key").returncode, 0)
        self.kill_both()
        self.assertEqual(self.shell("svc-first", "latchkey get key").stdout, "secret")

    def test_another_service_cannot_read_it(self):
        self.shell("svc-first", "printf secret | latchkey set --protect none key")
        done = self.shell("svc-second", "latchkey get key")
        self.assertEqual((done.returncode, done.stdout), (NOT_FOUND, ""))

    def test_a_service_of_an_interpreter_has_its_unit_as_identity(self):
        group, done, is_read, *_ = self.script("svc-first", ADD, unit="test-reports.service")
        self.assertEqual((group, done, is_read), ("unit:test-reports.service", [1, 1], True))
        self.kill_both()
        self.assertEqual(self.script("svc-first", READ, unit="test-reports.service")[:3],
                         ["unit:test-reports.service", None, True])
        # The same user in another unit is another program, and outside of a unit one that cannot be determined.
        self.assertEqual(self.script("svc-first", READ, unit="test-other.service")[:3],
                         ["unit:test-other.service", None, False])
        outside = self.machine.run("/usr/bin/python3", "-c", READ, user="svc-first").stdout
        number = self.machine.run("id", "-u", "svc-first").stdout.strip()
        self.assertEqual(json.loads(outside)[:3], [f"user:{number}", None, False])

    def test_a_dynamic_user_keeps_its_keychain_under_a_fixed_name(self):
        dynamic = {"unit": "test-dynamic.service", "options": ("DynamicUser=yes",)}
        user = "svc-dynamic"
        self.assertEqual(self.shell(user, "printf secret | latchkey set --protect none key", **dynamic).stderr, "")
        # In the namespace of such a unit no path is an identity.
        status = json.loads(self.shell(user, "latchkey status --json", **dynamic).stdout)
        self.assertEqual(status["group"], "unit:test-dynamic.service")
        self.kill_both()
        self.assertEqual(self.shell(user, "latchkey get key", **dynamic).stdout, "secret")
        done = self.shell("svc-elsewhere", "latchkey get key", **dynamic)
        self.assertEqual((done.returncode, done.stdout), (NOT_FOUND, ""), done.stderr)

    def test_an_item_that_asks_for_a_person_is_not_read(self):
        # `SecItemCopyMatching` returns errSecAuthFailed and errSecInteractionNotAllowed for these: StatusTranslationTests.
        _, done, _, *statuses = self.script("svc-first", ADD)
        self.assertEqual((done, statuses), ([1, 1], [NO_PASSCODE, NO_INTERACTION]))

    def test_the_command_adds_no_such_item_for_a_service(self):
        done = self.shell("svc-second", "printf s | latchkey set key --protect presence")
        self.assertFails(done, REFUSED, "No passcode is set, and --protect presence needs one.")
