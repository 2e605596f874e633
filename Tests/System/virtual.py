# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with a TPM: qemu with the distribution's kernel, and swtpm behind `/dev/tpm0` and `/dev/tpmrm0`.

Its root is the image of the machine with systemd, but no systemd runs: it boots, runs one script as root and ends. A
test derives from `VirtualTest` and names what to run:

    class ChipTests(VirtualTest):
        files = {"/test/probe.py": "print('inside')"}
        script = "python3 /test/probe.py"

        def test_theProbeRan(self):
            self.assertEqual(self.output, "inside\\n")
"""

import pathlib
import re
import shutil
import socket
import subprocess
import time
import unittest

import pytest

from chip_log import commands
from machine import Failure, fact, work_folder

# Modules that the script finds loaded; the drivers of the TPM are part of the kernel.
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "hid_generic", "uhid")

# The first process. It mounts the image by 9P below an overlay in memory, copies the files of the test into it, and
# runs the script there. Its output is the second serial port; the first one is the kernel's log.
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /image /space /machine
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
exec 2>/dev/ttyS0
stty -F /dev/ttyS1 raw
for module in $(cat /modules/order); do insmod /modules/$module || echo "cannot load $module" >&2; done
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose image /image &&
    mount -t tmpfs space /space && mkdir /space/changes /space/overlay &&
    mount -t overlay -o lowerdir=/image,upperdir=/space/changes,workdir=/space/overlay overlay /machine || poweroff -f
for folder in proc sys dev; do mount --bind /$folder /machine/$folder; done
mount -t tmpfs run /machine/run
cp -a /files/. /machine/
chroot /machine /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 /bin/sh /test/script >/dev/ttyS1
printf '\\nstatus %s\\n' $? >/dev/ttyS1
poweroff -f
"""


class VirtualMachine:
    """One boot. `output` and `status` are those of the script, `log` is the kernel's, and `chip` has the commands that the
    TPM got, as pairs of code and response code."""

    def __init__(self, kernel, image, script, files, seconds=120, memory=512):
        begin = time.monotonic()
        self._work = work_folder("virtual")
        try:
            self._write_initial_files(pathlib.Path(kernel), pathlib.Path(image), {**files, "/test/script": script})
            self._run(kernel, image, seconds, memory)
        finally:
            shutil.rmtree(self._work)
        self.seconds = time.monotonic() - begin

    def _run(self, kernel, image, seconds, memory):
        work = self._work
        (work / "state").mkdir()
        processes = []
        try:
            with socket.socket(socket.AF_UNIX) as control, open(work / "messages", "wb") as messages:
                control.bind(str(work / "control"))
                control.listen(1)
                control.set_inheritable(True)
                # Both end with this program. All paths are absolute.
                def start(*argv):
                    processes.append(subprocess.Popen(
                        ["setpriv", "--pdeathsig", "KILL", *map(str, argv)], stdin=subprocess.DEVNULL, stdout=messages,
                        stderr=messages, pass_fds=[control.fileno()], start_new_session=True))
                    return processes[-1]
                start("swtpm", "socket", "--tpm2", "--tpmstate", f"dir={work}/state", "--ctrl",
                      f"type=unixio,fd={control.fileno()}", "--terminate", "--log", f"file={work}/chip,level=20")
                # Translation and not KVM, because a host that is a virtual machine itself may have a KVM that hangs.
                machine = start(
                    "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
                    "-machine", "q35,accel=tcg", "-m", str(memory), "-smp", "1", "-nic", "none",
                    "-kernel", f"{kernel}/vmlinuz", "-initrd", f"{work}/initrd",
                    "-append", "console=ttyS0 loglevel=5 panic=-1 random.trust_cpu=on",
                    "-serial", f"file:{work}/log", "-serial", f"file:{work}/output",
                    "-fsdev", f"local,id=image,path={image},security_model=none,readonly=on",
                    "-device", "virtio-9p-pci,fsdev=image,mount_tag=image",
                    "-chardev", f"socket,id=tpm,path={work}/control", "-tpmdev", "emulator,id=tpm0,chardev=tpm",
                    "-device", "tpm-crb,tpmdev=tpm0")
            try:
                machine.wait(seconds)
            except subprocess.TimeoutExpired:
                raise Failure(f"the virtual machine did not end in {seconds} s\n{self._messages()}") from None
            self.log = (work / "log").read_text(errors="replace") if (work / "log").exists() else ""
            written = (work / "output").read_text(errors="replace") if (work / "output").exists() else ""
            end = re.fullmatch(r"(.*)\nstatus (\d+)\n", written, re.DOTALL)
            if end is None:
                raise Failure(f"the script did not end\n{written}\n{self._messages()}")
            self.output, self.status = end[1], int(end[2])
            self.chip = commands((work / "chip").read_text(errors="replace"))
        finally:
            for process in processes:
                process.kill()
                process.wait()

    def _messages(self):
        texts = [(self._work / name) for name in ("messages", "log", "output")]
        return "\n".join(text.read_text(errors="replace")[-4000:] for text in texts if text.exists())

    # MARK: the initial file system

    def _write_initial_files(self, kernel, image, files):
        archive = Archive()
        archive.add("/init", INIT.encode(), 0o755)
        archive.add("/bin/busybox", (image / "bin/busybox").read_bytes(), 0o755)
        order = _in_order_of_loading(kernel / "modules", MODULES)
        for module in order:
            archive.add(f"/modules/{module.name}", module.read_bytes())
        archive.add("/modules/order", "".join(f"{module.name}\n" for module in order).encode())
        for path, content in files.items():
            if isinstance(content, pathlib.Path):
                archive.add("/files" + path, content.read_bytes(), 0o755)
            else:
                archive.add("/files" + path, content.encode())
        (self._work / "initrd").write_bytes(archive.finished())


