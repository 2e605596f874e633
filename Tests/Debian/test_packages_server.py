# SPDX-License-Identifier: Apache-2.0
"""The package of the relying party on a machine with systemd: its secret, its unit, its sandbox, and its removal."""

import json
import subprocess
import tempfile

from containers import ContainerTest
from debs import FOLDER, PackageTest, built
from machine import eventually, fact

UNIT = "latchkey-server.service"
CONFIGURATION = "/etc/latchkey-server/server.conf"
SECRET = "/etc/latchkey-server/secret"
STATE = "/var/lib/latchkey-server"
DROP_IN = f"/etc/systemd/system/{UNIT}.d"
# Inside: the status of a reply, and over TLS the common name in the certificate of the server.
CLIENT = """
import http.client, ssl, sys
address, path, authority = sys.argv[1:]
context = ssl.create_default_context(cafile=authority) if authority else None
connection = (http.client.HTTPSConnection(address, 8440, timeout=10, context=context) if context
              else http.client.HTTPConnection(address, 8440, timeout=10))
connection.request("GET", path)
name = dict(part[0] for part in connection.sock.getpeercert()["subject"])["commonName"] if context else ""
print(connection.getresponse().status, name)
"""


class RelyingPartyTest(PackageTest):
    packages = ("latchkey-server",)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.machine.run, "rm", "-rf", STATE, DROP_IN)
        self.install("latchkey-server")
        if not self.credentials_work():
            # The rest of the unit is as it is shipped.
            self.machine.run("install", "-m", "600", "-o", "latchkey-server", SECRET, f"{SECRET}-copy")
            self.addCleanup(self.machine.run, "rm", "-rf", f"{SECRET}-copy")
            self.machine.write(f"{DROP_IN}/secret.conf", "[Service]\nLoadCredential=\n"
                               f"Environment=LATCHKEY_SERVER_SECRET_FILE={SECRET}-copy\n")
            self.machine.run("systemctl", "daemon-reload")

    def credentials_work(self):
        """Whether systemd gives credentials to a user other than root, which needs a mount that some kernels refuse to
        machines in namespaces."""
        done = self.machine.run("systemd-run", "--pipe", "--wait", "--quiet", "-p", "User=latchkey-server", "-p",
                                f"LoadCredential=secret:{SECRET}", "sh", "-c", "cat $CREDENTIALS_DIRECTORY/secret",
                                check=False)
        works = done.stdout == self.machine.read(SECRET)
        fact("credentials of the relying party", "by systemd" if works
             else "replaced by a file: systemd gives none to users on this machine")
        return works

    def get(self, path, address="127.0.0.1", authority=""):
        return self.machine.run("python3", "-c", CLIENT, address, path, authority).stdout.split()

    def systemctl(self, *argv, check=True):
        done = self.machine.run("systemctl", *argv, check=False, timeout=60)
        if check and done.returncode != 0:
            self.fail(f"{argv}: {done.stderr}\n{self.machine.journal(UNIT)}")
        return done

    def owner(self, path):
        return self.machine.run("stat", "-c", "%a %U", path).stdout.strip()

    def command(self, *argv):
        return self.machine.run("latchkey-server", CONFIGURATION, *argv).stdout


