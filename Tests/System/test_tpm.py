# SPDX-License-Identifier: Apache-2.0
"""The kernel's own driver and resource manager for a TPM, and devices that a program plays with uhid."""

import json
import unittest

from machine import RELEASE, fact
from virtual import VirtualTest

PROBE = """
import glob, json, os, platform, struct, time

def command(device, code, parameters):
    # TPM 2.0 part 1, section 18: tag without sessions, size, command code.
    os.write(device, struct.pack(">HII", 0x8001, 10 + len(parameters), code) + parameters)
    answer = os.read(device, 4096)
    tag, size, status = struct.unpack(">HII", answer[:10])
    assert (tag, size, status) == (0x8001, len(answer), 0), answer.hex()
    return answer[10:]

def random(device):
    # TPM2_GetRandom; part 3, section 16.1.
    answer = command(device, 0x17B, struct.pack(">H", 16))
    assert struct.unpack(">H", answer[:2]) == (16,)
    return answer[2:].hex()

def manufacturer(device):
    # TPM2_GetCapability of TPM_PT_MANUFACTURER; part 3, section 30.2.
    return command(device, 0x17A, struct.pack(">III", 6, 0x105, 1))[-4:].decode().strip("\\0 ")

def play_device():
    # UHID_CREATE2 of linux/uhid.h, with the report descriptor of a FIDO key (CTAP 2, section 11.2.8.1).
    report = bytes.fromhex("06d0f10901a1010920150026ff007508954081020921150026ff00750895409102c0")
    device = os.open("/dev/uhid", os.O_RDWR)
    os.write(device, struct.pack(
        "<I128s64s64sHHIIII4096s", 11, b"test", b"", b"", len(report), 3, 0x1209, 1, 0, 0, report))
    # UHID_START: a driver has taken the device.
    assert struct.unpack("<I", os.read(device, 4380)[:4]) == (2,)
    return [os.path.basename(path) for path in glob.glob("/sys/bus/hid/devices/*")]

first, second = (os.open("/dev/tpmrm0", os.O_RDWR) for _ in range(2))
begin = time.monotonic()
values = [random(device) for device in (first, second, first)]
milliseconds = (time.monotonic() - begin) * 1000 / 3
print(json.dumps({
    "random": values, "milliseconds": milliseconds, "manufacturer": manufacturer(first), "uhid": play_device(),
    "version": open("/sys/class/tpm/tpm0/tpm_version_major").read().strip(), "kernel": platform.release()}))
"""


class ResourceManagerTests(VirtualTest):
    files = {"/test/probe.py": PROBE}
    script = "python3 /test/probe.py"

    @property
    def found(self):
        return json.loads(self.output)

    def test_tpmrm0_answers_two_programs_at_once(self):
        found = self.found
        self.assertEqual(found["version"], "2")
        self.assertEqual(len(set(found["random"])), 3)
        fact("/dev/tpmrm0", f"TPM {found['version']} of {found['manufacturer']} (swtpm) answered TPM2_GetRandom with "
             f"{found['random'][0]} in {found['milliseconds']:.1f} ms, kernel {found['kernel']}")

    def test_uhid_makes_a_device(self):
        self.assertEqual([device.split(".")[0] for device in self.found["uhid"]], ["0003:1209:0001"])
        fact("/dev/uhid", f"made the device {self.found['uhid'][0]}")


KEYS = """
import json, os, struct, subprocess, time

FOLDER, COUNT = "/tmp/store", 20
environment = {"PATH": os.environ["PATH"], "HOME": "/tmp", "LATCHKEY_HOME": FOLDER, "LANG": "C.UTF-8"}

def latchkey(*argv):
    done = subprocess.run(["latchkey", *argv], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout

def transient():
    # TPM2_GetCapability of TPM_CAP_HANDLES from 0x80000000, for a descriptor of its own.
    device = os.open("/dev/tpmrm0", os.O_RDWR)
    os.write(device, struct.pack(">HIIIII", 0x8001, 22, 0x17A, 1, 0x80000000, 64))
    answer = os.read(device, 4096)
    os.close(device)
    return struct.unpack(">I", answer[15:19])[0]

os.mkdir(FOLDER, 0o700)
with open(FOLDER + "/latchkeyd.conf", "w") as file:
    file.write("tier = simulated\\nenclave = tpm\\n")
os.chmod(FOLDER + "/latchkeyd.conf", 0o600)
latchkey("sim", "start", "--ready")
begin = time.monotonic()
latchkey("key", "create", "--enclave", "--protect", "biometry", "work")
created = time.monotonic() - begin
with open("/tmp/text", "w") as file:
    file.write("the text that is signed")
latchkey("key", "public", "work", "--output", "/tmp/public")
seconds = []
for number in range(COUNT):
    latchkey("sim", "touch")
    begin = time.monotonic()
    latchkey("key", "sign", "work", "/tmp/text", "--output", "/tmp/signature", "--replace")
    seconds.append(time.monotonic() - begin)
    done = subprocess.run(["openssl", "dgst", "-sha256", "-verify", "/tmp/public", "-signature", "/tmp/signature",
                           "/tmp/text"], capture_output=True, text=True)
    assert done.stdout == "Verified OK\\n", done.stderr
during = transient()
enclave = json.loads(latchkey("status", "--json"))["enclave"]
latchkey("sim", "stop")
print(json.dumps({"created": created, "seconds": sorted(seconds), "during": during, "after": transient(),
                  "enclave": enclave}))
"""
PROGRAMS = RELEASE


class KeyTests(VirtualTest):
    """A daemon of tier `simulated` with the kernel's resource manager, which it uses without a line that names it."""

    files = {"/test/keys.py": KEYS, "/usr/bin/latchkey": PROGRAMS / "latchkey",
             "/usr/libexec/latchkeyd": PROGRAMS / "latchkeyd"}
    script = "python3 /test/keys.py"

    @classmethod
    def setUpClass(cls):
        if not all(path.exists() for path in cls.files.values() if not isinstance(path, str)):
            raise unittest.SkipTest("no programs: run `make build` first")
        super().setUpClass()

    @property
    def found(self):
        return json.loads(self.output)

    def test_a_touch_releases_each_of_20_signatures(self):
        found = self.found
        self.assertEqual((found["enclave"], len(found["seconds"])), ("tpm", 20))
        median, made = (f"{seconds * 1000:.0f} ms" for seconds in (found["seconds"][10], found["created"]))
        fact("signatures by /dev/tpmrm0", f"{median} each (median of 20, `latchkey key sign` in translated code), "
             f"the key made in {made}")

    def test_the_keys_of_the_daemon_are_not_seen_by_another_descriptor(self):
        self.assertEqual((self.found["during"], self.found["after"]), (0, 0))
