# SPDX-License-Identifier: Apache-2.0
"""What systemd gives a service here: every restriction that the services of Latchkey use, and socket activation."""

import json

from machine import MachineTest, fact

# The restrictions planned for latchkeyd. Each has an effect here, as the probes below show.
RESTRICTIONS = """
User=latchkey
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateNetwork=yes
RestrictAddressFamilies=AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
StateDirectory=latchkey-test
UMask=0077
"""

# Tries what a restriction forbids and prints the name of each error, or "done".
PROBE = """
import ctypes, json, mmap, os, pathlib, socket
libc = ctypes.CDLL(None, use_errno=True)
def tried(action):
    try: action()
    except OSError as error: return os.strerror(error.errno)
    return "done"
def system_call(result):
    if result < 0: raise OSError(ctypes.get_errno(), "")
print(json.dumps({
    "write /usr": tried(lambda: open("/usr/x", "w")),
    "write /var/lib/latchkey-test": tried(lambda: open("/var/lib/latchkey-test/x", "w")),
    "internet socket": tried(lambda: socket.socket(socket.AF_INET)),
    "unix socket": tried(lambda: socket.socket(socket.AF_UNIX)),
    "executable memory": tried(lambda: mmap.mmap(-1, 4096, prot=7)),
    "mount": tried(lambda: system_call(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))),
    "namespace": tried(lambda: system_call(libc.unshare(0x10000000))),
    "home folders": sorted(os.listdir("/home")) if os.access("/home", os.R_OK) else "Permission denied",
    "devices": sorted(path.name for path in pathlib.Path("/dev").iterdir()
                      if path.is_char_device() and not path.is_symlink()),
}))
"""

LISTENER = """
import socket, struct
listener = socket.socket(fileno=3)
connection, _ = listener.accept()
_, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
connection.sendall(f"hello {user}".encode())
"""

CLIENT = """
import socket
connection = socket.socket(socket.AF_UNIX)
connection.connect("/run/test-listener.socket")
print(connection.makefile().read())
"""


class RestrictionTests(MachineTest):
    def test_a_restricted_service_has_a_system_call_filter_and_no_capabilities(self):
        self.machine.add_unit("test-restricted.service",
                              f"[Service]\nType=exec\nExecStart=/usr/bin/sleep infinity\n{RESTRICTIONS}")
        self.machine.run("systemctl", "start", "test-restricted")
        status = self.machine.unit_status("test-restricted")
        for capabilities in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[capabilities], 16), 0, capabilities)
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        latchkey = self.machine.run("id", "-u", "latchkey").stdout.strip()
        self.assertEqual(status["Uid"].split(), [latchkey] * 4)
        descriptors = self.machine.descriptors(self.machine.main_pid("test-restricted"))
        self.assertEqual(sorted(descriptors), [0, 1, 2])
        self.assertEqual(descriptors[0], "/dev/null")
        fact("restricted unit", f"Seccomp {status['Seccomp']} ({status['Seccomp_filters']} filters), "
             f"CapEff {status['CapEff']}, CapBnd {status['CapBnd']}, NoNewPrivs {status['NoNewPrivs']}")
        self.machine.run("systemctl", "stop", "test-restricted")

    def test_each_restriction_has_its_effect(self):
        self.machine.write("/opt/probe.py", PROBE)
        self.machine.add_unit(
            "test-probe.service", "[Service]\nType=oneshot\nExecStart=/usr/bin/python3 /opt/probe.py\n"
            f"StandardOutput=truncate:/run/probe.json\n{RESTRICTIONS}")
        self.machine.run("systemctl", "start", "test-probe")
        effects = json.loads(self.machine.read("/run/probe.json"))
        # By a filter of system calls, or from systemd 253 on by the kernel (PR_SET_MDWE).
        self.assertIn(effects.pop("executable memory"), ("Operation not permitted", "Permission denied"))
        self.assertEqual(effects, {
            "write /usr": "Read-only file system",
            "write /var/lib/latchkey-test": "done",
            "internet socket": "Address family not supported by protocol",
            "unix socket": "done",
            "mount": "Operation not permitted",
            "namespace": "Operation not permitted",
            "home folders": "Permission denied",
            "devices": ["full", "null", "random", "tty", "urandom", "zero"],
        })

    def test_a_service_with_a_list_of_capabilities_has_exactly_those(self):
        self.machine.add_unit("test-capable.service", "[Service]\nType=exec\nExecStart=/usr/bin/sleep infinity\n"
                              "CapabilityBoundingSet=CAP_SYS_PTRACE CAP_SETUID CAP_SETGID CAP_KILL\n")
        self.machine.run("systemctl", "start", "test-capable")
        # Bits 19, 7, 6 and 5 of linux/capability.h.
        effective = int(self.machine.unit_status("test-capable")["CapEff"], 16)
        self.assertEqual(effective, 1 << 19 | 1 << 7 | 1 << 6 | 1 << 5)
        self.machine.run("systemctl", "stop", "test-capable")


class SocketActivationTests(MachineTest):
    def test_a_connection_starts_the_service_which_knows_its_client(self):
        self.machine.write("/opt/listener.py", LISTENER)
        self.machine.add_unit("test-listener.service", "[Service]\nExecStart=/usr/bin/python3 /opt/listener.py\n")
        self.machine.add_unit(
            "test-listener.socket", "[Socket]\nListenStream=/run/test-listener.socket\nSocketMode=0666\n")
        self.machine.run("systemctl", "start", "test-listener.socket")
        self.assertEqual(self.machine.unit("test-listener.service")["ActiveState"], "inactive")
        answer = self.machine.run("python3", "-c", CLIENT, user="alice").stdout
        self.assertEqual(answer, "hello 1001\n")
        self.machine.run("systemctl", "stop", "test-listener.socket", "test-listener.service")
        fact("socket activation", f"a connection of uid {answer.split()[1]} started a service, which answered")
