# SPDX-License-Identifier: Apache-2.0
"""Tests of the command line: help, exit codes, suggestions, JSON and completion."""
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest

from server import PROGRAM, Device, Server

CHECKOUT = pathlib.Path(__file__).resolve().parents[3]


def run(*arguments):
    """Exit code, standard output and standard error."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=20)
    return done.returncode, done.stdout, done.stderr


def names():
    """The commands that the help lists."""
    return re.findall(r"^  ([a-z-]+)", run("--help")[1], re.MULTILINE)


class BytesTests(unittest.TestCase):
    """What is not UTF-8 is refused, and two names that only look alike are two."""

    def error(self, configuration, **environment):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "configuration")
            path.write_bytes(configuration)
            values = {os.fsencode(name): value for name, value in environment.items()}
            done = subprocess.run(
                [PROGRAM, path, "audit"], capture_output=True, env=os.environb | values, timeout=20)
            return done.returncode, done.stderr.decode()

    def test_a_configuration_that_is_not_utf_8_is_refused(self):
        code, error = self.error(b"database = /caf\xe9\n")
        self.assertEqual(code, 1)
        self.assertIn("is not valid UTF-8", error)

    def test_a_variable_that_is_not_utf_8_is_refused(self):
        code, error = self.error(b"", LATCHKEY_SERVER_DATABASE=b"/caf\xe9")
        self.assertEqual(code, 1)
        self.assertIn("that is not valid UTF-8", error)

    def test_a_name_with_the_kelvin_sign_is_not_the_one_with_a_k(self):
        code, error = self.error(b"", **{"LATCHKEY_SERVER_TLS_\u212aEY_FILE": b"/key"})
        self.assertEqual(code, 1)
        self.assertIn("which is not a known name with a value", error)


class HelpTests(unittest.TestCase):
    def test_help_lists_every_command_and_each_has_its_own_help(self):
        code, text, error = run("--help")
        self.assertEqual((code, error), (0, ""))
        self.assertIn("Exit codes: 0 done, 1 failed, 64 wrong usage.", text)
        self.assertLessEqual({"serve", "code", "revoke", "audit"}, set(names()))
        self.assertEqual(run("help")[1], text)
        for name in names():
            code, shown, error = run("help", name)
            self.assertEqual((code, error), (0, ""), name)
            self.assertTrue(shown.startswith(f"usage: latchkey-server CONFIGURATION {name}"), shown)
            self.assertEqual(run("/nonexistent/configuration", name, "--help")[:2], (0, shown))

    def test_the_version_is_that_of_the_project(self):
        version = re.search('"(.*)"', (CHECKOUT / "Sources/Formats/LatchkeyModel/Version.swift").read_text())[1]
        self.assertEqual(run("--version"), (0, f"latchkey-server {version}\n", ""))

    def test_the_manual_page_has_every_command_and_every_option(self):
        page = (CHECKOUT / "packaging/man/latchkey-server.8").read_text()
        for name in names():
            self.assertRegex(page, rf"(?m)^\.(It|Ic|It Ic) (Ic )?{name}\b")
            for option in re.findall(r"^  --([a-z-]+)", run("help", name)[1], re.MULTILINE):
                self.assertIn(".Fl -" + option, page)

    def test_wrong_usage_ends_with_64_and_says_what_is_meant(self):
        for arguments, error, hint in (
                (("c", "aduit"), "there is no command aduit", "Did you mean audit? See: latchkey-server --help"),
                (("c", "xyzzy"), "there is no command xyzzy", "See: latchkey-server --help"),
                (("help", "serv"), "there is no command serv", "Did you mean serve? See: latchkey-server --help"),
                (("c", "audit", "--jsno"), "audit has no option --jsno",
                 "Did you mean --json? See: latchkey-server help audit"),
                (("c", "audit", "--json", "--json"), "--json is there twice", "See: latchkey-server help audit"),
                (("c", "code"), "code needs USER", "Run: latchkey-server CONFIGURATION code [options] USER"),
                (("c", "audit", "now"), "audit takes no word now", "Run: latchkey-server CONFIGURATION audit [options]"),
                (("serve",), "the configuration is missing", "Run: latchkey-server CONFIGURATION serve"),
                (("code", "ada"), "the configuration is missing",
                 "Run: latchkey-server CONFIGURATION code [options] USER"),
                (("c",), "the command is missing", "See: latchkey-server --help"),
                (("c", "\x1b[31m"), "there is no command \ufffd[31m", "See: latchkey-server --help")):
            self.assertEqual(run(*arguments), (64, "", f"error: {error}\nhint: {hint}\n"), arguments)
        code, text, error = run()
        self.assertEqual((code, text), (64, ""))
        self.assertTrue(error.startswith("usage: latchkey-server CONFIGURATION COMMAND"))

    def test_a_user_of_whom_nothing_is_stored_and_a_port_in_use_are_named(self):
        with Server() as server:
            for command in (("revoke", "nadaa"), ("keys", "nadaa"), ("delete", "nadaa"), ("export", "nadaa")):
                code, _, error = run(server.configuration, *command)
                self.assertEqual((code, error), (1, "error: nothing is stored of this user\n"), command)
            # None of them stored the name.
            self.assertEqual(run(server.configuration, "keys", "nadaa")[0], 1)
            server.configuration.write_text(server.configuration.read_text().replace("port = 0", f"port = {server.port}"))
            code, _, error = run(server.configuration, "serve")
            self.assertEqual(code, 1)
            self.assertIn(f"port {server.port} of 127.0.0.1 cannot be used", error)

    def test_a_command_that_fails_ends_with_1(self):
        code, text, error = run("/nonexistent/configuration", "audit")
        self.assertEqual((code, text), (1, ""))
        self.assertTrue(error.startswith("error: /nonexistent/configuration cannot be opened"), error)


class JSONTests(unittest.TestCase):
    def test_results_are_written_as_json(self):
        with Server() as server:
            code = json.loads(server.command("code", "ada", "--json"))
            self.assertEqual(list(code), ["code"])
            device = Device(server, "ada")
            self.assertEqual(server.post("/v1/keys", device.registration(code["code"]))[0], 201)
            self.assertEqual(json.loads(server.command("audit", "--json")), {"verifiedRows": 2, "firstWrongRow": None, "node": None})
            self.assertEqual(json.loads(server.command("revoke", "ada", "--json")), {"revokedKeys": 1})

    def test_a_changed_row_of_the_audit_log_is_named(self):
        with Server() as server:
            for _ in range(3):
                server.command("code", "ada")
            with sqlite3.connect(server.folder / "server.sqlite") as database:
                database.execute("UPDATE audit SET user = 'eve' WHERE number = 2")
            database.close()
            code, text, error = run(server.configuration, "audit", "--json")
            self.assertEqual((code, json.loads(text)), (1, {"verifiedRows": 1, "firstWrongRow": 2, "node": ""}))
            self.assertTrue(error.startswith("error: row 2 of the audit log is missing or was changed\nhint: "), error)
            self.assertEqual(run(server.configuration, "audit")[1], "")

    def test_a_name_that_begins_with_a_hyphen_is_written_after_two(self):
        with Server() as server:
            self.assertEqual(run(server.configuration, "code", "-ada")[0], 64)
            self.assertEqual(run(server.configuration, "code", "--", "-ada")[0], 0)


class CompletionTests(unittest.TestCase):
    def lines(self, *words):
        code, text, error = run("complete", "--", *words)
        self.assertEqual((code, error), (0, ""))
        return text.splitlines()

    def test_candidates_are_those_of_the_place(self):
        self.assertIn(":files", self.lines(""))
        self.assertEqual(self.lines("c", "aud"), ["audit\tverifies the chain of the audit log"])
        self.assertEqual(self.lines("help", "aud"), ["audit\tverifies the chain of the audit log"])
        self.assertEqual(self.lines("c", "audit", "--j"), ["--json\twrites JSON"])
        self.assertEqual(self.lines("c", "revoke", "ada", ""), ["key", "device"])
        self.assertEqual(self.lines("c", "revoke", "--json", "ada", "d"), ["device"])
        for words in (("c", "revoke", ""), ("c", "audit", ""), ("c", "nonsense", ""), ("help", "audit", "")):
            self.assertEqual(self.lines(*words), [], words)

    def shell(self, *command):
        path = f"{pathlib.Path(PROGRAM).resolve().parent}:{os.environ['PATH']}"
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, env=os.environ | {"PATH": path})
        return done.stdout.split()

    def test_the_completion_of_bash_asks_the_program(self):
        script = (f'source "{CHECKOUT}/packaging/completions/latchkey-server.bash"\n'
                  "COMP_WORDS=(latchkey-server c rev) COMP_CWORD=2\n_latchkey_server 2>/dev/null\n"
                  'printf "%s\\n" "${COMPREPLY[@]}"\n')
        self.assertEqual(self.shell("bash", "-c", script), ["revoke"])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_the_completion_of_zsh_asks_the_program(self):
        script = (f'fpath=("{CHECKOUT}/packaging/completions" $fpath)\n_describe() {{ print -l -- "${{(@P)2}}" }}\n'
                  "_files() { print files }\nautoload -Uz _latchkey-server\n"
                  "words=(latchkey-server c revoke ada '') CURRENT=5\n_latchkey-server\n"
                  "words=(latchkey-server '') CURRENT=2\n_latchkey-server\n")
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(script)
            file.flush()
            found = self.shell("zsh", "-f", file.name)
        self.assertEqual(found[:3], ["key", "device", "files"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_the_completion_of_fish_asks_the_program(self):
        script = f'source "{CHECKOUT}/packaging/completions/latchkey-server.fish"\ncomplete -C "latchkey-server c revoke ada "\n'
        self.assertEqual(self.shell("fish", "--no-config", "-c", script), ["device", "key"])
