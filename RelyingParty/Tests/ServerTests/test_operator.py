# SPDX-License-Identifier: Apache-2.0
"""Tests of what an operator does: rotation of the secret, backup and restore, export and deletion, frozen keys."""
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import stat
import struct
import subprocess
import tempfile
import unittest

from server import PROGRAM, Device, Server, text, wait_until
from test_server import REFUSED


def bearer(session):
    return {"Authorization": "Bearer " + session["token"]}


class CountingDevice(Device):
    """A key whose client counts its uses."""

    def sign_in(self, counter):
        proof = self.proof()
        signature = self.sign(self.signed + struct.pack(">Q", counter))
        return self.server.post("/v1/sessions", proof | {"signature": text(signature), "counter": counter})


class OperatorTests(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def serve(self, **settings):
        return self.enterContext(Server(self.folder, **settings))

    def fails(self, server, *arguments, code=1):
        """Runs a command that must fail; returns its message."""
        done = subprocess.run([PROGRAM, server.configuration, *arguments], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, code, done.stdout)
        self.assertTrue(done.stderr.startswith("error: "), done.stderr)
        return done.stderr

    def wait_for(self, server, event):
        """Waits for an event in the log, which is the only sign that a signal was handled."""
        self.assertTrue(wait_until(lambda: f'"event":"{event}"' in server.written()), server.written())


class CounterTests(OperatorTests):
    def test_a_counter_that_does_not_increase_freezes_the_key(self):
        server = self.serve(metrics_port=0)
        device = CountingDevice(server, "ada").register()
        self.assertEqual(device.sign_in(1)[0], 201)
        status, session = device.sign_in(2)
        self.assertEqual(status, 201)
        self.assertEqual(device.sign_in(2), (401, REFUSED))
        self.assertEqual(device.sign_in(3), (401, REFUSED))
        self.assertEqual(server.send("GET", "/v1/session", headers=bearer(session))[0], 401)
        self.assertIn("frozen", server.command("keys", "ada"))
        self.fails(server, "unfreeze", "--", "bob", text(device.id))
        server.command("unfreeze", "--", "ada", text(device.id))
        self.fails(server, "unfreeze", "--", "ada", text(device.id))
        self.assertEqual(device.sign_in(1)[0], 201)
        server.port = server.first["metricsPort"]
        metrics = server.send("GET", "/metrics")[1].decode()
        for reason in ("counterRegressed", "frozenKey"):
            self.assertIn(f'latchkey_server_refusals_total{{reason="{reason}"}} 1', metrics)

    def test_counters_have_one_form(self):
        server = self.serve()
        device = CountingDevice(server, "ada").register()
        proof = device.proof()
        for wrong in (-1, 1.5, "1", True, None, 2 ** 53, 2 ** 63, 2 ** 64, [1]):
            self.assertEqual(server.post("/v1/sessions", proof | {"counter": wrong})[0], 400, wrong)
        # The counter is not signed.
        self.assertEqual(server.post("/v1/sessions", proof | {"counter": 1}), (401, REFUSED))
        self.assertEqual(server.post("/v1/revocations", proof | {"target": "user", "counter": 1})[0], 400)


class RotationTests(OperatorTests):
    def test_challenges_from_before_a_rotation_redeem_once_and_those_before_that_do_not(self):
        server = self.serve(previous_secret_file=self.folder / "previous")
        device = Device(server, "ada").register()
        oldest, code = device.proof(), server.command("code", "ada")
        first = (self.folder / "secret").read_text()

        server.command("rotate-secret")
        self.assertEqual((self.folder / "previous").read_text(), first)
        for name in ("secret", "previous"):
            self.assertEqual(stat.S_IMODE((self.folder / name).stat().st_mode), 0o600)
        self.assertEqual(len((self.folder / "secret").read_text().strip()), 64)
        server.process.send_signal(signal.SIGHUP)
        self.wait_for(server, "secrets reloaded")
        # Issued before, redeemed after; and an enrolment code from before is a code still.
        kept = Device(server, "ada")
        self.assertEqual(server.post("/v1/sessions", oldest)[0], 201)
        self.assertEqual(server.post("/v1/sessions", oldest), (401, REFUSED))
        self.assertEqual(server.post("/v1/keys", kept.registration(code))[0], 201)

        waiting = [kept.proof() for _ in range(2)]
        late = server.command("code", "ada")
        for expected in (201, 401):
            server.command("rotate-secret")
            lines = server.written().count('"event":"secrets reloaded"')
            server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: server.written().count('"event":"secrets reloaded"') > lines))
            self.assertEqual(server.post("/v1/sessions", waiting.pop())[0], expected)
        self.assertEqual(server.post("/v1/keys", Device(server, "ada").registration(late)), (401, REFUSED))
        self.assertEqual(kept.sign_in()[0], 201)

    def test_a_damaged_secret_changes_nothing(self):
        server = self.serve(previous_secret_file=self.folder / "previous")
        device = Device(server, "ada").register()
        waiting = device.proof()
        good = (self.folder / "secret").read_text()
        (self.folder / "secret").write_text("00")
        self.fails(server, "rotate-secret")
        self.assertFalse((self.folder / "previous").exists())
        server.process.send_signal(signal.SIGHUP)
        self.wait_for(server, "secrets not reloaded")
        self.assertEqual(server.post("/v1/sessions", waiting)[0], 201)
        (self.folder / "secret").write_text(good)
        (self.folder / "previous").write_text(good)
        (self.folder / "previous").chmod(0o644)
        self.fails(server, "rotate-secret")
        self.assertEqual((self.folder / "secret").read_text(), good)

    def test_a_rotation_needs_a_place_for_the_old_secret(self):
        server = self.serve()
        self.assertIn("previous_secret_file", self.fails(server, "rotate-secret"))


