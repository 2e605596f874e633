# SPDX-License-Identifier: Apache-2.0
"""The program that shows prompts on a display of its own in the machine. A test outside reads its window as a screen
reader does, and takes pictures; the calls are those of attack_client.py."""

import ctypes
import os
import socket
import struct
import subprocess
import sys
import zlib

import attack_client
from accessible import Windows, check, everything_has_a_name, until
from keyboard import Keyboard

AGENT, SETTINGS = "/usr/libexec/latchkey-agent", "/usr/bin/latchkey-settings"


class Shown(Windows):
    """What a test outside does with the windows of a program."""

    def reads(self, *words, title=None):
        """Waits until the window shows each of these texts; all its texts."""
        tree = self.sees(lambda tree: all(tree.says(text) for text in words), title)
        return [text for node in tree.all() for text in (node.name, node.text) if text]

    def holds(self, *words):
        """Which of these texts are in the window, visible or not."""
        tree = self.now()
        return [text for text in words if tree.holds(text)]

    def is_named(self):
        """Fails for a widget that a screen reader could not name."""
        everything_has_a_name(self.now())

    def presses(self, name, title=None):
        """Presses the button with this name, which GTK 4.8 repeats after its mnemonic."""
        names = (name, f"{name} {name}", f"_{name} {name}")

        def button(tree):
            return next((node for node in tree.all()
                         if node.role == "button" and node.name in names and node.sensitive), None)

        button(self.sees(button, title)).press()

    def takes_focus(self, keyboard, title):
        """Gives the focus to the window with this title; whether it has it then."""
        return keyboard.focus(title or self.title)

    def keys(self, *names, title=None):
        keyboard = Keyboard()
        until(lambda: self.takes_focus(keyboard, title), lambda: f"no window {title or self.title}")
        for name in names:
            keyboard.press(name)
        keyboard.close()

    def writes(self, text, title=None):
        """Types into the field of a window, not of a prompt, that has the focus."""
        keyboard = Keyboard()
        until(lambda: self.takes_focus(keyboard, title), lambda: f"no window {title or self.title}")
        keyboard.type(text)
        keyboard.close()

    def types(self, *texts):
        """Types each text into the entry for a passcode that has the focus, and presses the key Return."""
        for text in texts:
            keyboard = Keyboard()
            self.sees(lambda tree: any(node.role == "password text" for node in tree.all()))
            until(lambda: keyboard.focus(self.title), lambda: "no window")
            self.sees(lambda tree: any(
                node.role == "password text" and node.focused and not node.text for node in tree.all()))
            keyboard.type(text + "\n")
            keyboard.close()


class Settings(Shown):
    """The settings window, beside the agent of the same display."""

    title = "Latchkey Settings"

    def __init__(self, page):
        self.log = os.environ["XDG_RUNTIME_DIR"] + "/settings.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([SETTINGS, page], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def takes_focus(self, keyboard, title):
        # GTK ignores the key of a mnemonic until it has noticed the focus of the window. Its dialogs do not say when.
        return super().takes_focus(keyboard, title) and (title is not None or self.is_active())


class Desktop(Shown):
    """The agent, which is registered."""

    title = "Latchkey"

    def __init__(self):
        folder = os.environ["XDG_RUNTIME_DIR"]
        self.log = folder + "/agent.log"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready, open(self.log, "w") as log:
            ready.bind(folder + "/ready")
            ready.settimeout(30)
            self.process = subprocess.Popen(
                [AGENT], env=dict(os.environ, NOTIFY_SOCKET=folder + "/ready"), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
            check(ready.recv(64) == b"READY=1", "the agent is registered")

    def pixels(self, moves=False):
        """What is on the display: width, height, and red, green and blue of each pixel. Unless something moves on it, such
        as a spinner, when it does not change any more."""
        if moves:
            return pixels()
        before = None
        def still():
            nonlocal before
            before, last = pixels(), before
            return before == last and before
        return until(still, lambda: "the display does not come to rest", every=0.1)

    def picture(self, moves=False):
        """The same as a PNG."""
        width, height, data = self.pixels(moves)
        rows = b"".join(b"\0" + data[3 * width * y:3 * width * (y + 1)] for y in range(height))
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
            for kind, content in ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
                                  (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")))


class Image(ctypes.Structure):
    """The beginning of XImage (Xlib.h)."""

    _fields_ = [("width", ctypes.c_int), ("height", ctypes.c_int), ("offset", ctypes.c_int), ("format", ctypes.c_int),
                ("data", ctypes.c_void_p), ("byte_order", ctypes.c_int), ("unit", ctypes.c_int),
                ("bit_order", ctypes.c_int), ("pad", ctypes.c_int), ("depth", ctypes.c_int),
                ("bytes_per_line", ctypes.c_int), ("bits_per_pixel", ctypes.c_int)]


def pixels():
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    x11.XDefaultRootWindow.restype = ctypes.c_ulong
    x11.XGetImage.restype = ctypes.POINTER(Image)
    width, height = x11.XDisplayWidth(display, 0), x11.XDisplayHeight(display, 0)
    image = x11.XGetImage(display, ctypes.c_ulong(x11.XDefaultRootWindow(display)), 0, 0, width, height,
                          ctypes.c_ulong(0xFFFFFFFF), 2)[0]
    check(image.bits_per_pixel == 32, "a pixel has 32 bits")
    data = ctypes.string_at(image.data, image.bytes_per_line * height)
    x11.XCloseDisplay(display)
    colours = bytearray(3 * width * height)
    for colour in range(3):
        colours[colour::3] = data[2 - colour::4]
    return width, height, bytes(colours)


# The process outside calls them by their names.
attack_client.Desktop, attack_client.Settings = Desktop, Settings

if __name__ == "__main__":
    attack_client.serve(sys.stdin.buffer, sys.stdout.buffer)
