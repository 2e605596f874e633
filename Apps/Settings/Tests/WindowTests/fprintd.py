# SPDX-License-Identifier: Apache-2.0
"""The real fprintd on a message bus of its own, with a virtual reader of libfprint and a polkit that allows everything, or
all but one action."""

import functools
import glob
import os
import pathlib
import socket
import subprocess

from gi.repository import Gio, GLib

from accessible import check, until

CHECKOUT = pathlib.Path(__file__).resolve().parents[4]
DAEMON = "/usr/bin/dbus-daemon"

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
</policy></busconfig>
"""

# Answers fprintd's questions about authorisation; a process of its own, because this one polls.
POLKIT = """
import sys
from gi.repository import Gio, GLib
xml = '''<node><interface name="org.freedesktop.PolicyKit1.Authority"><method name="CheckAuthorization">
<arg type="(sa{sv})" direction="in"/><arg type="s" direction="in"/><arg type="a{ss}" direction="in"/>
<arg type="u" direction="in"/><arg type="s" direction="in"/><arg type="(bba{ss})" direction="out"/></method>
</interface></node>'''
flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
bus = Gio.DBusConnection.new_for_address_sync(sys.argv[1], flags, None, None)
def answer(bus, sender, path, interface, method, arguments, invocation):
    invocation.return_value(GLib.Variant('((bba{ss}))', ((arguments[1] != sys.argv[2], False, {}),)))
bus.register_object('/org/freedesktop/PolicyKit1/Authority', Gio.DBusNodeInfo.new_for_xml(xml).interfaces[0], answer)
Gio.bus_own_name_on_connection(bus, 'org.freedesktop.PolicyKit1', 0, lambda *_: print('ready', flush=True), None)
GLib.MainLoop().run()
"""


@functools.cache
def root():
    """The folder of an fprintd that is not installed; empty if one is."""
    done = subprocess.run([CHECKOUT / "scripts/fprintd"], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


class Fprintd:
    """As a context manager, it ends the processes that it started."""

    def __init__(self, folder, has_reader=True, refused=""):
        """`refused` is the action that polkit does not allow."""
        self.folder = folder
        self.address = f"unix:path={folder}/bus"
        self.processes = []
        with open(folder + "/bus.conf", "w") as file:
            file.write(BUS.format(folder=folder))
        self.start([DAEMON, "--nofork", "--nopidfile", f"--config-file={folder}/bus.conf", "--print-address=1"], {})
        self.start(["/usr/bin/python3", "-c", POLKIT, self.address, refused], os.environ)
        environment = {
            "PATH": "/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": self.address, "STATE_DIRECTORY": folder + "/state",
            "FP_DRIVERS_WHITELIST": "virtual_device", "LC_ALL": "C",
        }
        os.mkdir(folder + "/state", 0o700)
        if has_reader:
            environment["FP_VIRTUAL_DEVICE"] = folder + "/reader"
        if root():
            environment["LD_LIBRARY_PATH"] = ":".join(glob.glob(root() + "/usr/lib/*"))
        self.start([root() + "/usr/libexec/fprintd", "--no-timeout"], environment, says=False)
        flags = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION
        self.bus = bus = Gio.DBusConnection.new_for_address_sync(self.address, flags, None, None)

        def owns():
            reply = bus.call_sync(
                "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
                GLib.Variant("(s)", ("net.reactivated.Fprint",)), None, 0, 5000, None)
            return reply.unpack()[0]

        until(owns, lambda: "fprintd does not own its name")

    def start(self, command, environment, says=True):
        """Starts a program, and waits for its first line if it writes one when it is ready."""
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE if says else subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.processes.append(process)
        if says:
            check(process.stdout.readline(), f"{command[0]} ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.kill()
            process.wait()

    def scan(self, command):
        """Sends a command to the reader, as soon as a program has claimed it."""
        def sent():
            with socket.socket(socket.AF_UNIX) as connection:
                try:
                    connection.connect(self.folder + "/reader")
                    connection.sendall(command.encode())
                    # The reader closes the connection when it has taken the command.
                    while connection.recv(256):
                        pass
                    return True
                except OSError:
                    return False
        until(sent, lambda: "the reader takes no scan")

    def device(self, method, arguments=None):
        """Calls a method of the reader, as another program does."""
        def call(path, interface, method, arguments):
            return self.bus.call_sync(
                "net.reactivated.Fprint", path, "net.reactivated.Fprint." + interface, method, arguments, None, 0, 5000,
                None).unpack()
        path, = call("/net/reactivated/Fprint/Manager", "Manager", "GetDefaultDevice", None)
        call(path, "Device", method, arguments)

    def claim(self):
        """Keeps the reader for this process."""
        self.device("Claim", GLib.Variant("(s)", ("",)))

    def release(self):
        self.device("Release")