class RootTests(OperatorTests):
    """Root runs the commands, and the server runs as another user, as with the packaged unit."""
    SERVER_USER = 65534

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("only root runs the commands of another user's server")
        super().setUp()

    def serve(self, **settings):
        return super().serve(user=self.SERVER_USER, previous_secret_file=self.folder / "previous",
                             revocations_file=self.folder / "revocations", **settings)

    def owner(self, name):
        status = (self.folder / name).stat()
        return status.st_uid, stat.S_IMODE(status.st_mode)

    def test_a_server_of_another_user_reads_what_a_rotation_wrote(self):
        server = self.serve()
        device = Device(server, "ada").register()
        waiting = device.proof()
        for count in (1, 2):
            server.command("rotate-secret")
            self.assertEqual([self.owner(name) for name in ("secret", "previous")], 2 * [(self.SERVER_USER, 0o600)])
            server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: server.written().count('"event":"secrets reloaded"') == count), server.written())
            self.assertEqual(server.post("/v1/sessions", waiting)[0], 201)
            waiting = device.proof()
        # Root's commands read the files of the other user, and know the same secret.
        self.assertEqual(server.post("/v1/keys", Device(server, "bob").registration(server.command("code", "bob")))[0], 201)
        server.stop()
        self.serve()

    def test_the_secret_of_root_stays_one_and_the_copy_of_the_service_manager_is_not_reported_as_reloaded(self):
        credentials = self.folder / "credentials"
        credentials.mkdir()
        secret, copy = self.folder / "secret", credentials / "secret"
        secret.write_text(os.urandom(32).hex())
        secret.chmod(0o600)

        def start():
            shutil.copy(secret, copy)
            copy.chmod(0o600)
            for path in (credentials, copy):
                os.chown(path, self.SERVER_USER, self.SERVER_USER)
            server = self.serve(secret_file=copy)
            # The commands of root have another configuration than the service, whose unit names the copy.
            text = server.configuration.read_text().replace(str(copy), str(secret))
            server.environment = os.environ | {"CREDENTIALS_DIRECTORY": str(credentials)}
            server.configuration.write_text(text)
            return server

        os.environ["CREDENTIALS_DIRECTORY"] = str(credentials)
        self.addCleanup(os.environ.pop, "CREDENTIALS_DIRECTORY")
        server = start()
        os.chown(secret, 0, 0)
        server.command("rotate-secret")
        self.assertEqual([self.owner(name) for name in ("secret", "previous")], [(0, 0o600), (self.SERVER_USER, 0o600)])
        server.process.send_signal(signal.SIGHUP)
        self.wait_for(server, "secrets not reloaded")
        self.assertNotIn('"event":"secrets reloaded"', server.written())
        server.stop()
        again = start()
        self.assertEqual(again.post("/v1/keys", Device(again, "bob").registration(again.command("code", "bob")))[0], 201)

    def test_the_list_that_a_revocation_by_root_made_is_one_of_the_server(self):
        server = self.serve()
        devices = [Device(server, name).register() for name in ("ada", "bob")]
        self.assertEqual(server.command("revoke", "ada"), "1")
        self.assertEqual(self.owner("revocations"), (self.SERVER_USER, 0o600))
        target = "key:" + text(devices[1].id)
        self.assertEqual(server.post("/v1/revocations", devices[1].proof("revoke", target) | {"target": target})[0], 200)
        server.stop()
        self.assertEqual(server.command("restored").splitlines()[1], "keys revoked again: 0")
        self.assertEqual(len((self.folder / "revocations").read_text().splitlines()), 2)
        self.serve()

    def reconfigure(self, server, **settings):
        """Replaces settings in the configuration of the commands; that of the server stays."""
        lines = [line for line in server.configuration.read_text().splitlines() if line.split(" = ")[0] not in settings]
        lines += [f"{name} = {value}" for name, value in settings.items()]
        server.configuration.write_text("".join(line + "\n" for line in lines))

    def test_root_follows_no_link_of_the_server_to_a_folder(self):
        server = self.serve()
        for user in ("ada", "bob"):
            Device(server, user).register()
        trusted = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # The secret of another service, of which the server's user would get a copy.
        (trusted / "secret").write_text(os.urandom(32).hex())
        (trusted / "secret").chmod(0o600)
        (self.folder / "lists").symlink_to(trusted)
        os.chown(self.folder / "lists", self.SERVER_USER, self.SERVER_USER, follow_symlinks=False)
        # A link of root in a folder of the server's user may have been moved there.
        for user, owner in (("ada", self.SERVER_USER), ("bob", 0)):
            os.chown(self.folder / "lists", owner, owner, follow_symlinks=False)
            for name in ("revocations_file", "previous_secret_file", "secret_file"):
                last = "secret" if name == "secret_file" else "new"
                settings = {each: self.folder / each for each in ("revocations_file", "previous_secret_file")}
                settings |= {"secret_file": self.folder / "secret", name: self.folder / "lists" / last}
                self.reconfigure(server, **settings)
                command = ("revoke", user) if name == "revocations_file" else ("rotate-secret",)
                self.assertIn("Root follows only symbolic links", self.fails(server, *command))
                self.assertEqual(os.listdir(trusted), ["secret"])
                self.assertFalse((self.folder / "previous_secret_file").exists())

    def test_root_follows_its_own_links_to_the_folder_of_the_server(self):
        server = self.serve()
        server.stop()
        own = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (own / "first").symlink_to("../" + own.name + "/second")
        (own / "second").symlink_to(self.folder)
        # Before there is a database, the files are those of the owner of their folder.
        self.reconfigure(server, secret_file=own / "first/secret", previous_secret_file=own / "first/previous",
                         revocations_file=own / "first/revocations", database=own / "missing.sqlite")
        server.command("rotate-secret")
        self.assertEqual([self.owner(name) for name in ("secret", "previous")], 2 * [(self.SERVER_USER, 0o600)])
        (own / "second").unlink()
        (own / "second").symlink_to("first")
        self.assertIn("cannot be opened", self.fails(server, "rotate-secret"))

    def test_root_changes_no_file_to_which_the_files_of_a_database_lead(self):
        server = self.serve()
        Device(server, "ada").register()
        server.stop()
        trusted = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        database = self.folder / "server.sqlite"
        for suffix in ("-wal", "-shm", "-journal", ""):
            precious = trusted / ("file" + suffix)
            precious.write_bytes(b"precious" if suffix else database.read_bytes())
            precious.chmod(0o600)
            before = precious.read_bytes()
            link = pathlib.Path(f"{database}{suffix}")
            if not suffix:
                database.rename(self.folder / "moved")
            link.symlink_to(precious)
            os.chown(link, self.SERVER_USER, self.SERVER_USER, follow_symlinks=False)
            # Whether the command fails depends on the file; none may change what is root's.
            for command in (("code", "bob"), ("backup", self.folder / f"backup{suffix}")):
                subprocess.run([PROGRAM, server.configuration, *command], capture_output=True, timeout=30)
            self.assertEqual(precious.read_bytes(), before, suffix)
            self.assertEqual((precious.stat().st_uid, stat.S_IMODE(precious.stat().st_mode)), (0, 0o600), suffix)
            link.unlink(missing_ok=True)
        (self.folder / "moved").rename(database)
        self.assertEqual(self.serve().send("GET", "/health")[0], 200)

    def test_root_opens_no_database_of_its_own_to_which_the_folder_leads(self):
        data, moved = self.folder / "data", self.folder / "moved"
        data.mkdir()
        os.chown(data, self.SERVER_USER, self.SERVER_USER)
        server = self.serve(database=data / "server.sqlite")
        Device(server, "ada").register()
        server.stop()
        trusted = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        # An empty database, in which the server would make its tables.
        with contextlib.closing(sqlite3.connect(trusted / "server.sqlite")) as database:
            database.execute("PRAGMA user_version = 0")
            database.execute("VACUUM")
        (trusted / "server.sqlite").chmod(0o600)
        before = (trusted / "server.sqlite").read_bytes()
        # A secret of the server's user is refused beside a database of root.
        os.chown(self.folder / "secret", 0, 0)
        data.rename(moved)
        data.symlink_to(trusted)
        os.chown(data, self.SERVER_USER, self.SERVER_USER, follow_symlinks=False)
        for command in (("code", "bob"), ("backup", self.folder / "backup"), ("backup", data / "backup")):
            self.assertIn("Root follows only symbolic links", self.fails(server, *command))
        self.assertEqual(os.listdir(trusted), ["server.sqlite"])
        self.assertEqual((trusted / "server.sqlite").read_bytes(), before)
        data.unlink()
        moved.rename(data)
        server.command("backup", str(self.folder / "backup"))

    def test_a_backup_belongs_to_the_owner_of_its_folder(self):
        server = self.serve()
        Device(server, "ada").register()
        server.command("backup", str(self.folder / "backup"))
        self.assertEqual(self.owner("backup"), (self.SERVER_USER, 0o600))
        own = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server.command("backup", str(own / "backup"))
        status = (own / "backup").stat()
        self.assertEqual((status.st_uid, stat.S_IMODE(status.st_mode)), (0, 0o600))

    def test_root_refuses_a_secret_of_a_third_user(self):
        server = self.serve()
        os.chown(self.folder / "secret", 65533, 65533)
        self.assertIn("belongs to another user", self.fails(server, "code", "ada"))


