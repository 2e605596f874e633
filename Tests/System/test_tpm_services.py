# SPDX-License-Identifier: Apache-2.0
"""Both services of tier tpm on the kernel's resource manager, `/dev/tpmrm0`, and the commands that it sends to the TPM."""

import json
import pathlib
import unittest

from chip_log import CONTEXT_LOAD, CONTEXT_SAVE, FLUSH, POLICY_SECRET, TEST_RESULT, felt, milliseconds, names
from machine import CHECKOUT, PASSWORDS, RELEASE, fact
from virtual import VirtualTest

PROGRAMS = RELEASE
# A terminal of a process counts only if its root is that of the first process. So the file system of the machine is moved
# to the root of the mount namespace, and the script is the first process of a namespace.
START = """
exec chroot /proc/1/root /bin/sh -c 'cd /machine && mount --move . / && exec chroot . \\
    /usr/bin/unshare -m -p -f --mount-proc /bin/sh /test/moved'
"""
MOVED = f"""
set -e
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
systemd-sysusers
useradd --create-home --shell /bin/bash --uid 1001 alice
echo 'alice:{PASSWORDS["alice"]}' | chpasswd -c SHA256
install -d -o latchkey -g latchkey -m 700 /var/lib/latchkey
tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id
# As the rule of udev does.
chown root:tss /dev/tpmrm0 && chmod 660 /dev/tpmrm0
mkdir -p /dev/pts && mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
chmod 755 /run
python3 /test/manager_client.py '{PASSWORDS["alice"]}' 2>&1
"""
BAD_AUTH = 0x9A2


def text(*path):
    return CHECKOUT.joinpath(*path).read_text()


class ServicesTests(VirtualTest):
    files = {"/usr/bin/latchkey": PROGRAMS / "latchkey",
             "/usr/libexec/latchkeyd": PROGRAMS / "latchkeyd",
             "/usr/libexec/latchkey-authd": PROGRAMS / "latchkey-authd-testing",
             "/usr/libexec/latchkey-pam": PROGRAMS / "latchkey-pam",
             "/usr/libexec/latchkey-prompt": PROGRAMS / "latchkey-prompt",
             "/usr/lib/sysusers.d/latchkey.conf": text("packaging/sysusers.d/latchkey.conf"),
             "/etc/pam.d/latchkey": text("packaging/pam.d/latchkey"),
             "/etc/latchkey/latchkeyd.conf": "tier = tpm\nallow-virtual-hardware = yes\n",
             "/test/moved": MOVED,
             **{f"/test/{name}": text("Tests/System", name) for name in ("manager_client.py", "person_client.py")}}
    script, seconds, memory = START, 600, 1024

    @classmethod
    def setUpClass(cls):
        if not all(path.exists() for path in cls.files.values() if isinstance(path, pathlib.Path)):
            raise unittest.SkipTest("no programs: run `make build system-programs` first")
        super().setUpClass()
        cls.found = json.loads(cls.output.splitlines()[-1])

    def part(self, name):
        """The commands of a part, as pairs of code and response code."""
        number, commands = self.found["parts"].index(name), self.chip
        marks = [place for place, (code, _) in enumerate(commands) if code == TEST_RESULT] + [len(commands)]
        self.assertEqual(len(marks), len(self.found["parts"]) + 1)
        return commands[marks[number] + 1:marks[number + 1]]

    def test_a_passcode_is_set_releases_an_item_and_is_recovered(self):
        found = self.found
        self.assertEqual(found["tier"], "tpm")
        self.assertTrue(found["read"] and found["read again"] and found["recovered"], found)

    def test_the_tpm_itself_refuses_a_wrong_passcode_once(self):
        proofs = [status for code, status in self.part("a wrong passcode and the right one") if code == POLICY_SECRET]
        self.assertEqual(proofs.count(BAD_AUTH), 1, proofs)
        self.assertGreater(proofs.count(0), 0, proofs)

    def test_nothing_is_left_in_the_tpm(self):
        nothing = {"objects": 0, "loaded sessions": 0, "saved sessions": 0}
        self.assertEqual(self.found["stopped"], nothing)
        self.assertEqual(self.found["after"], nothing)
        # Between two commands of a program the resource manager keeps no object in the TPM.
        self.assertEqual(self.found["used"]["objects"], 0)

    def test_a_signature_takes_no_more_commands_than_were_counted(self):
        for name in self.FELT:
            for turn in (f"first {name}", name):
                before, commands, after = ([code for code, _ in self.part(turn + phase)] for phase in self.PHASES)
                managed = sum(code in (CONTEXT_LOAD, CONTEXT_SAVE, FLUSH) for code in commands)
                fact(f"a signature by {turn} by /dev/tpmrm0", f"{len(before)} commands of the TPM while the prompt is shown; "
                     f"{len(commands)} are felt, {managed} of them to load, save and remove, which take a published firmware "
                     f"TPM {milliseconds(commands)} ms; {len(after)} after the reply")
                with self.subTest(turn):
                    self.assertEqual((len(commands), milliseconds(commands)), self.FELT[name], names(commands))
            fact(f"a signature by {name} in translated code", f"{self.found['seconds'][name] * 1000:.0f} ms")

    PHASES = (", before", "", ", after")
    # What the TPM gets from the touch or the passcode to the reply, whether the key was used before or not.
    FELT = felt()
