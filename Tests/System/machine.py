# SPDX-License-Identifier: Apache-2.0
"""A machine of namespaces with systemd as its first process, for the tests in this folder.

A test derives from `MachineTest` and uses `self.machine`, which is booted once for all tests:

    class DaemonTests(MachineTest):
        def test_aliceReachesTheDaemon(self):
            self.machine.write("/etc/example.conf", "key = value\\n", mode=0o644)
            self.machine.run("systemctl", "restart", "example")
            self.assertEqual(self.machine.run("id", "-u", user="alice").stdout, "1001\\n")
            self.assertEqual(self.machine.unit_status("example")["Seccomp"], "2")
"""

import os
import pathlib
import re
import shlex
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import time
import unittest

import pytest

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
# The built programs that are installed.
RELEASE = pathlib.Path(os.environ.get("LATCHKEY_RELEASE", CHECKOUT / ".build/static/release"))
PASSWORDS = {"alice": "the password of alice", "bob": "the password of bob"}

# Name and value of each row in the table at the end of a run. Tests add rows with `fact`.
facts = {}


def fact(name, value):
    """Adds a row to the table of what was real."""
    facts[name] = str(value)


def changing(path, offset):
    """A command of a shell that changes one byte of a file, whatever it is. Perl is there in each Debian."""
    script = ("open(my $file, '+<', $ARGV[0]) or die $!; seek($file, $ARGV[1], 0); read($file, my $byte, 1) == 1 or die; "
              "seek($file, $ARGV[1], 0); print $file $byte ^ chr(1); close($file) or die $!")
    return f"perl -e {shlex.quote(script)} {shlex.quote(str(path))} {offset}"