class Archive:
    """An archive in the format `newc` of cpio, which the kernel unpacks as its first file system."""

    def __init__(self):
        self._entries = []
        self._folders = set()

    def add(self, path, content, mode=0o644):
        """Adds a file and the folders above it."""
        for folder in reversed(pathlib.PurePosixPath(path).parents[:-1] if path.count("/") > 1 else ()):
            if folder not in self._folders:
                self._folders.add(folder)
                self._append(str(folder), b"", 0o040755)
        self._append(path, content, 0o100000 | mode)

    def _append(self, path, content, mode):
        name = path.lstrip("/").encode() + b"\0"
        fields = [len(self._entries) + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0]
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        self._entries.append(_padded(header + name) + _padded(content))

    def finished(self):
        """The bytes of the archive."""
        self._append("TRAILER!!!", b"", 0)
        return b"".join(self._entries)


def _padded(data):
    return data + b"\0" * (-len(data) % 4)


def _in_order_of_loading(folder, wanted):
    """The files of modules and of those they depend on, each after its dependencies; see modinfo(8).

    A module without a file is part of the kernel.
    """
    files = {path.name.split(".")[0].replace("-", "_"): path for path in folder.iterdir()}
    order = []

    def visit(name):
        path = files.get(name.replace("-", "_"))
        if path is None or path in order:
            return
        depends = re.search(rb"\0depends=([^\0]*)\0", path.read_bytes())
        for dependency in depends[1].decode().split(",") if depends else []:
            visit(dependency)
        order.append(path)

    for name in wanted:
        visit(name)
    return order


@pytest.mark.usefixtures("machine_image")
class VirtualTest(unittest.TestCase):
    """Tests of the output of one boot. A subclass sets `script`, and `files`: text, or the `Path` of a program."""

    # The folders of the kernel and of the image; the fixture sets them.
    kernel = image = None
    script = "true"
    files = {}
    # The deadline of the boot, and the memory in MiB.
    seconds, memory = 120, 512

    @classmethod
    def setUpClass(cls):
        if cls.kernel is None:
            raise unittest.SkipTest("the machine with a TPM is an amd64 one")
        booted = VirtualMachine(cls.kernel, cls.image, cls.script, cls.files, cls.seconds, cls.memory)
        if booted.status != 0:
            raise Failure(f"the script ended with status {booted.status}\n{booted.output}\n{booted.log}")
        cls.output, cls.chip = booted.output, booted.chip
        fact("machine with a TPM", f"qemu ran for {booted.seconds:.1f} s")
