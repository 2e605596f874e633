# SPDX-License-Identifier: Apache-2.0
"""The Debian packages as an administrator and a user meet them: installed, upgraded, removed, purged, installed again."""

import json
import re
import time

from containers import ContainerTest
from debs import PACKAGES, WITHOUT_QUESTIONS, PackageTest, built, field
from machine import CHECKOUT, PASSWORDS, changing, fact
from services import AUTHORITY, CONFIGURATION, KEYCHAIN, RECORDS, SOCKETS, STORES
from terminals import Terminal

# What an installation changes beside its files: accounts, and their backup copies.
ACCOUNTS = {"/etc/passwd-", "/etc/group-", "/etc/shadow-", "/etc/gshadow-", "/etc/subuid-", "/etc/subgid-",
            "/etc/.pwd.lock"}


class StoreTest(PackageTest):
    """Alice with an item that needs no proof, and one that needs the password of her account."""

    def setUp(self):
        super().setUp()
        self.install()
        self.session = self.enterContext(self.machine.session("alice"))

    def add_items(self):
        with Terminal(self.session, "latchkey", "passcode", "set") as terminal:
            terminal.expect("password of your account")
            terminal.type(PASSWORDS["alice"] + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
        self.session.run("latchkey", "set", "--protect", "none", "open", input="an open secret")
        self.session.run("latchkey", "set", "closed", "--protect", "presence", input="a closed secret")

    def assertItems(self):
        """Both items are there, the second one after its prompt only."""
        self.assertEqual(self.session.run("latchkey", "get", "open").stdout, "an open secret")
        with Terminal(self.session, "latchkey", "get", "closed") as terminal:
            terminal.expect("password of your account")
            self.assertNotIn("a closed secret", terminal.output)
            terminal.type(PASSWORDS["alice"] + "\r")
            self.assertEqual(terminal.end(), 0, terminal.output)
            self.assertTrue(terminal.output.rstrip().endswith("a closed secret"), terminal.output)


class InstallationTests(StoreTest):
    def test_the_sockets_listen_and_the_first_connection_starts_both_services(self):
        self.assertListening()
        self.assertEqual((self.state(KEYCHAIN), self.state(AUTHORITY)), ("inactive", "inactive"))
        begin = time.monotonic()
        self.latchkey("set", "--protect", "none", "token", input="a secret")
        fact("first item after the installation", f"{(time.monotonic() - begin) * 1000:.0f} ms")
        self.assertEqual(self.latchkey("get", "token").stdout, "a secret")
        self.assertEqual((self.state(KEYCHAIN), self.state(AUTHORITY)), ("active", "active"))
        status = json.loads(self.latchkey("status", "--json").stdout)
        self.assertEqual((status["tier"], status["store"]), ("file", f"{STORES}/1001"))

    def test_the_password_of_the_account_releases_a_protected_item(self):
        self.add_items()
        self.assertItems()

    def test_doctor_finds_only_that_there_is_no_passcode_yet(self):
        self.latchkey("set", "--protect", "none", "token", input="a secret")
        rows = json.loads(self.latchkey("doctor", "--json", check=False).stdout)["rows"]
        self.assertEqual([row["name"] for row in rows if row["state"] not in ("ok", "absent")], ["passcode"])

    def test_dpkg_finds_every_file_as_it_was_packed(self):
        self.install(*PACKAGES, "latchkey-sdk")
        self.assertEqual(self.machine.run("dpkg", "--audit").stdout, "")
        for name in (*PACKAGES, field(built("latchkey-sdk"), "Package")):
            # Documentation is not on the image of the machine, whatever the package.
            self.assertEqual(self.machine.run("dpkg", "--verify", name).stdout, "")
            size = int(self.machine.run("dpkg-query", "-W", "-f", "${Installed-Size}", name).stdout)
            fact(f"package {name}", f"{built(name if name in PACKAGES else 'latchkey-sdk').stat().st_size / 1e6:.1f} MB, "
                 f"{size / 1000:.1f} MB installed")

    def test_only_root_can_change_what_was_installed(self):
        self.install(*PACKAGES)
        for name in PACKAGES:
            files = self.machine.run("dpkg", "--listfiles", name).stdout.splitlines()
            found = self.machine.run(
                "sh", "-c", r'for file; do find "$file" -maxdepth 0 ! -type l \( ! -user root -o -perm /022 -o -perm /6000 \) '
                "-print; done", "sh", *files).stdout
            self.assertEqual(found, "")

    def test_the_user_of_the_services_cannot_log_in(self):
        self.assertRegex(self.machine.run("getent", "passwd", "latchkey").stdout, "^latchkey:.*:/usr/sbin/nologin\n$")


class UpgradeTests(StoreTest):
    def test_items_and_passcode_survive_and_running_services_are_restarted(self):
        self.add_items()
        before = self.processes()
        self.upgrade()
        self.assertListening()
        self.assertItems()
        for old, new in zip(before, self.processes()):
            self.assertNotEqual(old, new)
        self.assertNotIn("latchkey", self.machine.run("systemctl", "--failed", "--plain", "--no-legend").stdout)

    def test_an_upgrade_does_not_start_services_that_are_not_in_use(self):
        self.upgrade()
        self.assertListening()
        self.assertEqual((self.state(KEYCHAIN), self.state(AUTHORITY)), ("inactive", "inactive"))

    def test_edited_configuration_stays_and_unedited_is_replaced(self):
        edited = self.machine.read(CONFIGURATION) + "# An administrator was here.\n"
        self.machine.write(CONFIGURATION, edited)

        def change(root):
            for name in (CONFIGURATION, "/etc/pam.d/latchkey"):
                file = root / name.lstrip("/")
                file.write_text(file.read_text() + "# A new version.\n")
        self.upgrade(change)
        self.assertEqual(self.machine.read(CONFIGURATION), edited)
        self.assertIn("# A new version.", self.machine.read(CONFIGURATION + ".dpkg-dist"))
        self.assertIn("# A new version.", self.machine.read("/etc/pam.d/latchkey"))
        self.machine.run("rm", CONFIGURATION + ".dpkg-dist")
        self.latchkey("set", "--protect", "none", "token", input="a secret")

    def test_a_switched_off_socket_stays_off(self):
        self.machine.run("systemctl", "disable", "--now", "latchkeyd.socket")
        self.upgrade()
        self.assertEqual(self.state("latchkeyd.socket"), "inactive")
        self.assertEqual(self.machine.run("systemctl", "is-enabled", "latchkeyd.socket", check=False).stdout, "disabled\n")
        self.machine.run("systemctl", "enable", "--now", "latchkeyd.socket")


class RemovalTests(StoreTest):
    def assertNoUnits(self):
        for unit in (*SOCKETS, KEYCHAIN, AUTHORITY):
            self.assertEqual(self.machine.unit(unit)["LoadState"], "not-found", unit)
        self.assertFalse(self.exists("/run/latchkey"))
        self.assertEqual(self.machine.run("pgrep", "-f", "^/usr/libexec/latchkey", check=False).stdout, "")

    def test_removal_keeps_stores_and_configuration_and_a_new_installation_uses_them(self):
        self.add_items()
        self.remove()
        self.assertNoUnits()
        self.assertFalse(self.exists("/usr/bin/latchkey"))
        self.assertTrue(self.exists(f"{STORES}/1001/root.key"))
        self.assertTrue(self.exists(f"{RECORDS}/1001"))
        self.assertTrue(self.exists(CONFIGURATION))
        self.install()
        self.assertListening()
        self.assertItems()

    def test_without_the_services_a_program_makes_no_store_of_its_own(self):
        self.add_items()
        self.machine.run("cp", "/usr/bin/latchkey", "/usr/local/bin/another-program")
        self.addCleanup(self.machine.run, "rm", "/usr/local/bin/another-program")
        self.remove()
        done = self.machine.run("another-program", "set", "--protect", "none", "token", user="alice",
                                input="a secret", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.machine.run("find", "/home/alice", "-name", "root.key").stdout, "")

    def test_a_purge_without_an_answer_keeps_the_stores_and_says_so(self):
        self.add_items()
        done = self.purge()
        self.assertIn(f"the keychains of the users remain in {STORES} {RECORDS}", done.stdout + done.stderr)
        self.assertNoUnits()
        self.assertFalse(self.exists("/etc/latchkey"))
        self.assertTrue(self.exists(f"{STORES}/1001/root.key"))
        self.install()
        self.assertItems()

    def test_a_purge_deletes_the_stores_after_the_answer_yes(self):
        self.add_items()
        self.answer(True)
        done = self.purge()
        self.assertNotIn("remain", done.stdout + done.stderr)
        self.assertFalse(self.exists(STORES))
        self.assertFalse(self.exists(RECORDS))

    def test_an_earlier_answer_is_not_used_for_another_purge(self):
        self.answer(True)
        self.purge()
        self.install()
        self.add_items()
        self.purge()
        self.assertTrue(self.exists(f"{STORES}/1001/root.key"))

    def test_a_purge_of_unused_packages_leaves_no_file(self):
        self.install(*PACKAGES, "latchkey-sdk")
        self.latchkey("status")
        self.answer(True)
        self.purge(*PACKAGES, field(built("latchkey-sdk"), "Package"))
        self.assertEqual(self.all_files() - self.files - ACCOUNTS, set())
        self.assertEqual(self.files - self.all_files(), set())


class WindowTests(PackageTest):
    def setUp(self):
        super().setUp()
        self.install(*PACKAGES)

    def test_the_programs_start_and_find_their_libraries(self):
        for program in ("/usr/libexec/latchkey-agent", "/usr/bin/latchkey-settings", "/usr/bin/quicknote",
                        "/usr/bin/latchkey"):
            self.assertIn("usage", self.machine.run(program, "--help", user="alice").stdout)
            self.assertNotIn("not found", self.machine.run("ldd", program).stdout)

    def test_quicknote_is_declared_with_its_program(self):
        declared = self.machine.run("cat", "/usr/share/latchkey/apps.d/quicknote.conf").stdout
        self.machine.run("test", "-x", re.search("^program = (.*)$", declared, re.MULTILINE)[1])
        rows = json.loads(self.latchkey("doctor", "--json", check=False).stdout)["rows"]
        self.assertEqual([row["state"] for row in rows if row["name"] == "declared apps"], ["ok"])


def blocks(heading):
    """The shell commands of a section of docs/use/packages.md."""
    page = (CHECKOUT / "docs/use/packages.md").read_text()
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


class RepositoryTests(PackageTest):
    """The commands of docs/use/packages.md, with a key that is thrown away."""

    def setUp(self):
        super().setUp()
        self.generate, self.publish, self.use = blocks("A signed repository")
        self.addCleanup(self.machine.run, "sh", "-c", "rm -rf /srv/signing /srv/repository /srv/latchkey-archive.gpg "
                        "/etc/apt/keyrings/latchkey-archive.gpg /etc/apt/sources.list.d/latchkey.sources "
                        # apt would go on with an earlier index.
                        "/var/lib/apt/lists/*")
        # Instead of a person who types a passphrase.
        self.machine.run("install", "-d", "-m", "700", "/srv/signing")
        self.machine.write("/srv/signing/gpg.conf", "batch\npinentry-mode loopback\npassphrase ''\n", 0o600)
        self.addCleanup(self.machine.run, "sh", "-c", "GNUPGHOME=/srv/signing gpgconf --kill all", check=False)

    def sh(self, script, check=True):
        return self.machine.run("sh", "-eu", "-c", script, env=WITHOUT_QUESTIONS, check=check, timeout=120)

    def refused(self, script):
        done = self.sh(script, check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertFalse(self.exists("/usr/bin/latchkey"))
        return done.stdout + done.stderr

    def test_apt_installs_from_the_repository_after_it_has_verified_the_signature(self):
        self.sh(self.generate + self.publish)
        self.sh(self.use)
        self.assertListening()
        origin = self.machine.run("apt-cache", "policy", "latchkey").stdout
        self.assertIn("file:/srv/repository stable/main", origin)

    def test_another_key_is_refused(self):
        self.sh(self.generate + self.publish)
        self.sh("export GNUPGHOME=/srv/signing; gpg --quick-generate-key 'Another one' ed25519 sign 2y; "
                "gpg --yes --local-user 'Another one' --clearsign --output /srv/repository/dists/stable/InRelease "
                "/srv/repository/dists/stable/Release")
        self.assertRegex(self.refused(self.use), "NO_PUBKEY|Missing key")

    def test_an_index_without_a_signature_is_refused(self):
        self.sh(self.generate + self.publish + "rm /srv/repository/dists/stable/InRelease\n")
        self.assertIn("not signed", self.refused(self.use))

    def test_an_altered_package_is_refused(self):
        self.sh(self.generate + self.publish)
        name = f"/srv/repository/pool/{built('latchkey').name}"
        self.sh(changing(name, 4000))
        self.assertIn("Hash Sum mismatch", self.refused(self.use))


class ImageTests(ContainerTest):
    def test_every_line_of_the_image_for_tests_runs(self):
        ran, others = self.run_lines("packaging/Containerfile")
        self.assertEqual((ran, list(others)), (3, ["FROM"]))
        compiler = field(built("latchkey-sdk"), "Package").removeprefix("latchkey-sdk-")
        self.assertIn(f"swift:{compiler}-", others["FROM"])
