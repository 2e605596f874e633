# SPDX-License-Identifier: Apache-2.0
"""The texts of Latchkey that are translated, found in its Swift sources; scripts/words and test_words.py use them.

A text is the literal of a call `words("...")` or `localized("...")`; a value in it becomes a numbered placeholder. For
texts that are translated only where they are shown (errors, help, rows of doctor), the literals of the calls in
`COMPOSED` are taken, from the files of packaging/po/POTFILES only. xgettext is not used, because it does not know
Swift's interpolations."""

import re
import subprocess

import polib

from repository import ROOT, line_of, names

PO = ROOT / "packaging/po"
# The calls whose arguments are shown through a catalogue, by position from 0 or by label.
COMPOSED = {
    "Failure": [1, "hint"], "SettingsFailure": [1, "hint"], "find": ["hint"], "usage": [0, 1],
    "AgentFailure": [1, "hint"], "CommandOption": [1],
    "CommandGroup": ["summary", "about"], "CommandEntry": [1, "about"], "DoctorRow": [0, 2], "unknown": [0],
    "DeviceProofError": [1], "reading": [1], "StatusText": [0, 1], "damagedStore": [0], "biometryLocked": [0],
    "forgotten": [0], "notEnrolled": [1], "unusable": [0], "untrusted": [0],
}
# The sentence that such a call makes of its text.
FRAMES = {"damagedStore": ("The store cannot be read: ", ".")}
# Texts that are composed before the call that shows them, and the name that a file with such texts contains: the
# message of an error and the name of a row, which several places of one function share, and advice that is chosen
# before the failure is created.
ASSIGNED = [
    (r'\blet (message|unsuitable): Phrase = (?=")', "DeviceProofError"),
    (r'\bhint(: Phrase)? =\s+(?=")', ""),
    (r'\blet name = (?=")', "DoctorRow"),
]
PLACEHOLDER = re.compile(r"%([1-9])\$s")