class RestoreTests(OperatorTests):
    def test_a_backup_is_made_while_the_server_writes(self):
        server = self.serve()
        device = Device(server, "ada").register()
        target = self.folder / "backup"
        backup = subprocess.Popen([PROGRAM, server.configuration, "backup", target], stdout=subprocess.PIPE, text=True)
        for _ in range(10):
            self.assertEqual(device.sign_in()[0], 201)
        self.assertIn("complete", backup.communicate(timeout=30)[0])
        self.assertEqual(backup.returncode, 0)
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o600)
        self.assertEqual([path.name for path in self.folder.glob("backup*")], ["backup"])
        copy = sqlite3.connect(target)
        self.addCleanup(copy.close)
        self.assertEqual(copy.execute("SELECT count(*) FROM keys WHERE user <> ''").fetchone(), (1,))

    def test_a_backup_overwrites_nothing_and_is_verified(self):
        server = self.serve()
        Device(server, "ada").register()
        target = self.folder / "backup"
        target.write_text("precious")
        self.fails(server, "backup", str(target))
        self.assertEqual(target.read_text(), "precious")
        link = self.folder / "link"
        link.symlink_to(self.folder / "elsewhere")
        self.fails(server, "backup", str(link))
        self.assertFalse((self.folder / "elsewhere").exists())
        # SQLite would delete these as parts of the copy.
        beside = self.folder / "third-wal"
        beside.write_text("precious")
        self.assertIn("exists", self.fails(server, "backup", str(self.folder / "third")))
        self.assertEqual(beside.read_text(), "precious")
        self.fails(server, "backup", "relative")
        self.fails(server, "backup", str(self.folder / "missing" / "backup"))
        # A changed row of the audit log: there is no backup that looks like a good one.
        database = sqlite3.connect(self.folder / "server.sqlite", isolation_level=None)
        database.execute("UPDATE audit SET event = 'x' WHERE number = 1")
        database.close()
        self.assertIn("audit", self.fails(server, "backup", str(self.folder / "second")))
        self.assertFalse((self.folder / "second").exists())

    def test_drill_of_a_restore(self):
        """docs/use/server.md, "Backup and restore"."""
        settings = {"revocations_file": self.folder / "revocations"}
        server = self.serve(**settings)
        lost, kept, leaver = Device(server, "ada").register(), Device(server, "bob").register(), Device(
            server, "eve").register()
        copied = CountingDevice(server, "cy").register()
        self.assertEqual(copied.sign_in(5)[0], 201)
        session = kept.sign_in()[1]
        server.command("administrator", "mal")
        server.command("backup", str(self.folder / "backup"))

        # What happens after the backup.
        self.assertIn("1", server.command("revoke", "ada"))
        server.command("delete", "eve")
        server.command("administrator", "mal", "--remove")
        self.assertEqual(copied.sign_in(5), (401, REFUSED))
        self.assertEqual(server.send("DELETE", "/v1/session", headers=bearer(session))[0], 204)
        spent = kept.proof()
        self.assertEqual(server.post("/v1/sessions", spent)[0], 201)
        server.stop()

        # The disk is lost. The list of revocations is elsewhere, and the backup is put in place.
        for name in ("server.sqlite", "server.sqlite-wal", "server.sqlite-shm"):
            (self.folder / name).unlink(missing_ok=True)
        shutil.copy(self.folder / "backup", self.folder / "server.sqlite")
        (self.folder / "server.sqlite").chmod(0o600)
        self.assertIn("restored", self.fails(server, "serve"))
        done = server.command("restored").splitlines()
        self.assertEqual(done, ["ended sessions: 2", "keys revoked again: 1", "keys frozen again: 1",
                                "users deleted again: 1", "administrators removed again: 1",
                                "services removed again: 0"])

        again = self.serve(**settings)
        for device in (lost, kept, leaver, copied):
            device.server = again
        self.assertEqual(again.post("/v1/sessions", spent), (401, REFUSED), "a spent challenge stays spent")
        self.assertEqual(lost.sign_in(), (401, REFUSED))
        self.assertEqual(leaver.sign_in(), (401, REFUSED))
        self.assertEqual(copied.sign_in(9), (401, REFUSED))
        self.assertEqual(again.send("GET", "/v1/session", headers=bearer(session))[0], 401)
        self.assertEqual(kept.sign_in()[0], 201)
        self.assertIn("unchanged", again.command("audit"))
        self.assertEqual(again.command("restored").splitlines()[1:], [
            "keys revoked again: 0", "keys frozen again: 0", "users deleted again: 0",
            "administrators removed again: 0", "services removed again: 0"])

    def test_the_list_has_every_revocation_and_no_names(self):
        settings = {"revocations_file": self.folder / "revocations"}
        server = self.serve(**settings)
        devices = [Device(server, "adalovelace").register() for _ in range(3)]
        new = Device(server, "adalovelace")
        proof = devices[0].proof("rotate", "user:" + text(new.id))
        body = proof | {"publicKey": {"format": "pem", "value": new.pem}, "tier": "user",
                        "newSignature": text(new.sign(devices[0].signed))}
        self.assertEqual(server.post("/v1/rotations", body)[0], 201)
        target = "key:" + text(devices[1].id)
        self.assertEqual(server.post("/v1/revocations", new.proof("revoke", target) | {"target": target})[0], 200)
        server.command("revoke", "adalovelace", "device", "test")
        lines = (self.folder / "revocations").read_text().splitlines()
        self.assertEqual(lines[:2], ["revoked " + text(device.id) for device in devices[:2]])
        self.assertEqual(sorted(lines[2:]), sorted("revoked " + text(device.id) for device in (devices[2], new)))
        self.assertNotIn("adalovelace", "".join(lines))
        server.stop()
        # What the list lacks is appended at the next start: the last process ended before it could.
        (self.folder / "revocations").write_text("\n".join(lines[1:]) + "\n")
        with Server(self.folder, **settings):
            self.assertEqual(sorted((self.folder / "revocations").read_text().splitlines()), sorted(lines))

    def test_a_removal_that_was_killed_before_its_line_was_written_is_repeated(self):
        server = self.serve(revocations_file=self.folder / "revocations")
        server.command("administrator", "ada")
        server.command("administrator", "ada", "--remove")
        line = (self.folder / "revocations").read_text()
        self.assertRegex(line, "^demoted [A-Za-z0-9_-]{22} [0-9]+\n$")
        (self.folder / "revocations").write_text("")
        self.assertEqual(server.command("administrator", "ada", "--remove"), "the user is no administrator any more")
        self.assertEqual((self.folder / "revocations").read_text(), line)
        self.assertIn("is no administrator", self.fails(server, "administrator", "ada", "--remove"))
        self.assertEqual((self.folder / "revocations").read_text(), line)

    def test_a_list_that_cannot_be_used_stops_the_server(self):
        settings = {"revocations_file": self.folder / "revocations"}
        server = self.serve(**settings)
        device = Device(server, "ada").register()
        (self.folder / "revocations").mkdir()
        self.fails(server, "revoke", "ada")
        (self.folder / "revocations").rmdir()
        # Nothing waits for the reader of a FIFO.
        other, third = Device(server, "bob").register(), Device(server, "carol").register()
        os.mkfifo(self.folder / "revocations", 0o600)
        self.assertIn("not a regular file", self.fails(server, "revoke", "bob"))
        self.assertEqual(other.sign_in(), (401, REFUSED))
        (self.folder / "revocations").unlink()
        # What follows an incomplete line would become a part of it.
        (self.folder / "revocations").write_text("revoked AAAA")
        (self.folder / "revocations").chmod(0o600)
        self.assertIn("has no end", self.fails(server, "revoke", "carol"))
        self.assertEqual(third.sign_in(), (401, REFUSED))
        self.assertEqual((self.folder / "revocations").read_text(), "revoked AAAA")
        (self.folder / "revocations").unlink()
        self.assertEqual(device.sign_in(), (401, REFUSED), "the revocation is in the database")
        server.stop()
        for wrong in ("revoked\n", "revoked AAAA\n", "removed " + text(device.id) + "\n", "revoked " + text(device.id)[:-1]):
            (self.folder / "revocations").write_text(wrong)
            (self.folder / "revocations").chmod(0o600)
            self.assertIn("Line 1" if wrong.endswith("\n") else "has no end", self.fails(server, "serve"))
        (self.folder / "revocations").chmod(0o644)
        self.assertIn("chmod 600", self.fails(server, "serve"))


