# SPDX-License-Identifier: Apache-2.0
"""`latchkey-secrets` as a session has it: a message bus starts it, and the daemon has the items. Programs of Debian use it."""

import json
import os
import pathlib
import re
import select
import signal
import subprocess

from store import PROGRAMS, StoreTest

# Where Debian has the source of git's helper, which it does not build.
GIT_HELPER = pathlib.Path("/usr/share/doc/git/contrib/credential/libsecret")
# As that of a session, but with no services of the machine: it would start gnome-keyring.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>{address}</listen><auth>EXTERNAL</auth><servicedir>{services}</servicedir>
<policy context="default"><allow user="*"/><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
"""
# What the bus starts: the provider, with what it says in a file.
SERVE = """#!/bin/sh
exec "{programs}/latchkey-secrets" --serve 2>>"{folder}/said"
"""


def ended(process):
    """Waits until a process has ended, which `process` is a descriptor of."""
    assert select.select([process], [], [], 30)[0], "the process does not end"
    os.close(process)


class KeyringTest(StoreTest):
    def prepare(self):
        folder = pathlib.Path(self.store.folder)
        self.address = f"unix:path={folder}/bus"
        self.environment = {
            **self.store.environment, "XDG_DATA_HOME": f"{folder}/data", "XDG_CONFIG_HOME": f"{folder}/config",
            "XDG_RUNTIME_DIR": str(folder), "DBUS_SESSION_BUS_ADDRESS": self.address, "LC_ALL": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1",
        }
        services = folder / "data/dbus-1/services"
        self.store.write("bus.conf", BUS.format(address=self.address, services=services))
        services.mkdir(parents=True)
        self.start_bus()
        self.secrets("enable")
        script = folder / "serve"
        script.write_text(SERVE.format(programs=PROGRAMS, folder=folder))
        script.chmod(0o755)
        service = services / "org.freedesktop.secrets.service"
        service.write_text(re.sub("^Exec=.*$", f"Exec={script}", service.read_text(), flags=re.MULTILINE))
        self.addCleanup(self.end_provider)

    def start_bus(self):
        self.bus = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self.store.file('bus.conf')}", "--nofork", "--print-address=1"],
            env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.end_bus, self.bus)
        # The address is printed when the bus can be reached.
        self.assertIn("/bus", self.bus.stdout.readline())

    def end_bus(self, bus):
        bus.kill()
        bus.wait()
        bus.stdout.close()

    def end_provider(self):
        if self.bus.poll() is None and (process := self.provider()):
            provider = os.pidfd_open(process)
            self.end_bus(self.bus)
            ended(provider)

    def run_program(self, *command, input=""):
        return subprocess.run(
            command, env=self.environment, input=input, text=True, capture_output=True, timeout=60)

    def output(self, *command, input=""):
        done = self.run_program(*command, input=input)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def secrets(self, *arguments):
        return self.output(f"{PROGRAMS}/latchkey", "secrets", *arguments)

    def provider(self):
        """The process of the provider; None if none runs."""
        owner = json.loads(self.secrets("status", "--json"))["provider"]
        return owner and owner["process"]


class SandboxTests(KeyringTest):
    """Programs in namespaces of their own, whose root folder says which Flatpak app they are."""

    ROOT = """
        mount -t tmpfs none "$0" && cd "$0" && mkdir usr etc tmp && mount --rbind /usr usr && mount --rbind /etc etc &&
        mount --rbind /tmp tmp && ln -s usr/lib lib && ln -s usr/lib64 lib64 || exit
        eval "$1"; shift; exec /usr/sbin/chroot . "$@"
    """

    def prepare(self):
        if subprocess.run(["unshare", "-Urm", "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("needs permission to create user namespaces")
        super().prepare()

    def sandboxed(self, made, *command, input=""):
        place = self.store.file("sandbox")
        os.makedirs(place, exist_ok=True)
        return self.run_program("unshare", "-Urm", "sh", "-c", self.ROOT, place, made, *command, input=input)

    @staticmethod
    def stating(app):
        return f"printf '[Application]\\nname={app}\\n' >.flatpak-info"

    def test_apps_share_nothing_with_each_other_and_with_programs_outside(self):
        mail, other = self.stating("org.example.Mail"), self.stating("org.example.Other")
        stored = self.sandboxed(mail, "/usr/bin/secret-tool", "store", "--label=x", "service", "mail", input="of mail")
        self.assertEqual(stored.returncode, 0, stored.stderr)
        lookup = ("/usr/bin/secret-tool", "lookup", "service", "mail")
        self.assertEqual(self.sandboxed(mail, *lookup).stdout, "of mail")
        for done in (self.sandboxed(other, *lookup), self.sandboxed(":", *lookup), self.run_program(*lookup)):
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        # The collection in the memory of the provider, too.
        temporary = ("--collection=session", "--label=x", "kind", "temporary")
        self.sandboxed(mail, "/usr/bin/secret-tool", "store", *temporary, input="until logout")
        lookup = ("/usr/bin/secret-tool", "lookup", "kind", "temporary")
        found = [self.sandboxed(made, *lookup).stdout for made in (mail, other, ":")] + [self.run_program(*lookup).stdout]
        self.assertEqual(found, ["until logout", "", "", ""])

    def test_a_sandbox_that_names_no_app_is_refused(self):
        for made in ("mkfifo .flatpak-info", "truncate -s 1G .flatpak-info", "ln -s etc/passwd .flatpak-info",
                     "mkdir .flatpak-info", self.stating("app")):
            done = self.sandboxed(made, "/usr/bin/secret-tool", "store", "--label=x", "a", "b", input="secret")
            self.assertEqual(done.returncode, 1)
            self.assertIn("The sandbox of the program that asks has a description that names no app", done.stderr)


class RestartTests(KeyringTest):
    def test_a_bus_that_ends_ends_the_provider_and_the_next_one_starts_it(self):
        self.output("secret-tool", "store", "--label=A site", "site", "example.org", input="open sesame")
        process = self.provider()
        provider = os.pidfd_open(process)
        self.end_bus(self.bus)
        ended(provider)
        said = pathlib.Path(self.store.file("said")).read_text()
        self.assertEqual(said, "The message bus has ended. The next program that needs a keyring starts this one again.\n")

        self.start_bus()
        self.assertIsNone(self.provider())
        self.assertEqual(self.output("secret-tool", "lookup", "site", "example.org"), "open sesame")
        self.assertNotIn(self.provider(), (None, process))

    def test_a_provider_that_crashes_loses_nothing_that_it_confirmed(self):
        for number in range(5):
            self.output("secret-tool", "store", "--label=x", "number", str(number), input=f"secret {number}")
            process = self.provider()
            provider = os.pidfd_open(process)
            signal.pidfd_send_signal(provider, signal.SIGKILL)
            ended(provider)
            self.assertEqual(self.output("secret-tool", "lookup", "number", str(number)), f"secret {number}")
            self.assertNotEqual(self.provider(), process)


class CommandTests(KeyringTest):
    def test_answers_are_listed_where_no_bus_is(self):
        self.addCleanup(setattr, self, "environment", self.environment)
        places = "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"
        self.environment = {name: value for name, value in self.environment.items() if name not in places}
        self.assertEqual(self.secrets("answers", "--json"), "[]\n")
        status = self.run_program(f"{PROGRAMS}/latchkey", "secrets", "status")
        self.assertIn("DBUS_SESSION_BUS_ADDRESS is not set", status.stderr)

    def test_each_collection_has_a_rule_of_its_own(self):
        self.output("busctl", f"--address={self.address}", "call", "org.freedesktop.secrets", "/org/freedesktop/secrets",
                    "org.freedesktop.Secret.Service", "CreateCollection", "a{sv}s", "1",
                    "org.freedesktop.Secret.Collection.Label", "s", "Work", "")
        for label in "Work", "Login":
            self.assertEqual(self.secrets("protect", "none", "--collection", label),
                             f"New items of programs in the collection {label} demand: none.\n")
        unknown = self.run_program(f"{PROGRAMS}/latchkey", "secrets", "protect", "none", "--collection", "Home")
        self.assertEqual(unknown.stderr, "error: There is no collection Home.\nhint: These are the collections: Login, Work\n")


class GitTests(KeyringTest):
    """git's own helper for libsecret."""

    def prepare(self):
        if not GIT_HELPER.exists():
            self.skipTest(f"needs {GIT_HELPER}: this system installs packages without their documentation")
        super().prepare()
        helper = self.store.file("git-credential-libsecret")
        flags = self.output("pkg-config", "--cflags", "--libs", "libsecret-1", "glib-2.0").split()
        self.output("cc", "-o", helper, str(GIT_HELPER / "git-credential-libsecret.c"), *flags)
        self.git = ["git", "-c", "credential.helper=", "-c", f"credential.helper={helper}", "credential"]

    def test_a_password_is_stored_found_and_erased(self):
        site = "protocol=https\nhost=example.org\n"
        stored = site + "username=ada\npassword=öpen sesame\n"
        self.output(*self.git, "approve", input=stored + "\n")
        self.assertIn("password=öpen sesame\n", self.output(*self.git, "fill", input=site + "\n"))
        other = self.run_program(*self.git, "fill", input="protocol=https\nhost=example.com\n\n")
        self.assertNotEqual(other.returncode, 0)
        self.assertNotIn("sesame", other.stdout)
        self.output(*self.git, "approve", input=site + "username=ada\npassword=other\n\n")
        self.assertIn("password=other\n", self.output(*self.git, "fill", input=site + "\n"))
        self.output(*self.git, "reject", input=site + "username=ada\npassword=other\n\n")
        self.assertNotEqual(self.run_program(*self.git, "fill", input=site + "\n").returncode, 0)
        self.assertTrue(json.loads(self.secrets("status", "--json"))["provider"]["isLatchkey"])
