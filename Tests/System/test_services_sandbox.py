# SPDX-License-Identifier: Apache-2.0
"""What the two services have: users, privileges, descriptors, libraries. docs/reference/services.md states it."""

import json
import pathlib
import re
import subprocess

from machine import RELEASE, eventually, fact
from services import AUTHORITY, KEYCHAIN, RECORDS, SERVICES, STORES, ServiceTest

# Bits of linux/capability.h.
KILL, SETGID, SETUID, SYS_PTRACE = 1 << 5, 1 << 6, 1 << 7, 1 << 19

# The C library and what the Swift runtime of a statically linked program needs: libm for numbers, and libstdc++ with
# libgcc_s because the runtime is written in C++.
RUNTIME = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}
# What a program links; what these libraries need themselves is different on each system.
LIBRARIES = {
    # Keys, ciphers and certificates; the database.
    "latchkeyd": RUNTIME | {"libcrypto.so.3", "libsqlite3.so.0"},
    # scrypt for passcodes and HMAC for tokens; fprintd. No database.
    "latchkey-authd": RUNTIME | {"libsystemd.so.0", "libcrypto.so.3"},
    # fprintd, and hashes of enrolled fingers.
    "latchkey-fingerprint": RUNTIME | {"libsystemd.so.0", "libcrypto.so.3"},
    # Loads the modules of the system, for one verification.
    "latchkey-pam": RUNTIME | {"libpam.so.0"},
    # Certificates and public keys are converted by the command itself.
    "latchkey": RUNTIME | {"libcrypto.so.3"},
    # Reads what is typed, and has no key.
    "latchkey-prompt": RUNTIME,
}

# A window links the toolkit, and the libraries of its header files. No key and no database: a window asks the services.
# latchkey-agent draws the code of a recovery code too.
TOOLKIT = {"libadwaita-1.so.0", "libgtk-4.so.1", "libgio-2.0.so.0", "libgobject-2.0.so.0", "libglib-2.0.so.0",
           "libpango-1.0.so.0", "libpangocairo-1.0.so.0", "libharfbuzz.so.0", "libcairo.so.2", "libcairo-gobject.so.2",
           "libgdk_pixbuf-2.0.so.0", "libgraphene-1.0.so.0"}
LIBRARIES |= {"latchkey-agent": RUNTIME | TOOLKIT | {"libqrencode.so.4"}, "latchkey-settings": RUNTIME | TOOLKIT}

# What only `latchkey-authd-testing` may contain.
SCRIPTED = (b"SimulatedWorld", b"SimulatedDriver", b"ScriptedSensor", b"SensorSocket", b"sensor.sock")


# Opens nodes and prints the name of each error.
DEVICES = """
import errno, json, os
def opened(node):
    try:
        os.close(os.open("/dev/" + node, os.O_RDWR))
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
print(json.dumps({node: opened(node) for node in ("tpmrm0", "tpm0", "other", "null")}))
"""


class PrivilegeTests(ServiceTest):
    def setUp(self):
        super().setUp()
        self.status()

    def check(self, unit, user, capabilities):
        self.status()
        for pid, words in self.processes(unit).items():
            status = self.machine.status(pid)
            self.assertEqual(status["Uid"].split(), [user] * 4)
            for kind in ("CapEff", "CapPrm", "CapBnd"):
                self.assertEqual(int(status[kind], 16), capabilities, kind)
            for kind in ("CapInh", "CapAmb"):
                self.assertEqual(int(status[kind], 16), 0, kind)
            self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
            count = len(self.machine.descriptors(pid))
            fact(" ".join([unit.removesuffix(".service"), *words[1:]]),
                 f"uid {user}, CapEff {status['CapEff']}, Seccomp {status['Seccomp']}, {count} descriptors, "
                 f"{int(status['RssAnon'].split()[0]) / 1024:.1f} MiB of anonymous memory")

    def test_latchkeyd_is_the_user_latchkey_without_any_capability(self):
        self.check(KEYCHAIN, self.machine.run("id", "-u", "latchkey").stdout.strip(), 0)

    def test_latchkey_authd_is_root_with_four_capabilities(self):
        self.check(AUTHORITY, "0", KILL | SETGID | SETUID | SYS_PTRACE)

    def test_every_thread_has_the_privileges_of_the_first(self):
        self.status()
        for pid in (pid for unit in SERVICES for pid in self.processes(unit)):
            lines = self.machine.run("sh", "-c", "grep -hE '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp:)' "
                                     f"/proc/{pid}/task/*/status").stdout.splitlines()
            of_one = len({line.split(":")[0] for line in lines})
            self.assertEqual(len(set(lines)), of_one, lines)

    def test_the_memory_of_both_is_locked_and_in_no_dump(self):
        self.status()
        for pid, words in ((pid, words) for unit in SERVICES for pid, words in self.processes(unit).items()):
            if "--worker" in words:
                self.assertNotEqual(self.machine.status(pid)["VmLck"].split()[0], "0")
            self.assertRegex(self.machine.read(f"/proc/{pid}/limits"), r"Max core file size +0 +0 ")
            # The entries of a process that cannot be dumped belong to root, whatever its user.
            self.assertEqual(self.machine.run("stat", "-c", "%u", f"/proc/{pid}/mem").stdout, "0\n")

    def test_both_are_ready_soon_after_they_were_started(self):
        self.stop_services()
        self.status()
        for unit in SERVICES:
            started = int(self.machine.unit(unit)["ExecMainStartTimestampMonotonic"])
            def entries():
                lines = self.machine.run("journalctl", "-q", "-o", "json", "-u", unit).stdout.splitlines()
                mine = [json.loads(line) for line in lines]
                return [entry for entry in mine if entry["MESSAGE"] == "started"
                        and int(entry["__MONOTONIC_TIMESTAMP"]) >= started]
            ready = int(eventually(entries)[-1]["__MONOTONIC_TIMESTAMP"])
            fact(f"start of {unit.removesuffix('.service')}", f"{(ready - started) / 1000:.0f} ms")


