# SPDX-License-Identifier: Apache-2.0
"""The profiles of the package, enforced by AppArmor: the distribution's kernel in the virtual machine, and systemd in it."""

import json
import pathlib
import unittest

from debs import BUILT, built
from machine import PASSWORDS, Failure, fact
from virtual import VirtualTest

TESTS = pathlib.Path(__file__).resolve().parents[1]
# Modules of the checks.
MODULES = [TESTS / path for path in ("Terminal/terminal.py", "System/attack_client.py", "Wire/deterministic_cbor.py")]

# The kernel reports paths from the root of the mount namespace, so the file system of the machine is moved there. Then
# systemd runs as the first process of a namespace and starts the checks.
START = """
exec chroot /proc/1/root /bin/sh -c 'cd /machine && mount --move . / && exec chroot . /bin/sh /test/moved'
"""

MOVED = """
set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t securityfs none /sys/kernel/security
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# Anyone may write to a new tmpfs, and a client uses no socket in such a folder.
chmod 755 /run
mkdir /dev/pts && mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
mkdir -p /dev/shm
echo verification >/etc/hostname
tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
dpkg --install /test/latchkey.deb >/test/installed 2>&1 || { cat /test/installed; exit 1; }
useradd --create-home --uid 1001 alice
echo 'alice:PASSWORD' | chpasswd
cat >/etc/systemd/system/checks.service <<END
[Unit]
After=sockets.target dbus.service
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
ExecStart=/usr/bin/python3 /test/checks.py
StandardOutput=truncate:/test/output
StandardError=inherit
[Install]
WantedBy=multi-user.target
END
systemctl --quiet enable checks.service
systemctl --quiet mask ssh.service getty.target systemd-resolved.service
unshare -m -p -f --mount-proc env -i PATH=$PATH LANG=C.UTF-8 container=lxc /lib/systemd/systemd --unit=multi-user.target \
    </dev/null >/test/systemd 2>&1 || true
cat /test/output || cat /test/systemd
""".replace("PASSWORD", PASSWORDS["alice"])

CHECKS = """
import json, os, subprocess, sys

sys.path.insert(0, "/test")
from terminal import Failure, Terminal

PASSWORD = %r
found = {}

def run(*argv, user="alice", **options):
    return subprocess.run(["setpriv", "--reuid", user, "--regid", user, "--init-groups", *argv], capture_output=True,
                          text=True, timeout=60, **options)

def at_terminal(*argv):
    "Runs a command of alice at a terminal and types the password at its first question."
    with Terminal(argv, {**os.environ, "TERM": "dumb"}, user=1001) as terminal:
        try:
            terminal.expect("password of your account", seconds=60)
            terminal.type(PASSWORD + "\\r")
            terminal.expect("could not be checked", seconds=60)
            terminal.process.kill()
        except Failure:
            # The command has ended, or shows something else.
            pass
        try: return [terminal.end(), terminal.output]
        except Failure as failure: return [None, str(failure)]

def denied():
    log = subprocess.run(["dmesg"], capture_output=True, text=True).stdout
    return [line for line in log.splitlines() if 'apparmor="DENIED"' in line and "latchkey" in line]

def profile(unit):
    pid = subprocess.run(["systemctl", "show", "--value", "-p", "MainPID", unit], capture_output=True, text=True).stdout
    try: return open(f"/proc/{pid.strip()}/attr/current").read().strip()
    except OSError as error: return str(error)

os.chmod("/dev/pts/ptmx", 0o666)
found["loaded"] = [line for line in open("/sys/kernel/security/apparmor/profiles").read().splitlines() if "latchkey" in line]
found["set"] = run("latchkey", "set", "--protect", "none", "open", input="an open secret").stderr
found["get"] = run("latchkey", "get", "open").stdout
found["passcode"] = at_terminal("latchkey", "passcode", "set")
found["protected"] = run("latchkey", "set", "closed", "--protect", "presence", input="a closed secret").stderr
found["released"] = at_terminal("latchkey", "get", "closed")
found["identity"] = run("latchkey", "status", "--json").stdout
# A program in a sandbox, whose root folder has a file that latchkey-authd reads. `latchkey` connects to nothing there.
sandbox = ["bwrap", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--ro-bind", "/test", "/test", "--bind", "/run", "/run",
           "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/bin", "/bin", "--dev", "/dev"]
info = "printf '[Application]\\nname=org.example.App\\n' >/.flatpak-info"
client = "import sys; sys.path.insert(0, '/test'); from attack_client import App; print(App().group())"
sandboxed = run(*sandbox, "sh", "-c", info + '; exec python3 -c "$0"', client)
found["sandboxed"] = sandboxed.stdout + sandboxed.stderr
# The groups that the items of a store of tier `user` would get: the name of a program, a declared name, and another one.
at_home = {**os.environ, "HOME": "/home/alice"}
own = {**at_home, "LATCHKEY_HOME": "/home/alice/.local/share/latchkey"}
os.makedirs("/usr/share/latchkey/apps.d", exist_ok=True)
with open("/usr/share/latchkey/apps.d/notes.conf", "w") as file: file.write("name = Notes\\nprogram = /usr/bin/notes\\n")
for name in ("latchkey", "Notes", "elsewhere"):
    run("latchkey", "set", "--protect", "none", name, input="a secret", env={**own, "LATCHKEY_APP_ID": name})
moved = run("latchkey", "migrate", "--dry-run", "--json", env=at_home)
found["migrated"] = [moved.stdout, moved.stderr]
# A store of the user's own would be used from here on.
subprocess.run(["pkill", "-u", "alice", "latchkeyd"])
subprocess.run(["rm", "-r", "/home/alice/.local"])
found["latchkeyd"], found["authd"] = profile("latchkeyd"), profile("latchkey-authd")
found["denied"] = denied()

# What the profiles do not permit: a module that starts a program, and a store elsewhere.
with open("/etc/pam.d/latchkey") as file: rules = file.read()
with open("/etc/pam.d/latchkey", "w") as file: file.write("auth optional pam_exec.so /usr/bin/true\\n" + rules)
found["again"] = at_terminal("latchkey", "get", "closed")
found["then denied"] = [line for line in denied() if line not in found["denied"]]
found["journal"] = subprocess.run(["journalctl", "--no-pager", "-q", "-n", "60"], capture_output=True, text=True).stdout
print(json.dumps(found))
""" % PASSWORDS["alice"]