class UpgradeTests(OperatorTests):
    """What a program of a later version does is made by statements: it adds a column, and removes one in the end."""

    def test_a_file_that_a_later_program_has_taken_over_is_not_served(self):
        server = self.serve()
        device = Device(server, "ada").register()
        session = device.sign_in()[1]
        # Expanded: the server goes on, and starts again.
        self.change("ALTER TABLE nodes ADD more INTEGER", "UPDATE marks SET value = 2 WHERE name = 'version'")
        self.assertEqual(device.sign_in()[0], 201)
        server.stop()
        server = device.server = self.serve(database=self.folder / "server.sqlite")
        self.assertEqual(device.sign_in()[0], 201)
        self.assertEqual(server.send("GET", "/v1/session", headers=bearer(session))[0], 200)
        self.assertEqual(server.send("GET", "/ready")[0], 200)
        # Contracted: it reads and stores nothing more.
        proof, stored = device.proof(), self.rows()
        self.change("ALTER TABLE nodes DROP COLUMN copied", "UPDATE marks SET value = 2 WHERE name = 'least'")
        self.assertEqual(server.post("/v1/sessions", proof)[0], 503)
        self.assertEqual(server.send("GET", "/v1/session", headers=bearer(session))[0], 503)
        self.assertEqual(server.send("DELETE", "/v1/session", headers=bearer(session))[0], 503)
        # What was found is remembered for a second.
        self.assertTrue(wait_until(lambda: server.send("GET", "/ready")[0] == 503))
        self.assertEqual(self.rows(), stored)
        server.stop()
        self.assertIn("version 2 or later, and this one has 1", self.fails(server, "serve"))

    def change(self, *statements):
        with contextlib.closing(sqlite3.connect(self.folder / "server.sqlite")) as database, database:
            for statement in statements:
                database.execute(statement)

    def rows(self):
        with contextlib.closing(sqlite3.connect(self.folder / "server.sqlite")) as database:
            return [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                    for table in ("sessions", "audit", "keys", "codes")]

    def test_a_rehearsal_restores_and_upgrades_a_copy_and_changes_nothing_else(self):
        settings = {"revocations_file": self.folder / "revocations"}
        server = self.serve(**settings)
        lost, kept = Device(server, "ada").register(), Device(server, "bob").register()
        session = kept.sign_in()[1]
        server.command("administrator", "mal")
        # In the list, and not in the database: a copy lacks it, as one that was made before does.
        with open(self.folder / "revocations", "a") as file:
            file.write(f"revoked {text(lost.id)}\n")
        (self.folder / "revocations").chmod(0o600)
        lines, stored = (self.folder / "revocations").read_text(), self.rows()
        scratch = self.folder / "scratch"
        scratch.mkdir()
        report = json.loads(server.command("rehearse", "--json", str(scratch)))
        self.assertEqual(report, {
            "version": 1, "versionAfterUpgrade": 1,
            "rows": {"keys": 2, "passkeys": 0, "users": 3, "administrators": 1, "services": 0, "sessions": 1,
                     "retired": 0, "audit": stored[1]},
            "verifiedRows": stored[1] + 1, "missingRevocations": 1, "endedSessions": 1, "revokedKeys": 1,
            "frozenKeys": 0, "deletedUsers": 0, "removedAdministrators": 0, "removedServices": 0})
        self.assertIn("The rehearsal succeeded.", server.command("rehearse", str(scratch)))
        # The copies are gone, and the server and its list have what they had.
        self.assertEqual(list(scratch.iterdir()), [])
        self.assertEqual((self.folder / "revocations").read_text(), lines)
        self.assertEqual(self.rows(), stored)
        self.assertEqual(server.send("GET", "/v1/session", headers=bearer(session))[0], 200)
        self.assertEqual(lost.sign_in()[0], 201, "the rehearsal revoked the key in the copy only")

    def test_a_rehearsal_fails_where_a_restore_would(self):
        settings = {"revocations_file": self.folder / "revocations"}
        server = self.serve(**settings)
        Device(server, "ada").register()
        scratch = self.folder / "scratch"
        scratch.mkdir()
        self.assertIn("not an absolute path", self.fails(server, "rehearse", "scratch"))
        self.assertIn("cannot be", self.fails(server, "rehearse", str(self.folder / "missing")))
        (scratch / "latchkey-rehearsal.sqlite").write_text("precious")
        self.assertIn("cannot be made", self.fails(server, "rehearse", str(scratch)))
        self.assertEqual((scratch / "latchkey-rehearsal.sqlite").read_text(), "precious")
        (scratch / "latchkey-rehearsal.sqlite").unlink()
        (self.folder / "revocations").write_text("revoked\n")
        (self.folder / "revocations").chmod(0o600)
        self.assertIn("Line 1", self.fails(server, "rehearse", str(scratch)))
        (self.folder / "revocations").unlink()
        # A changed row, and a database of a later program.
        self.change("UPDATE audit SET event = 'x' WHERE number = 1")
        self.assertIn("row 1 of the audit log", self.fails(server, "rehearse", str(scratch)))
        self.change("UPDATE marks SET value = 2")
        self.assertIn("version 2 or later", self.fails(server, "rehearse", str(scratch)))
        self.assertEqual(list(scratch.iterdir()), [])