class Source:
    """A Swift file, read as far as calls and string literals need it."""

    def __init__(self, file):
        self.name, self.text = str(file.relative_to(ROOT)), file.read_text()
        # The literals in Swift, with other values, by their places; and the texts with the literals that make them.
        self.swift, self.keys = {}, []

    def fail(self, place, complaint):
        raise ValueError(f"{self.name}:{line_of(self.text, place)}: {complaint}")

    def skip(self, place):
        """The place after a literal or a comment that begins here; the same place if none does."""
        if self.text.startswith("//", place):
            end = self.text.find("\n", place)
            return len(self.text) if end < 0 else end
        if self.text[place] == '"' or (self.text[place] == "#" and re.match(r'#+"', self.text[place:place + 4])):
            return self.literal(place)[1]
        return place

    def parenthesis(self, place):
        """The place after the parenthesis that closes the one here."""
        depth = 0
        while place < len(self.text):
            after = self.skip(place)
            if after != place:
                place = after
                continue
            depth += self.text[place] in "([{"
            depth -= self.text[place] in ")]}"
            place += 1
            if depth == 0:
                return place
        self.fail(place, "a parenthesis is not closed")

    def literal(self, place):
        """Template, end and values of the literal here."""
        raw = len(re.match(r"#*", self.text[place:]).group())
        start = place
        place += raw
        mark = '"""' if self.text.startswith('"""', place) else '"'
        place += len(mark)
        closing, escape = mark + "#" * raw, "\\" + "#" * raw
        result, values, copied, swift = "", [], start, ""
        while not self.text.startswith(closing, place):
            if place >= len(self.text):
                self.fail(start, "a literal is not closed")
            if not self.text.startswith(escape, place):
                result += self.text[place]
                place += 1
                continue
            place += len(escape)
            kind = self.text[place]
            if kind == "(":
                end = self.parenthesis(place)
                values.append(" ".join(self.text[place + 1:end - 1].split()))
                result += f"%{len(values)}$s"
                swift += self.text[copied:place] + "(0)"
                place = copied = end
            elif kind == "u":
                end = self.text.index("}", place)
                result += chr(int(self.text[place + 2:end], 16))
                place = end + 1
            elif kind == "\n":
                # A line that continues: the indentation of the next one is removed below.
                result += "\x01"
                place += 1
            else:
                result += {"n": "\n", "t": "\t", "0": "\0", "r": "\r"}.get(kind, kind)
                place += 1
        if mark == '"""':
            lines = result.replace("\x01", "\x01\n").split("\n")
            indent = len(lines[-1])
            result = "\n".join(line[indent:] for line in lines[1:-1]).replace("\x01\n", "")
        self.swift[start] = swift + self.text[copied:place] + closing
        return result, place + len(closing), values

    def arguments(self, place):
        """The arguments of the call whose parenthesis is here, as (label, start, end)."""
        end = self.parenthesis(place) - 1
        starts, at, depth = [place + 1], place + 1, 0
        while at < end:
            after = self.skip(at)
            if after != at:
                at = after
                continue
            depth += self.text[at] in "([{"
            depth -= self.text[at] in ")]}"
            at += 1
            if self.text[at - 1] == "," and depth == 0:
                starts.append(at)
        for first, last in zip(starts, starts[1:] + [end + 1]):
            label = re.match(r"\s*(\w+):\s", self.text[first:last - 1] + " ")
            yield label and label[1], first + (label.end() if label else 0), last - 1

    def literals(self, start, end):
        """The literals of an expression: each of a choice, one for literals that are joined, none of other values."""
        found, place, joined, depth = [], start, False, 0
        while place < end:
            character = self.text[place]
            if character == '"' or re.match(r'#+"', self.text[place:place + 4]):
                swift, (text, place, values) = place, self.literal(place)
                swift = self.swift[swift]
                if joined and not found:
                    return []
                if joined:
                    swift = f"{self.keys.pop()[0]} + {swift}"
                    count = len(found[-1][1])
                    text = PLACEHOLDER.sub(lambda m: f"%{int(m[1]) + count}$s", text)
                    found[-1] = (found[-1][0] + text, found[-1][1] + values)
                else:
                    found.append((text, values))
                self.keys.append((swift, found[-1][0]))
                joined = False
                continue
            after = self.skip(place)
            if after != place:
                place = after
                continue
            if character == "+":
                joined = True
            elif joined and not character.isspace():
                return []
            elif character in "([{" and not found:
                # A call whose own literals are not this text.
                place = self.parenthesis(place)
                continue
            place += 1
        return [] if joined else found

    def texts(self, is_listed):
        """(context, text, plural, values) of each text."""
        yield from self.translated()
        if is_listed:
            yield from self.composed()
            yield from self.properties()
            yield from self.assigned()

    def translated(self):
        """The texts of the calls that translate."""
        for call in re.finditer(r"\b(words|localized)(\.count)?\(", self.text):
            line = self.text[self.text.rfind("\n", 0, call.start()) + 1:call.start()]
            if "//" in line or re.search(r"\b(func|let|var)\s+$", line):
                continue
            parts = list(self.arguments(call.end() - 1))
            contexts = [None]
            for label, start, _ in parts:
                if label == "context":
                    contexts = [self.literal(start)[0]] if self.text[start] == '"' else self.contexts()
            unnamed = [self.literals(start, end) for label, start, end in parts if label is None]
            if call[2]:
                if len(unnamed) != 3 or len(unnamed[1]) != 1 or len(unnamed[2]) != 1:
                    self.fail(call.start(), "a plural needs two literals")
                (singular, few), (plural, all) = unnamed[1][0], unnamed[2][0]
                if few != all[:len(few)]:
                    self.fail(call.start(), "the values of the singular are not the first ones of the plural")
                yield None, singular, plural, all
            elif unnamed and unnamed[0]:
                yield from ((context, text, None, values) for text, values in unnamed[0] for context in contexts)
            # Anything else is a phrase that another place has composed.
            elif self.text[parts[0][1]:parts[0][2]].strip().startswith('"'):
                self.fail(call.start(), "the text is not a literal")

    def contexts(self):
        """The contexts that the file uses, for a call that passes one on."""
        found = (re.findall(pattern, self.text)
                 for pattern in (r'context: "([^"]*)"', r'let context = "([^"]*)"', r'passcode\("([^"]*)"\)'))
        return sorted({context for contexts in found for context in contexts})

    def composed(self):
        """The texts of the calls of `COMPOSED`."""
        for call in re.finditer(rf"\b({'|'.join(COMPOSED)})\(", self.text):
            position, is_of_system, frame = 0, False, FRAMES.get(call[1], ("", ""))
            for label, start, end in self.arguments(call.end() - 1):
                # `Failure(_: SystemError, _:)` adds what the system says about the error.
                if position == 0:
                    is_of_system = self.text[start:end].strip() == "error"
                if (label or position) in COMPOSED[call[1]]:
                    for text, values in self.literals(start, end):
                        if re.search(r"[A-Za-z]{2}", PLACEHOLDER.sub("", text)):
                            said = is_of_system and position == 1
                            yield (None, text.join(frame) + f": %{len(values) + 1}$s" * said, None,
                                   values + ["strerror(error.code)"] * said)
                position += label is None

    def properties(self):
        """The texts that a value has for people: the literals of its `words`."""
        for found in re.finditer(r"\bpackage var words: Phrase (?=\{)", self.text):
            place, end = found.end(), self.parenthesis(found.end())
            while place < end:
                if self.text[place] == '"':
                    text, place, values = self.literal(place)
                    if text:
                        yield None, text, None, values
                else:
                    place = max(place + 1, self.skip(place))

    def assigned(self):
        """The texts of `ASSIGNED`."""
        for pattern, name in ASSIGNED:
            for found in re.finditer(pattern, self.text) if name in self.text else []:
                text, _, values = self.literal(found.end())
                if text:
                    yield None, text, None, values