@unittest.skipUnless(sorted(BUILT.glob("latchkey_*.deb")), "no package: run `make deb` first")
class ProfileTests(VirtualTest):
    script = START
    # The machine is translated, and may share the processors with others.
    seconds = 600

    @classmethod
    def setUpClass(cls):
        cls.files = {"/test/moved": MOVED, "/test/checks.py": CHECKS, "/test/latchkey.deb": built("latchkey"),
                     **{f"/test/{path.name}": path for path in MODULES}}
        super().setUpClass()

    @property
    def found(self):
        try:
            return json.loads(self.output.strip().splitlines()[-1])
        except (ValueError, IndexError):
            raise Failure(f"the checks did not end\n{self.output}") from None

    def test_the_services_run_under_their_profiles(self):
        self.assertEqual((self.found["latchkeyd"], self.found["authd"]),
                         ("latchkeyd (enforce)", "latchkey-authd (enforce)"), self.found["journal"])
        fact("AppArmor", ", ".join(self.found["loaded"]))

    def test_the_profiles_permit_what_the_services_do(self):
        self.assertEqual((self.found["set"], self.found["get"]), ("", "an open secret"))
        self.assertEqual(self.found["passcode"][0], 0, [self.found["passcode"], self.found["denied"]])
        self.assertEqual(self.found["released"][0], 0, self.found["released"])
        self.assertIn("a closed secret", self.found["released"][1])
        self.assertEqual(self.found["sandboxed"], "user:1001\n")
        self.assertEqual(self.found["denied"], [])

    def test_latchkeyd_sees_to_which_programs_the_items_of_another_store_belong(self):
        report, error = self.found["migrated"]
        self.assertEqual(error, "", self.found["denied"])
        groups = {group["from"]: group["to"] for group in json.loads(report)["groups"]}
        self.assertEqual(groups, {"latchkey": "/usr/bin/latchkey", "Notes": "Notes", "elsewhere": "user:1001"})

    def test_a_module_of_PAM_that_starts_a_program_is_stopped_by_both_profiles(self):
        denied = "\n".join(self.found["then denied"])
        self.assertRegex(denied, r'operation="exec" .*profile="latchkey-(authd|pam)" name="/usr/bin/true"')
        self.assertIn("a closed secret", self.found["again"][1])
