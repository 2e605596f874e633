# SPDX-License-Identifier: Apache-2.0
"""Tests of what the service manager sees: readiness, signals, and the unit of the package."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from server import PROGRAM, Server, wait_until

CHECKOUT = pathlib.Path(__file__).resolve().parents[3]
UNIT = CHECKOUT / "packaging/server/latchkey-server.service"


class ReadinessTests(unittest.TestCase):
    def test_the_manager_is_told_when_the_server_listens_and_when_it_stops(self):
        with tempfile.TemporaryDirectory() as folder:
            for address, name in ((f"{folder}/notify", f"{folder}/notify"), ("\0latchkey", "@latchkey")):
                address, name = (text.replace("latchkey", "latchkey" + str(os.getpid())) for text in (address, name))
                with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                    manager.bind(address)
                    manager.settimeout(20)
                    with Server(environment={"NOTIFY_SOCKET": name}) as server:
                        self.assertEqual(manager.recv(100), b"READY=1")
                        self.assertEqual(server.send("GET", "/health")[0], 200)
                        self.assertEqual(server.stop(), 0)
                        self.assertEqual(manager.recv(100), b"STOPPING=1")

    def test_a_server_that_does_not_start_is_not_ready(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(f"{folder}/notify")
            (pathlib.Path(folder) / "configuration").write_text("port = 0\n")
            done = subprocess.run([PROGRAM, f"{folder}/configuration", "serve"], capture_output=True, timeout=20,
                                  env={"NOTIFY_SOCKET": f"{folder}/notify"})
            self.assertEqual(done.returncode, 1)
            manager.setblocking(False)
            self.assertRaises(BlockingIOError, manager.recv, 100)

    def test_a_manager_that_cannot_be_told_does_not_stop_the_server(self):
        for name in ("/nonexistent/socket", "relative", "/" + "a" * 200, ""):
            with Server(environment={"NOTIFY_SOCKET": name}) as server:
                self.assertEqual(server.send("GET", "/health")[0], 200, name)
                self.assertTrue(wait_until(lambda: "service manager not told" in server.written()))

    def test_sighup_without_tls_reads_the_secrets_only(self):
        with Server() as server:
            server.process.send_signal(signal.SIGHUP)
            self.assertTrue(wait_until(lambda: '"event":"secrets reloaded"' in server.written()))
            self.assertNotIn("certificate", server.written())
            self.assertEqual(server.send("GET", "/health")[0], 200)


class ProgramTests(unittest.TestCase):
    def test_the_server_links_exactly_the_documented_libraries(self):
        listed = subprocess.run(["readelf", "--dynamic", "--wide", PROGRAM], stdout=subprocess.PIPE, text=True,
                                check=True).stdout
        names = re.findall(r"\(NEEDED\).*\[(.*)\]", listed)
        self.assertTrue("libc.so.6" in names, names)
        usual = r"libc|libm|libgcc_s|libstdc\+\+|ld-linux.*|libswift.*|lib_?Foundation.*|lib_Internationalization|" \
                r"lib_?dispatch|libBlocksRuntime"
        others = sorted(name for name in names if not re.fullmatch(rf"({usual})\.so(\..*)?", name))
        self.assertEqual(others, ["libcrypto.so.3", "libgnutls.so.30", "libmicrohttpd.so.12", "libpq.so.5",
                                  "libsqlite3.so.0"])


class CredentialTests(unittest.TestCase):
    def test_a_credential_may_have_the_mask_of_an_access_list_and_other_secrets_may_not(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            secret = folder / "credentials/secret"
            secret.parent.mkdir()
            secret.write_text("00" * 32)
            (folder / "configuration").write_text(
                f"relying_party_id = a\ndatabase = {folder}/d\nsecret_file = {secret}\n")
            for directory, mode, code in ((secret.parent, 0o440, 0), (secret.parent, 0o400, 0), (None, 0o440, 1),
                                          (folder / "other", 0o440, 1), (secret.parent, 0o444, 1),
                                          (secret.parent, 0o460, 1), ("", 0o440, 1), (f"{folder}/cred", 0o440, 1),
                                          (folder / "credentials/secret", 0o440, 1)):
                secret.chmod(mode)
                done = subprocess.run([PROGRAM, folder / "configuration", "audit"], capture_output=True, timeout=20,
                                      env={} if directory is None else {"CREDENTIALS_DIRECTORY": str(directory)})
                self.assertEqual(done.returncode, code, (directory, oct(mode), done.stderr))


class PackageTests(unittest.TestCase):
    def example(self):
        return (CHECKOUT / "packaging/server/server.conf").read_text()

    def check(self, text, folder):
        """Runs a command with a configuration whose files are in a folder."""
        secret = pathlib.Path(folder) / "secret"
        secret.write_text("00" * 32)
        secret.chmod(0o600)
        text = text.replace("/etc/latchkey-server/secret", str(secret)).replace("/var/lib/latchkey-server", folder)
        (pathlib.Path(folder) / "configuration").write_text(text)
        return subprocess.run([PROGRAM, f"{folder}/configuration", "audit"], capture_output=True, text=True, timeout=20)

    def test_the_example_of_the_configuration_is_accepted_and_names_every_value(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.check(self.example(), folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            named = set(re.findall(r"^#?([a-z_]+) = ", self.example(), re.MULTILINE))
            source = (CHECKOUT / "RelyingParty/Sources/latchkey-server/Configuration.swift").read_text()
            known = set(re.findall(r'"([a-z_]+)"', re.search(r"static let names: .*?\n    \]", source, re.DOTALL)[0]))
            self.assertEqual(named, known)
            page = (CHECKOUT / "packaging/man/latchkey-server.8").read_text()
            for name in known:
                self.assertIn(name, page)

    def test_every_commented_value_of_the_example_is_one_that_is_accepted(self):
        with tempfile.TemporaryDirectory() as folder:
            for line in re.findall(r"^#([a-z_]+ = .*)$", self.example(), re.MULTILINE):
                # Those of TLS and those of PostgreSQL belong together, and the certificates of makers are in a file.
                if re.match("tls_|hsts_|address|connections_per_client|postgresql|node|ek_roots", line):
                    continue
                done = self.check(self.example() + line + "\n", folder)
                self.assertTrue(done.returncode == 0 or "previous" in line, (line, done.stderr))

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_the_unit_has_no_mistake_and_little_exposure(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder) / UNIT.name
            unit.write_text(UNIT.read_text().replace("/usr/sbin/latchkey-server", str(pathlib.Path(PROGRAM).resolve())))
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if UNIT.name in line]), (0, []))
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True,
                                  timeout=60)
            exposure = re.search(r"Overall exposure level for .*: ([0-9.]+)", done.stdout)
            self.assertIsNotNone(exposure, done.stdout + done.stderr)
            print("exposure", exposure[1])
            # What remains is that it accepts connections from the network.
            self.assertLessEqual(float(exposure[1]), 1.5)