def eventually(condition, seconds=20):
    """Returns the first true result of a condition, which is asked until the deadline. For what gives no event."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    raise Failure(f"not reached in {seconds} s")


class Failure(Exception):
    """The machine did not boot, or a command inside it failed; the text contains its output."""


def work_folder(kind):
    """Makes a temporary folder, and removes those of runs that were killed; the name contains the process number."""
    prefix = f"latchkey-{kind}-"
    for old in pathlib.Path(tempfile.gettempdir()).glob(prefix + "*-*"):
        status = old.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and _is_abandoned(old, prefix):
            # Another process of this run may be removing it at the same time.
            shutil.rmtree(old, ignore_errors=True)
    return pathlib.Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-"))


def _is_abandoned(path, prefix):
    return not os.path.exists(f"/proc/{path.name[len(prefix):].split('-')[0]}")


class Cgroup:
    """A control group of the host below which the machine has its own hierarchy."""

    PREFIX = "latchkey-test-"

    def __init__(self):
        parent = self._mounted()
        for old in parent.glob(self.PREFIX + "*"):
            # Left by a run that was killed; the name contains the number of its process.
            if _is_abandoned(old, self.PREFIX):
                self._remove(old)
        self.path = parent / f"{self.PREFIX}{os.getpid()}-{time.monotonic_ns()}"
        self.path.mkdir()
        # Processes that a test starts inside belong to no unit.
        (self.path / "tests").mkdir()

    @staticmethod
    def _mounted():
        for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
            _, place, kind, *_ = line.split(" ")
            if kind == "cgroup2":
                return pathlib.Path(place)
        raise Failure("the host has no hierarchy of control groups version 2")

    @staticmethod
    def _remove(path):
        for folder, _, _ in os.walk(path, topdown=False):
            os.rmdir(folder)

    def remove(self):
        """Ends every process of the group and removes it."""
        kill = self.path / "cgroup.kill"
        if kill.exists():
            kill.write_text("1")
        eventually(lambda: "populated 0" in (self.path / "cgroup.events").read_text())
        self._remove(self.path)


class Machine:
    """A booted machine. `init` is the host's number of its first process. `stop()` removes it without a trace."""

    def __init__(self, image, programs, boot_seconds=60):
        self._work = work_folder("system")
        self._disk = self._cgroup = self._process = None
        self._sessions = 0
        self.init, self._image = None, image
        try:
            self._mount_disk()
            self._boot(image, programs, boot_seconds)
        except BaseException:
            self.stop()
            raise

    # MARK: start and end

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def restart(self):
        """Ends every process at once, as a power cut does, and boots with what is on the disk."""
        self._end_processes()
        self._boot(self._image, "restart", 60)

    def _mount_disk(self):
        """Mounts the disk in a mount namespace of a process that does nothing else, so that it outlives a boot and never
        appears on the host."""
        space = self._work / "space"
        space.mkdir()
        self._disk = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "-m", "sh", "-c",
             'mount -t tmpfs -o mode=755 latchkey-test "$1" && echo mounted && exec cat', "disk", str(space)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self._disk.stdout.readline() != "mounted\n":
            raise Failure("the disk of the machine cannot be mounted")

    def _boot(self, image, programs, boot_seconds):
        begin = time.monotonic()
        shutil.rmtree(self._work / "host", ignore_errors=True)
        (self._work / "host").mkdir()
        self._cgroup = Cgroup()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified, open(self._work / "log", "wb") as log:
            notified.bind(str(self._work / "host" / "notify"))
            notified.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            notified.settimeout(0.1)
            # The first process joins the control group before it gets a namespace of control groups. `unshare` itself
            # stays outside; it ends with this program, and the whole machine with it.
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "nsenter", "-t", str(self._disk.pid), "-m", f"--wd={CHECKOUT}",
                 "unshare", "-m", "-p", "-f", "--kill-child", "-i", "-u", "-n",
                 "sh", "-c", 'echo 0 >"$1/cgroup.procs" && shift && exec unshare --cgroup sh "$@"', "boot",
                 str(self._cgroup.path), "Tests/System/boot.sh", str(image), str(self._work), str(programs)],
                cwd=CHECKOUT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            deadline = begin + boot_seconds
            self._await_ready(notified, deadline)
        self.state = self.run("systemctl", "is-system-running", "--wait", check=False).stdout.strip()
        self.boot_seconds = time.monotonic() - begin
        if self.state not in ("running", "degraded"):
            raise Failure(f"the machine is {self.state}\n{self.journal()}")

    def _await_ready(self, notified, deadline):
        """Waits until systemd reports that its start is complete; the kernel says which process sent the report."""
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise Failure("the machine ended while it started\n" + (self._work / "log").read_text())
            try:
                message, ancillary, _, _ = notified.recvmsg(4096, socket.CMSG_SPACE(struct.calcsize("3i")))
            except socket.timeout:
                continue
            for _, kind, data in ancillary:
                if kind == socket.SCM_CREDENTIALS:
                    self.init = struct.unpack("3i", data)[0]
            if b"READY=1" in message.split(b"\n"):
                return
        journal = self.journal() if self.init else ""
        raise Failure(f"the machine did not start in time\n{(self._work / 'log').read_text()}\n{journal}")

    def stop(self):
        """Ends every process inside and removes mounts, control groups and files."""
        self._end_processes()
        if self._disk is not None:
            self._disk.communicate()
            self._disk = None
        shutil.rmtree(self._work, ignore_errors=True)

    def _end_processes(self):
        if self._process is not None:
            # The first process dies with `unshare`, and every process of the namespace with the first one.
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._cgroup is not None:
            self._cgroup.remove()
            self._cgroup = None

    # MARK: commands

    def command(self, argv, user=None, env=None, group="tests"):
        """The command line by which the host runs a command inside: as root, or as a user, who is without a session unless
        a control group is named."""
        entering = ["sh", "-c", 'echo 0 >"$1/cgroup.procs" && shift && exec "$@"', "enter",
                    str(self._cgroup.path / group),
                    "nsenter", "-t", str(self.init), "-m", "-p", "-i", "-u", "-n", "-C",
                    "setpriv", "--pdeathsig", "KILL"]
        if user is not None:
            entering += ["--reuid", user, "--regid", user, "--init-groups", "--reset-env"]
        variables = [f"{name}={value}" for name, value in (env or {}).items()]
        return entering + ["env", *variables, *map(str, argv)]

    def run(self, *argv, user=None, env=None, input=None, check=True, timeout=30):
        """Runs a command inside and returns its `CompletedProcess`. Text, unless `input` is bytes."""
        text = not isinstance(input, bytes)
        done = subprocess.run(
            self.command(argv, user, env), env=self._environment, input=input, capture_output=True, text=text,
            timeout=timeout, **({} if input is not None else {"stdin": subprocess.DEVNULL}))
        if check and done.returncode != 0:
            raise Failure(f"{' '.join(map(str, argv))}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def start(self, *argv, user=None, env=None, group="tests", **options):
        """Starts a command inside and returns its `Popen`; ending that process ends the command."""
        return subprocess.Popen(self.command(argv, user, env, group), env=self._environment, **options)

    _environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
        "HOME": os.path.expanduser("~root")}

    def session(self, user):
        """Logs a user in over SSH. The result is a context manager; see `Session`."""
        self._sessions += 1
        return Session(self, user, self._sessions)

    def seat(self, user):
        """Logs a user in at the machine's own screen. The result is a context manager; see `Seat`."""
        self._sessions += 1
        return Seat(self, user, self._sessions)

    # MARK: files

    def read(self, path):
        """The text of a file inside, also of one in /proc."""
        return self.run("cat", path).stdout

    def write(self, path, content, mode=0o644, owner="root:root"):
        """Writes a file inside; text or bytes. Missing folders of a home are its user's."""
        data = content if isinstance(content, bytes) else content.encode()
        user, _, group = owner.partition(":")
        home = re.match("/home/([^/]+)/", str(path))
        self.run("mkdir", "-p", pathlib.PurePath(path).parent, user=home and home[1])
        self.run("install", "-m", f"{mode:o}", "-o", user, "-g", group, "/dev/stdin", path, input=data)

    def copy(self, source, path, mode=0o755, owner="root:root"):
        """Copies a file of the host to a path inside."""
        self.write(path, pathlib.Path(source).read_bytes(), mode, owner)

    # MARK: processes and units

    def status(self, pid):
        """The fields of /proc/PID/status as text: Uid, CapEff, CapBnd, Seccomp, NoNewPrivs and so on."""
        return dict(line.split(":\t", 1) for line in self.read(f"/proc/{pid}/status").splitlines() if ":\t" in line)

    def descriptors(self, pid):
        """The targets of the open descriptors of a process, by number."""
        lines = self.run("find", f"/proc/{pid}/fd", "-type", "l", "-printf", r"%f %l\n").stdout.splitlines()
        return {int(number): target for number, target in (line.split(" ", 1) for line in lines)}

    def unit(self, name):
        """The properties of a unit, as `systemctl show` prints them."""
        lines = self.run("systemctl", "show", name).stdout.splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)

    def main_pid(self, name):
        """The number inside of the main process of a service."""
        pid = int(self.unit(name)["MainPID"])
        if pid == 0:
            raise Failure(f"{name} has no process\n{self.journal(name)}")
        return pid

    def unit_status(self, name):
        """The fields of /proc/PID/status of the main process of a service."""
        return self.status(self.main_pid(name))

    def add_unit(self, name, text):
        """Writes a unit that this boot knows, and reloads systemd."""
        self.write(f"/run/systemd/system/{name}", text)
        self.run("systemctl", "daemon-reload")

    def journal(self, unit=None, lines=40):
        """The last lines of the journal."""
        chosen = ["-u", unit] if unit else []
        return self.run("journalctl", "--no-pager", "-q", "-n", str(lines), *chosen, check=False).stdout


