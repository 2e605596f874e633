# SPDX-License-Identifier: Apache-2.0
"""A model of a terminal: two screens of cells and a cursor."""

import ctypes
import locale

locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
# wcwidth(3): the width of characters comes from the C library, not from the code under test.
width_of = ctypes.CDLL(None).wcwidth
width_of.argtypes = [ctypes.c_wchar]


class Screen:
    """The control sequences that a prompt may use are implemented; any other one is recorded in `unknown`, so that a test
    notices it. Lines are clipped when the window becomes narrower, as in xterm."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells, self.row, self.column = [], 0, 0
        self.other = None
        self.sequence = None
        self.unknown = []
        self.has_wrapped = False
        self.is_cursor_visible = True
        # Number of sequences that set a colour or another style.
        self.styles = 0
        self.resize(columns, rows)

    @property
    def is_alternate(self):
        return self.other is not None

    @property
    def lines(self):
        """The visible lines, without trailing spaces and trailing empty lines."""
        lines = ["".join(row).rstrip(" ") for row in self.cells]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def last(self):
        """The last line that is not empty; an empty text if there is none."""
        return next(reversed(self.lines), "")

    @property
    def text(self):
        return "".join(self.lines)

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self._fit()
        if self.other:
            self._swap()
            self._fit()
            self._swap()

    def _swap(self):
        (self.cells, self.row, self.column), self.other = self.other, (self.cells, self.row, self.column)

    def _fit(self):
        self.cells = [(row + [" "] * self.columns)[:self.columns] for row in self.cells]
        while len(self.cells) < self.rows:
            self.cells.append([" "] * self.columns)
        while len(self.cells) > self.rows:
            # Removes lines below the cursor first, then those at the top.
            if self.row < len(self.cells) - 1:
                self.cells.pop()
            else:
                del self.cells[0]
                self.row -= 1
        self.column = min(self.column, self.columns - 1)

    def write(self, text):
        for character in text:
            self._write(character)

    def _write(self, character):
        if self.sequence is not None:
            begun, self.sequence = self.sequence, self.sequence + character
            if character != "[" if not begun else "@" <= character <= "~":
                self._perform(self.sequence)
                self.sequence = None
        elif character == "\x1b":
            self.sequence = ""
        elif character == "\r":
            self.column = 0
        elif character == "\n":
            self._feed()
        elif character < " " or "\x7f" <= character <= "\x9f":
            self.unknown.append(f"control {ord(character)}")
        else:
            self._put(character)

    def _put(self, character):
        width = width_of(character)
        if width <= 0:
            return
        if self.column + width > self.columns:
            self.has_wrapped = True
            self.column = 0
            self._feed()
        row = self.cells[self.row]
        row[self.column] = character
        for extra in range(self.column + 1, min(self.column + width, self.columns)):
            row[extra] = ""
        self.column += width

    def _feed(self):
        if self.row < self.rows - 1:
            self.row += 1
        else:
            del self.cells[0]
            self.cells.append([" "] * self.columns)

    def _perform(self, sequence):
        if sequence == "[H":
            self.row = self.column = 0
        elif sequence == "[K":
            self._erase()
        elif sequence == "[J":
            self._erase()
            for row in range(self.row + 1, self.rows):
                self.cells[row] = [" "] * self.columns
        elif sequence in ("[?25l", "[?25h"):
            self.is_cursor_visible = sequence == "[?25h"
        elif sequence == "[?1049h" and not self.other:
            self.other = self.cells, self.row, self.column
            self.cells, self.row, self.column = [], 0, 0
            self._fit()
        elif sequence == "[?1049l" and self.other:
            (self.cells, self.row, self.column), self.other = self.other, None
        elif sequence.endswith("m"):
            self.styles += 1
        elif sequence.endswith("A"):
            count = sequence[1:-1]
            self.row = max(0, self.row - (int(count) if count.isdigit() else 1))
        else:
            self.unknown.append(sequence)

    def _erase(self):
        row = self.cells[self.row]
        row[self.column:] = [" "] * (self.columns - min(self.column, self.columns))