class DescriptorTests(ServiceTest):
    def setUp(self):
        super().setUp()
        # Both services have only what they have for every program and for one open store.
        self.stop_services()
        self.status()

    def details(self, pid):
        """The target, the owner and the flags (open(2)) of each open descriptor."""
        script = ('for n in $(ls /proc/$1/fd); do echo "$n" "$(stat -L -c %u /proc/$1/fd/$n)"'
                  ' "$(sed -n "s/^flags:\\t//p" /proc/$1/fdinfo/$n)" "$(readlink /proc/$1/fd/$n)"; done')
        lines = [line.split(" ", 3) for line in self.machine.run("sh", "-c", script, "sh", pid).stdout.splitlines()]
        return {int(line[0]): (line[3], int(line[1]), int(line[2], 8)) for line in lines if len(line) == 4}

    def paths(self, pid):
        """The path of each socket that has one, by "socket:[inode]"; a service has a network of its own."""
        lines = self.machine.run("cat", "/proc/net/unix", f"/proc/{pid}/net/unix").stdout.splitlines()
        fields = [line.split() for line in lines]
        return {f"socket:[{field[6]}]": field[7] for field in fields if len(field) > 7}

    def note(self, name, pid, details):
        """Adds every open descriptor to the table of what was real."""
        paths = self.paths(pid)
        shown = [f"{number} socket {paths.get(target, 'without a path')}" if target.startswith("socket:")
                 else f"{number} {target}" for number, (target, _, _) in sorted(details.items())]
        fact(f"descriptors of {name}", ", ".join(shown))

    def check(self, name, pid, sockets, anonymous, folder, owner):
        details = self.details(pid)
        self.note(name, pid, details)
        self.assertEqual(details[0][0], "/dev/null")
        # Errors are the connection to the journal; a process that the service has started has no output.
        self.assertRegex(details[2][0], r"^socket:")
        self.assertIn(details[1][0], ("/dev/null", details[2][0]))
        others = {number: detail for number, detail in details.items() if number > 2}
        for number, (target, user, flags) in others.items():
            self.assertTrue(flags & 0o2000000, f"{number} {target} stays open in programs that are executed")
            if target.startswith("/"):
                # A folder is open for its lock, which keeps `latchkey admin` out.
                # The file of logind delays sleep until keys are removed from memory.
                delays = name == "the sensors" and re.fullmatch(r"/run/systemd/inhibit/\d+\.ref", target)
                self.assertTrue(target == folder or target.startswith(folder + "/1001") or delays, target)
                self.assertEqual(user, owner, target)
        kinds = [re.sub(r":.*|^/.*", "", target) for target, _, _ in others.values()]
        self.assertEqual(kinds.count("socket"), sockets, others)
        found = sorted(target.split(":", 1)[1].strip("[]") for target, _, _ in others.values()
                       if target.startswith("anon_inode"))
        self.assertEqual(found, sorted(anonymous), others)
        self.assertEqual(len(others), sum(kind in ("socket", "anon_inode", "") for kind in kinds), others)

    def test_latchkeyd_has_its_socket_and_two_for_each_process(self):
        latchkey = int(self.machine.run("id", "-u", "latchkey").stdout)
        self.check("latchkeyd", self.machine.main_pid(KEYCHAIN), 1 + 2, ("eventpoll", "eventfd", "pidfd"), STORES, latchkey)

    def test_the_process_of_a_user_has_its_connections_and_the_open_store(self):
        latchkey = int(self.machine.run("id", "-u", "latchkey").stdout)
        # Two of the accepting process, and one to latchkey-authd.
        self.check("latchkeyd of a user", self.process_of(KEYCHAIN), 2 + 1, ("eventpoll", "eventfd"), STORES, latchkey)

    def test_latchkey_authd_has_its_two_sockets_three_for_each_process_and_one_of_the_sensors(self):
        self.check("latchkey-authd", self.machine.main_pid(AUTHORITY), 2 + 3 + 1,
                   ("eventpoll", "eventfd", "pidfd", "pidfd"), RECORDS, 0)

    def test_the_authority_of_a_user_has_its_connections(self):
        # Three of the accepting process, one of latchkeyd with its process, and one to the sensors; two servers, and what wakes
        # the threads of prompts.
        self.check("latchkey-authd of a user", self.process_of(AUTHORITY), 3 + 1 + 1,
                   ("eventpoll", "eventfd", "eventpoll", "eventfd", "eventfd", "pidfd"), RECORDS, 0)

    def test_the_process_of_the_sensors_has_the_bus_and_one_connection_for_each_user(self):
        # One to the accepting process, one to the message bus, a pair that wakes its thread, and one of alice. The library of
        # later versions of systemd has a handle of the process itself.
        version = int(self.machine.run("systemctl", "--version").stdout.split()[1])
        self.check("the sensors", self.sensors_process(), 1 + 1 + 2 + 1, ("inotify", "pidfd")[:2 if version > 252 else 1],
                   RECORDS, 0)