class Session:
    """A session of logind that a user opened over SSH; all its commands share one connection."""

    def __init__(self, machine, user, number):
        self.machine, self.user = machine, user
        self._socket = f"/run/test-session-{number}"
        self._connection = None

    def __enter__(self):
        self._allow_key()
        # The first command is the connection; it says when the session exists and ends when its input does.
        self._connection = self.machine.start(
            *self._ssh("-M"), "echo opened; exec cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        if self._connection.stdout.readline() != "opened\n":
            raise Failure(f"{self.user} cannot log in\n{self._connection.communicate()[1]}")
        self.id = self.run("printenv", "XDG_SESSION_ID").stdout.strip()
        return self

    def __exit__(self, *_):
        self._connection.communicate()

    def _ssh(self, *options):
        return ["ssh", "-S", self._socket, "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o",
                "LogLevel=ERROR", "-i", "/etc/ssh/test", *options, f"{self.user}@localhost"]

    def _allow_key(self):
        if self.machine.run("test", "-e", "/etc/ssh/test", check=False).returncode != 0:
            self.machine.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/etc/ssh/test")
        home = self.machine.run("getent", "passwd", self.user).stdout.split(":")[5]
        self.machine.write(f"{home}/.ssh/authorized_keys", self.machine.read("/etc/ssh/test.pub"), 0o644,
                           f"{self.user}:{self.user}")

    def run(self, *argv, tty=False, input=None, check=True, timeout=30):
        """Runs a command of the session, in its shell's environment; with `tty`, at a terminal of its own."""
        return self.machine.run(*self._ssh(*(["-tt"] if tty else [])), _quoted(argv), input=input, check=check,
                                timeout=timeout)

    def start(self, *argv, tty=False, **options):
        """Starts a command of the session and returns its `Popen`."""
        return self.machine.start(*self._ssh(*(["-tt"] if tty else [])), _quoted(argv), **options)


class Seat:
    """A session of logind at the machine's seat, which a display manager would open; the newest one is active."""

    UNIT = """
[Service]
User={user}
PAMName=login
Environment=XDG_SEAT=seat0 XDG_SESSION_TYPE=wayland XDG_SESSION_CLASS=user
ExecStart=/bin/sleep infinity
"""

    def __init__(self, machine, user, number):
        self.machine, self.user, self._unit = machine, user, f"test-seat-{number}.service"
        self.id = None

    def __enter__(self):
        self.machine.add_unit(self._unit, self.UNIT.format(user=self.user))
        self.machine.run("systemctl", "start", self._unit)
        leader = self.machine.main_pid(self._unit)
        # The program of the unit starts when PAM has opened the session.
        place = eventually(lambda: self._scope(leader))
        self.group, self.id = place, place.rsplit("/session-", 1)[1].removesuffix(".scope")
        return self

    def _scope(self, leader):
        place = self.machine.read(f"/proc/{leader}/cgroup").strip().split("::/", 1)[1]
        return place if place.endswith(".scope") else None

    def __exit__(self, *_):
        self.machine.run("systemctl", "stop", self._unit)
        eventually(lambda: self.id not in self.machine.run("loginctl", "list-sessions", "--no-legend").stdout.split())

    def start(self, *argv, tty=False, **options):
        """Starts a program of the session, also at a terminal of its own, and returns its `Popen`."""
        if tty:
            argv = ("script", "--quiet", "--return", "--command", f"stty cols 80 rows 24; exec {_quoted(argv)}",
                    "/dev/null")
        return self.machine.start(*argv, user=self.user, group=self.group, **options)

    def set_locked(self, is_locked):
        """Reports the lock screen to logind, as the desktop does."""
        path = "/org/freedesktop/login1/session/auto"
        done = self.start("busctl", "call", "org.freedesktop.login1", path, "org.freedesktop.login1.Session",
                          "SetLockedHint", "b", "true" if is_locked else "false", stdout=subprocess.DEVNULL)
        if done.wait(10) != 0:
            raise Failure("the lock screen cannot be reported")


def _quoted(argv):
    return shlex.join(map(str, argv))


@pytest.mark.usefixtures("machine_image")
class MachineTest(unittest.TestCase):
    """A test on the machine that all tests of a process share; the first test boots it."""

    # The folders of the image and of the built programs; the fixture sets them, and removes the machine.
    image = programs = None
    _shared = None
    _failure = None

    @property
    def machine(self):
        return MachineTest._shared

    @classmethod
    def setUpClass(cls):
        if MachineTest._failure is not None:
            raise Failure("the machine did not boot; see above")
        if MachineTest._shared is None:
            try:
                MachineTest._shared = Machine(MachineTest.image, MachineTest.programs)
            except Failure as failure:
                MachineTest._failure = failure
                raise
            fact("boot", f"{MachineTest._shared.state} after {MachineTest._shared.boot_seconds:.2f} s")

    @staticmethod
    def explanation():
        """What explains a failed test: units that failed and the end of the journal."""
        if MachineTest._shared is None:
            return ""
        failed = MachineTest._shared.run("systemctl", "--failed", "--no-pager", check=False).stdout
        return failed + MachineTest._shared.journal()

    @staticmethod
    def stop_shared():
        if MachineTest._shared is not None:
            MachineTest._shared.stop()
            MachineTest._shared = None
