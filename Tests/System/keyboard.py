# SPDX-License-Identifier: Apache-2.0
"""A keyboard of the X display, without a program of its own: what xdotool does on the host."""

import contextlib
import ctypes

CHARACTERS = {"\n": b"Return", " ": b"space", "/": b"slash", "-": b"minus"}
MODIFIERS = {"alt": b"Alt_L", "ctrl": b"Control_L", "shift": b"Shift_L"}
VIEWABLE, TO_PARENT, CURRENT_TIME = 2, 2, 0
Window = ctypes.c_ulong


class Attributes(ctypes.Structure):
    """XWindowAttributes (Xlib.h)."""

    _fields_ = ([(name, ctypes.c_int) for name in ("x", "y", "width", "height", "border", "depth")]
                + [("visual", ctypes.c_void_p), ("root", Window)]
                + [(name, ctypes.c_int) for name in ("kind", "bit_gravity", "gravity", "store")]
                + [("planes", ctypes.c_ulong), ("pixel", ctypes.c_ulong), ("under", ctypes.c_int),
                   ("colours", ctypes.c_ulong), ("installed", ctypes.c_int), ("map", ctypes.c_int),
                   ("rest", ctypes.c_byte * 64)])


class Keyboard:
    """The connection to the display, until `close`."""

    def __init__(self):
        self._x11, self._test = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        self._x11.XDefaultRootWindow.restype = Window
        self._x11.XStringToKeysym.restype = ctypes.c_ulong
        self._display = ctypes.c_void_p(self._x11.XOpenDisplay(None))
        # A window that ends while it is asked is none; the default ends the process.
        self._ignore = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda display, error: 0)
        self._x11.XSetErrorHandler(self._ignore)

    def close(self):
        self._x11.XCloseDisplay(self._display)

    def _windows(self, title):
        """The visible windows with this title."""
        root, parent = Window(), Window()
        children, count = ctypes.POINTER(Window)(), ctypes.c_uint()
        top = Window(self._x11.XDefaultRootWindow(self._display))
        self._x11.XQueryTree(self._display, top, ctypes.byref(root), ctypes.byref(parent), ctypes.byref(children),
                             ctypes.byref(count))
        for window in children[:count.value]:
            name, attributes = ctypes.c_char_p(), Attributes()
            found = self._x11.XFetchName(self._display, Window(window), ctypes.byref(name))
            shown = self._x11.XGetWindowAttributes(self._display, Window(window), ctypes.byref(attributes))
            if found and name.value == title.encode() and shown and attributes.map == VIEWABLE:
                yield window

    def focus(self, title):
        """Gives the focus to the window with this title, which no window manager would do; false if it does not
        have it then."""
        for window in self._windows(title):
            self._x11.XRaiseWindow(self._display, Window(window))
            self._x11.XSetInputFocus(self._display, Window(window), TO_PARENT, ctypes.c_ulong(CURRENT_TIME))
            self._x11.XSync(self._display, 0)
            focused, revert = Window(), ctypes.c_int()
            self._x11.XGetInputFocus(self._display, ctypes.byref(focused), ctypes.byref(revert))
            return focused.value == window
        return False

    def press(self, combination):
        """Presses a key by the name of its symbol, after those of its modifiers: "alt+c", "Escape"."""
        *modifiers, key = combination.split("+")
        with contextlib.ExitStack() as stack:
            for symbol in [*(MODIFIERS[name] for name in modifiers), key.encode()]:
                code = self._x11.XKeysymToKeycode(self._display, self._x11.XStringToKeysym(symbol))
                if not code:
                    raise ValueError(f"the display has no key {symbol!r}")
                self._send(code, True)
                stack.callback(self._send, code, False)
        self._x11.XSync(self._display, 0)

    def type(self, text):
        """Types small letters, digits, spaces and ends of lines."""
        for character in text:
            self.press(CHARACTERS.get(character, character.encode()).decode())

    def _send(self, code, is_down):
        self._test.XTestFakeKeyEvent(self._display, code, int(is_down), ctypes.c_ulong(CURRENT_TIME))