class ProgramTests(ServiceTest):
    def test_each_program_links_exactly_the_listed_libraries(self):
        for program, expected in LIBRARIES.items():
            with self.subTest(program):
                listed = subprocess.run(["readelf", "--dynamic", "--wide", RELEASE / program], stdout=subprocess.PIPE,
                                        text=True, check=True).stdout
                names = set(re.findall(r"\(NEEDED\).*\[(.*)\]", listed))
                self.assertEqual({name for name in names if not name.startswith("ld-linux")}, expected)

    def test_each_program_finds_its_libraries(self):
        found = self.machine.run("sh", "-c", "ldd /usr/bin/latchkey /usr/libexec/latchkey*").stdout
        self.assertIn("libcrypto.so.3 => /", found)
        self.assertNotIn("not found", found)

    def test_the_shipped_authority_has_no_scripted_sensor(self):
        programs = pathlib.Path(self.programs)
        shipped = self.machine.run("cat", "/usr/libexec/latchkey-authd", input=b"").stdout
        self.assertEqual([name for name in SCRIPTED if name in shipped], [])
        testing = programs / "latchkey-authd-testing"
        if testing.exists():
            # The search would find one.
            content = testing.read_bytes()
            self.assertEqual([name for name in SCRIPTED[:-1] if name not in content], [])

    def test_no_program_for_tests_is_installed(self):
        found = self.machine.run("find", "/usr", "-name", "latchkey*testing*").stdout
        self.assertEqual(found, "")


class DeviceTests(ServiceTest):
    def test_latchkeyd_alone_is_in_the_group_of_the_TPM(self):
        self.status()
        group = self.machine.run("getent", "group", "tss").stdout.split(":")[2]
        self.assertEqual(self.machine.unit_status(KEYCHAIN)["Groups"].split().count(group), 1)
        self.assertEqual(self.machine.unit_status(AUTHORITY)["Groups"].split().count(group), 0)
        self.assertEqual(self.machine.run("getent", "group", "tss").stdout.strip().split(":")[3], "")

    def test_latchkeyd_may_open_the_TPM_and_no_other_device(self):
        # Nodes without a driver: opening one fails with ENODEV, or with EPERM if the unit may not open it.
        for node, minor in (("tpmrm0", 250), ("tpm0", 251), ("other", 252)):
            self.machine.run("sh", "-c", f"mknod /dev/{node} c 10 {minor} && chown root:tss /dev/{node} && "
                             f"chmod 660 /dev/{node}")
            self.addCleanup(self.machine.run, "rm", "-f", f"/dev/{node}")
        text = self.machine.read(f"/lib/systemd/system/{KEYCHAIN}")
        text = re.sub(r"ExecStart=.*", "Type=oneshot\nExecStart=/usr/bin/python3 /opt/devices.py\n"
                      "StandardOutput=truncate:/run/devices.json", text)
        text = re.sub(r"(Requires|After)=.*\n", "", text)
        self.machine.write("/opt/devices.py", DEVICES)
        self.machine.add_unit("test-devices.service", text)
        self.machine.run("systemctl", "start", "test-devices")
        seen = json.loads(self.machine.read("/run/devices.json"))
        self.assertEqual(seen, {"tpmrm0": "ENODEV", "tpm0": "EPERM", "other": "EPERM", "null": "done"})
        fact("devices of latchkeyd", ", ".join(f"{node} {result}" for node, result in seen.items()))
