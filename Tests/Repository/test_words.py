# SPDX-License-Identifier: Apache-2.0
"""The catalogues are up to date and complete, programs would use every translation, and Swift makes each key."""

import subprocess

import polib
import pytest
from repository import ROOT, expect_none, output
from texts import PLACEHOLDER, PO, merged, sources, written_template

LANGUAGES = (PO / "LINGUAS").read_text().split()
MARKS = "“”„«»「」『』״"


def quoted(text):
    """The placeholders between quotation marks."""
    return {found[1] for found in PLACEHOLDER.finditer(text)
            if text[:found.start()].rstrip("\u00a0\u202f")[-1:] in MARKS
            and text[found.end():].lstrip("\u00a0\u202f")[:1] in MARKS
            and found.start() > 0 and found.end() < len(text)}


def is_allowed(translation, originals):
    """The rule of Sources/Formats/LatchkeyWords/TranslationRule.swift."""
    longest = max(map(len, originals))
    controls = {chr(code) for codes in (range(32), range(127, 160), range(0x202a, 0x202f), range(0x2066, 0x206a))
                for code in codes}
    if any("\n" in original for original in originals):
        controls.remove("\n")
    return not controls & set(translation) and len(translation) <= 4 * longest + 40 and any(
        sorted(PLACEHOLDER.findall(original)) == sorted(PLACEHOLDER.findall(translation))
        and quoted(original) <= quoted(translation) for original in originals)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_has_exactly_the_texts_of_the_sources(language):
    is_current = merged(language) == (PO / f"{language}.po").read_text()
    assert is_current, "run `scripts/words extract`, and translate what is new"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("command", ["msgfmt --check --statistics -o /dev/null", "msgcmp"])
def test_a_catalogue_is_valid_and_complete(command, language):
    template = [written_template()] if command == "msgcmp" else []
    done = subprocess.run([*command.split(), PO / f"{language}.po", *template], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={"PATH": "/usr/bin", "LC_ALL": "C"})
    assert done.returncode == 0 and "fuzzy" not in done.stdout and "untranslated" not in done.stdout, done.stdout


@pytest.mark.parametrize("language", LANGUAGES)
def test_programs_would_use_every_translation(language):
    complaints = []
    for entry in polib.pofile(str(PO / f"{language}.po")):
        originals = [text for text in (entry.msgid, entry.msgid_plural) if text]
        complaints += [f"the program would not use {text!r} for {entry.msgid!r}"
                       for text in entry.msgstr_plural.values() or [entry.msgstr] if not is_allowed(text, originals)]
    expect_none(complaints)


def test_swift_makes_the_key_of_each_text(tmp_path):
    """Has Swift make a phrase of each literal, and compares its template with the text that was found."""
    keys = {}
    for source, is_listed in sources():
        list(source.texts(is_listed))
        keys.update(source.keys)
    lines = ["func check(_ phrase: Phrase, _ text: String) {", "    guard phrase.template != text else { return }",
             '    print("Swift makes \\(phrase.template.debugDescription) of \\(text.debugDescription)")', "}"]
    for swift, text in keys.items():
        escaped = "".join(f"\\u{{{ord(character):x}}}" if character in '\\"' or ord(character) < 32 else character
                          for character in text)
        lines.append(f'check({swift}, "{escaped}")')
    main = tmp_path / "main.swift"
    main.write_text("\n".join(lines))
    model = [ROOT / f"Sources/Formats/LatchkeyModel/{name}.swift" for name in ("Phrase", "Template", "Limits")]
    output("swiftc", "-Onone", "-package-name", "latchkey", "-o", tmp_path / "keys", main, *model)
    expect_none(output(tmp_path / "keys").splitlines())
    assert keys