class ServiceTests(RelyingPartyTest):
    def test_an_installation_makes_a_secret_of_root_and_starts_nothing(self):
        self.assertEqual(self.owner(SECRET), "600 root")
        secret = self.machine.read(SECRET)
        self.assertRegex(secret, "^[0-9a-f]{64}$")
        self.assertEqual(self.state(UNIT), "inactive")
        self.assertEqual(self.systemctl("is-enabled", UNIT, check=False).stdout.strip(), "disabled")
        self.apt("reinstall", f"{FOLDER}/{built('latchkey-server').name}")
        self.assertEqual(self.machine.read(SECRET), secret)

    def test_a_start_ends_when_the_server_answers_and_root_runs_its_commands(self):
        self.systemctl("start", UNIT)
        self.assertEqual(self.get("/ready"), ["200"])
        self.assertRegex(self.command("code", "ada"), "^[A-Z0-9-]+\n$")
        self.assertEqual(self.command("audit"), "1 rows of the audit log are unchanged\n")
        self.assertEqual(self.owner(STATE), "700 latchkey-server")
        for file in self.machine.run("ls", STATE).stdout.split():
            self.assertEqual(self.owner(f"{STATE}/{file}"), "600 latchkey-server", file)
        # What root wrote is no obstacle for the service, also after a restart.
        self.systemctl("restart", UNIT)
        self.assertEqual(self.get("/ready"), ["200"])
        self.systemctl("stop", UNIT)
        self.assertEqual(self.machine.unit(UNIT)["Result"], "success")
        self.command("code", "ada")
        self.systemctl("start", UNIT)
        self.assertEqual(self.get("/ready"), ["200"])

    def test_the_service_has_no_privilege_and_cannot_read_the_file_of_the_secret(self):
        self.systemctl("start", UNIT)
        status = self.machine.unit_status(UNIT)
        for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        self.assertNotEqual(status["Uid"].split()[0], "0")
        done = self.machine.run("cat", SECRET, user="latchkey-server", check=False)
        self.assertIn("Permission denied", done.stderr)
        limit = next(line for line in self.machine.read(f"/proc/{self.machine.main_pid(UNIT)}/limits").splitlines()
                     if line.startswith("Max open files"))
        self.assertGreaterEqual(int(limit.split()[3]), 10_064)

    def test_a_server_that_is_killed_starts_again_and_a_wrong_configuration_is_named(self):
        self.systemctl("start", UNIT)
        first = self.machine.main_pid(UNIT)
        self.machine.run("kill", "-9", first)
        self.assertTrue(eventually(lambda: self.state(UNIT) == "active" and self.machine.main_pid(UNIT) != first, 20))
        self.machine.run("sh", "-c", f"echo 'prot = 1' >>{CONFIGURATION}")
        self.assertNotEqual(self.systemctl("restart", UNIT, check=False).returncode, 0)
        self.assertIn("error: line ", self.machine.journal(UNIT))
        self.systemctl("reset-failed", UNIT)

    def test_root_rotates_the_secret_and_revokes_and_the_service_goes_on(self):
        previous, revocations = f"{STATE}/previous-secret", f"{STATE}/revocations"
        self.addCleanup(self.machine.run, "sh", "-c", "rm -rf /etc/latchkey-server")
        self.machine.run("sed", "-i", "-E", "s/^#(previous_secret_file|revocations_file)/\\1/", CONFIGURATION)
        self.systemctl("start", UNIT)
        old = self.machine.read(SECRET)
        self.command("rotate-secret")
        self.assertEqual((self.owner(SECRET), self.machine.read(previous)), ("600 root", old))
        self.assertNotEqual(self.machine.read(SECRET), old)
        self.command("administrator", "ada")
        self.command("administrator", "ada", "--remove")
        for file in (previous, revocations):
            self.assertEqual(self.owner(file), "600 latchkey-server", file)
        copy = f"{SECRET}-copy"
        if self.exists(copy):
            # In place of the credential, which the service manager renews at a restart.
            self.machine.run("install", "-m", "600", "-o", "latchkey-server", SECRET, copy)
        else:
            self.systemctl("reload", UNIT)
            self.assertTrue(eventually(lambda: "secrets not reloaded" in self.machine.journal(UNIT), 20))
        self.systemctl("restart", UNIT)
        self.assertEqual(self.get("/ready"), ["200"])
        self.assertIn("administrators removed again: 0", self.command("restored"))

    def certificate(self, name):
        """Installs a certificate for 127.0.0.1 with a name."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.2",
                            "-keyout", f"{folder}/key", "-out", f"{folder}/pem"], check=True, capture_output=True)
            user = "latchkey-server:latchkey-server"
            self.machine.copy(f"{folder}/key", "/etc/latchkey-server/tls.key", 0o600, user)
            self.machine.copy(f"{folder}/pem", "/etc/latchkey-server/tls.pem", 0o644, user)

    def test_a_reload_replaces_the_certificate(self):
        self.addCleanup(self.machine.run, "sh", "-c", "rm -rf /etc/latchkey-server")
        self.certificate("first")
        self.machine.run("sed", "-i", "-E", "s/^#(tls_certificate|tls_key_file|address)/\\1/", CONFIGURATION)
        self.systemctl("start", UNIT)
        pem = "/etc/latchkey-server/tls.pem"
        # Another address of this machine than the one on which a server without TLS listens.
        self.assertEqual(self.get("/health", "127.0.0.2", pem), ["200", "first"])
        process = self.machine.main_pid(UNIT)
        self.certificate("second")
        self.systemctl("reload", UNIT)
        self.assertTrue(eventually(lambda: "certificate replaced" in self.machine.journal(UNIT), 20))
        self.assertEqual(self.get("/health", "127.0.0.2", pem), ["200", "second"])
        self.assertEqual(self.machine.main_pid(UNIT), process)


class RemovalTests(RelyingPartyTest):
    def test_an_upgrade_restarts_a_server_that_is_enabled_and_keeps_its_secret(self):
        secret = self.machine.read(SECRET)
        self.systemctl("enable", "--now", UNIT)
        first = self.machine.main_pid(UNIT)
        self.upgrade(name="latchkey-server")
        self.assertNotEqual(self.machine.main_pid(UNIT), first)
        self.assertEqual(self.get("/ready"), ["200"])
        self.assertEqual(self.machine.read(SECRET), secret)

    def test_a_purge_removes_the_secret_and_keeps_the_database(self):
        self.systemctl("enable", "--now", UNIT)
        self.remove("latchkey-server")
        self.assertEqual(self.state(UNIT), "inactive")
        self.assertTrue(self.exists(SECRET) and self.exists(CONFIGURATION))
        done = self.purge("latchkey-server")
        self.assertIn(f"the database remains in {STATE}", done.stdout + done.stderr)
        self.assertTrue(self.exists(f"{STATE}/server.sqlite"))
        self.assertFalse(self.exists(SECRET) or self.exists(CONFIGURATION))


class ImageTests(ContainerTest):
    packages = ("latchkey-server",)

    def test_every_line_of_the_image_of_the_relying_party_runs(self):
        # The user of a package that another test has purged stays.
        self.line("root", {}, "userdel latchkey-server; groupdel latchkey-server; true")
        ran, others = self.run_lines("packaging/server/Containerfile")
        self.assertEqual((ran, list(others)), (3, ["FROM", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"]))
        program, configuration = json.loads(others["ENTRYPOINT"])
        self.line("latchkey-server", {}, f"test -x {program} && test -r {configuration} && "
                  "test ! -e /etc/latchkey-server/secret && test -w " + others["VOLUME"])
