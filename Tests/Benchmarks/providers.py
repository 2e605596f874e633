# SPDX-License-Identifier: Apache-2.0
"""A private message bus, and gnome-keyring on it, which has a password and is open, as after a login."""

import subprocess

# Without the services of the machine: this bus would start a second gnome-keyring-daemon, which has no password.
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=/tmp</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
</busconfig>
"""


def private_bus(folder):
    """Starts a bus; returns its process and its address."""
    (folder / "bus.conf").write_text(BUS)
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={folder / 'bus.conf'}", "--nofork", "--print-address=1"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return bus, bus.stdout.readline().strip()


def keyring_environment(folder):
    return {"HOME": str(folder), "XDG_RUNTIME_DIR": str(folder), "XDG_DATA_HOME": str(folder), "LANG": "C.UTF-8"}


def gnome_keyring(environment):
    """Starts gnome-keyring; it takes its name on the bus some time later."""
    process = subprocess.Popen(
        ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    process.stdin.write(b"password")
    process.stdin.close()
    return process