def sources():
    """(source, whether POTFILES lists it) of each file."""
    patterns = [line for line in (PO / "POTFILES").read_text().splitlines() if line and line[0] != "#"]
    listed = {file for pattern in patterns for file in ROOT.glob(pattern)}
    others = {ROOT / name for name in names() if re.fullmatch(r"(Apps/(Agent|Settings)/)?Sources/.*\.swift", name)}
    return [(Source(file), file in listed) for file in sorted(listed | others)]


# MARK: catalogues

def template():
    """The catalogue of all texts, without translations."""
    catalogue = polib.POFile(wrapwidth=0)
    catalogue.header = "SPDX-License-Identifier: Apache-2.0"
    catalogue.metadata = {"Project-Id-Version": "latchkey", "MIME-Version": "1.0",
                          "Content-Type": "text/plain; charset=UTF-8", "Content-Transfer-Encoding": "8bit"}
    entries = {}
    for source, is_listed in sources():
        for context, text, plural, values in source.texts(is_listed):
            if len(values) > 9:
                raise ValueError(f"{source.name}: more than nine values: {text}")
            if (context, text) not in entries:
                comment = "\n".join(f"%{number}$s: {value}" for number, value in enumerate(values, 1))
                entries[context, text] = polib.POEntry(msgctxt=context, msgid=text, comment=comment)
                catalogue.append(entries[context, text])
            entry = entries[context, text]
            if plural and not entry.msgid_plural:
                entry.msgid_plural, entry.msgstr_plural = plural, {0: "", 1: ""}
            if (source.name, "") not in entry.occurrences:
                entry.occurrences.append((source.name, ""))
    return catalogue


def written_template():
    """A file with the template, for the programs of gettext."""
    file = ROOT / ".build/latchkey.pot"
    file.parent.mkdir(exist_ok=True)
    template().save(str(file))
    return file


def merged(language):
    """The text of a catalogue with exactly the texts of the sources."""
    options = {"check": True, "stdout": subprocess.PIPE, "text": True}
    new = subprocess.run(["msgmerge", "--quiet", "--no-wrap", "--no-fuzzy-matching", "-o", "-", PO / f"{language}.po",
                          written_template()], **options).stdout
    return subprocess.run(["msgattrib", "--no-wrap", "--no-obsolete", "-"], input=new, **options).stdout