class AccountTests(OperatorTests):
    def test_an_export_has_everything_but_tokens(self):
        server = self.serve()
        device = Device(server, "ada").register()
        session = device.sign_in()[1]
        server.command("code", "ada")
        exported = server.command("export", "ada", "--json")
        stored = json.loads(exported)
        self.assertEqual(stored["user"], "ada")
        self.assertEqual([key["key"] for key in stored["keys"]], [text(device.id)])
        self.assertEqual(stored["keys"][0]["proven"], {"device": "none", "model": "", "chip": ""})
        self.assertEqual([event["event"] for event in stored["events"]], ["code", "register", "login", "code"])
        self.assertEqual(len(stored["sessions"]), 1)
        self.assertIsNotNone(stored["codeExpires"])
        token = base64.urlsafe_b64decode(session["token"] + "=")
        for secret in (session["token"], text(hashlib.sha256(token).digest())):
            self.assertNotIn(secret, exported)
        self.assertIn("open sessions: 1", server.command("export", "ada"))
        self.fails(server, "export", "eve")
        self.fails(server, "export", "ada", "--yaml", code=64)

    def test_a_deleted_user_is_gone_from_the_file_as_well(self):
        server = self.serve()
        device = Device(server, "adalovelace").register()
        session = device.sign_in()[1]
        server.command("delete", "adalovelace")
        self.assertEqual(device.sign_in(), (401, REFUSED))
        self.assertEqual(server.send("GET", "/v1/session", headers=bearer(session))[0], 401)
        self.assertIn("4 rows", server.command("audit"))
        self.fails(server, "delete", "adalovelace")
        server.stop()
        # A checkpoint moves the last pages from the log of the database, and deleted rows are overwritten.
        database = sqlite3.connect(self.folder / "server.sqlite")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        for path in self.folder.iterdir():
            self.assertNotIn(b"adalovelace", path.read_bytes(), path.name)

    def test_a_deleted_database_makes_the_server_unready(self):
        server = self.serve()
        device = Device(server, "ada").register()
        session = bearer(device.sign_in()[1])
        proof = device.proof()
        self.assertEqual(server.send("GET", "/ready")[0], 200)
        self.assertEqual(server.send("GET", "/v1/session", headers=session)[0], 200)
        os.rename(self.folder / "server.sqlite", self.folder / "moved.sqlite")
        # Readiness is known for a second.
        self.assertTrue(wait_until(lambda: server.send("GET", "/ready")[0] != 200))
        self.assertEqual(server.post("/v1/sessions", proof)[0], 503, "nothing is acknowledged that would be lost")
        self.assertEqual(server.send("GET", "/v1/session", headers=session)[0], 503, "what is read would be out of date")
        self.assertEqual(server.send("GET", "/health")[0], 200)
