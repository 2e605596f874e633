# SPDX-License-Identifier: Apache-2.0
"""org.freedesktop.secrets in tier `file` for apps in sandboxes: real Flatpak apps with libsecret, whose calls xdg-dbus-proxy
passes on, and what a hostile program of the same user makes of a sandbox."""

import subprocess
import time

import pytest

from clients import SECRET
from flatpaks import WithFlatpaks, sandboxed, stating
from machine import fact
from services import KEYCHAIN
from test_services_secrets import BUS, CALLER, CHOSEN, CLIENT, CONTENT, ONCE_ASKED, READER, STEP, SecretServiceTest

# A place in a prompt of docs/reference/protocol.md.
OWN_NAME = 4
ENVIRONMENT = {"DBUS_SESSION_BUS_ADDRESS": BUS, "HOME": "/home/alice"}
# Those of secret_client.py.
PAIRS = ("service", "mail", "xdg:schema", "org.example.Test")
UNDETERMINED = "A program that could not be determined"
# One process stores as one app, and reads as another one.
CHANGING = f"""
import sys
def say(app):
    with open("/.flatpak-info", "w") as file:
        file.write(f"[Application]\\nname={{app}}\\n")
say("org.example.First")
sys.argv = ["client", "store", "first", "of the first"]
exec(open({CLIENT!r}).read())
say("org.example.Second")
main("read", "first")
"""
# A file of a file system that never answers, in place of the description. The folder is on tmpfs. The library of the client looks
# at the file too when it connects, so that is done before.
SILENT = f"""
import ctypes, os, sys
exec(open({CLIENT!r}).read().replace("main(*sys.argv[1:])", ""))
libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
os.close(os.open("/.flatpak-info", os.O_CREAT))
options = f"fd={{device}},rootmode=100644,user_id=0,group_id=0".encode()
if libc.mount(b"silent", b"/.flatpak-info", b"fuse", 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
main("read", "mail")
"""
MALFORMED = {
    "a FIFO": "mkfifo /.flatpak-info",
    "1 GiB": "truncate -s 1G /.flatpak-info",
    "a link": f"{stating('org.example.Mail')}; mv /.flatpak-info /info; ln -s info /.flatpak-info",
    "other bytes": "head -c 4096 /dev/urandom >/.flatpak-info",
    "no name": "printf '[Application]\\n' >/.flatpak-info",
    "two names": f"{stating('org.example.Mail')}; echo name=org.example.Other >>/.flatpak-info",
    "a name with other characters": stating("org.example.Mail (Flatpak)"),
    "a file that cannot be read": f"{stating('org.example.Mail')}; chmod 0 /.flatpak-info",
}


class FlatpakTests(WithFlatpaks, SecretServiceTest):
    def secret_tool(self, app, *argv, **options):
        """Runs secret-tool of an app."""
        return self.machine.run("flatpak", "run", app, *argv, user="alice", env=ENVIRONMENT, **options).stdout

    def begin(self, *argv):
        """Starts a program of alice, whose output is read later."""
        process = self.machine.start(*argv, user="alice", env=ENVIRONMENT, stdout=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        return process

    def begin_sandboxed(self, made, *argv):
        return self.begin(*sandboxed(made, READER, *argv))

    def assertAsked(self, own_name, caller=UNDETERMINED, answer=b"once"):
        """Asserts who the prompt says that asks, and answers it. No answer is offered that would be stored."""
        prompt = self.prompts.do("agent.await_prompt")
        self.assertEqual((prompt[CALLER], prompt[OWN_NAME]), (caller, own_name))
        if caller == UNDETERMINED:
            self.assertEqual(prompt[CONTENT][STEP], ONCE_ASKED)
        self.prompts.do("agent.event", [CHOSEN, answer])

    @pytest.mark.promise("secrets.sandboxes")
    def test_an_app_reads_what_it_stored_and_another_one_is_asked_for(self):
        self.secret_tool(self.MAIL, "store", "--label=mail", *PAIRS, input=SECRET.decode())
        self.assertEqual(self.secret_tool(self.MAIL, "lookup", *PAIRS), SECRET.decode())
        other = self.begin("flatpak", "run", self.OTHER, "lookup", *PAIRS)
        self.assertAsked("org.example.Other (Flatpak)")
        self.assertEqual(self.result(other), SECRET.decode())
        self.await_end()
        # Programs outside of a sandbox: one with a path of its own, and one that is not determined.
        for program, caller in ((READER, "reader"), ("/usr/bin/python3", UNDETERMINED)):
            outside = self.begin(program, CLIENT, "read", "mail")
            self.assertAsked("", caller)
            self.assertEqual(self.result(outside), SECRET.decode())
            self.await_end()

    def test_an_app_does_not_read_what_other_programs_stored(self):
        self.secret("store", "mail", SECRET.decode())
        app = self.begin("flatpak", "run", self.MAIL, "lookup", *PAIRS)
        self.assertAsked("org.example.Mail (Flatpak)")
        self.assertEqual(self.result(app), SECRET.decode())
        self.await_end()
        # An answer of this time is not stored.
        again = self.begin("flatpak", "run", self.MAIL, "lookup", *PAIRS)
        self.assertAsked("org.example.Mail (Flatpak)")
        self.assertEqual(self.result(again), SECRET.decode())
        fact("a Flatpak app", "org.example.Mail, with flatpak and xdg-dbus-proxy, stored and read a secret with libsecret")

    @pytest.mark.promise("secrets.sandboxes")
    def test_a_hostile_description_names_no_app_and_blocks_nothing(self):
        self.secret_tool(self.MAIL, "store", "--label=mail", *PAIRS, input=SECRET.decode())
        slowest = 0
        for name, made in MALFORMED.items():
            with self.subTest(name):
                reader = self.begin_sandboxed(made, CLIENT, "read", "mail")
                began = time.monotonic()
                self.assertAsked("")
                slowest = max(slowest, time.monotonic() - began)
                self.assertEqual(self.result(reader), SECRET.decode())
                self.await_end()
        self.assertLess(slowest, 10)
        self.assertEqual(self.machine.unit(KEYCHAIN)["NRestarts"], "0")
        fact("a hostile /.flatpak-info", f"{len(MALFORMED)} kinds, a prompt without a name after at most {slowest:.1f} s")

    @pytest.mark.promise("secrets.sandboxes")
    def test_a_description_on_a_file_system_that_never_answers_blocks_nothing(self):
        self.secret_tool(self.MAIL, "store", "--label=mail", *PAIRS, input=SECRET.decode())
        script = ("mount -t tmpfs none /mnt && cd /mnt && mkdir usr etc dev home && mount --rbind /usr usr && mount --rbind /etc etc"
                  " && mount --rbind /dev dev && mount --rbind /home home && ln -s usr/lib lib && ln -s usr/lib64 lib64"
                  ' && exec /usr/sbin/chroot . "$0" -c "$1"')
        reader = self.begin("unshare", "-Urm", "sh", "-c", script, READER, SILENT)
        self.assertAsked("")
        self.assertEqual(self.result(reader), SECRET.decode())

    @pytest.mark.promise("secrets.sandboxes")
    def test_a_description_that_changes_is_read_again(self):
        self.machine.write("/home/alice/changing.py", CHANGING, owner="alice:alice")
        changing = self.begin_sandboxed(":", "/home/alice/changing.py")
        self.assertAsked("org.example.Second (Flatpak)")
        self.assertEqual(self.result(changing), "of the first")

    def test_a_refusal_is_for_every_name_that_a_program_gives_itself(self):
        self.secret("store", "mail", SECRET.decode())
        reader = self.begin_sandboxed(stating("org.example.First"), CLIENT, "read", "mail")
        self.asked()
        self.prompts.do("agent.event", [3])
        self.assertEqual(self.result(reader), "")
        self.await_end()
        for name in ("org.example.Second", "org.example.Third"):
            self.assertEqual(self.result(self.begin_sandboxed(stating(name), CLIENT, "read", "mail")), "")
        with self.assertRaisesRegex(RuntimeError, "no reply within the deadline"):
            self.prompts.do("agent.get", 0.5)

    def test_what_a_sandbox_says_is_no_proof(self):
        """The limit that docs/use/secret-service.md states: any program of the user can act as the app."""
        self.secret_tool(self.MAIL, "store", "--label=mail", *PAIRS, input=SECRET.decode())
        forger = self.begin_sandboxed(stating(self.MAIL), CLIENT, "read", "mail")
        self.assertEqual(self.result(forger), SECRET.decode())
        # So can a program that enters the sandbox of the app.
        app = self.begin("flatpak", "run", "--command=sh", self.MAIL, "-c", "echo begun && sleep 60")
        self.assertEqual(app.stdout.readline(), b"begun\n")
        (proxy,) = self.machine.run("pgrep", "-u", "alice", "-x", "xdg-dbus-proxy").stdout.split()
        entered = self.begin("nsenter", "-t", proxy, "-U", "-m", "--preserve-credentials", READER, CLIENT, "read", "mail")
        self.assertEqual(self.result(entered), SECRET.decode())
        # What other programs have stored is not reached so.
        self.machine.run(READER, CLIENT, "store", "own", SECRET.decode(), user="alice", env=ENVIRONMENT)
        forger = self.begin_sandboxed(stating("usr.bin.reader"), CLIENT, "read", "own")
        self.assertAsked("usr.bin.reader (Flatpak)")
        self.assertEqual(self.result(forger), SECRET.decode())
