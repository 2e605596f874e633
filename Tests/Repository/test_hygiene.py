# SPDX-License-Identifier: Apache-2.0
"""Licence headers, the length of files, a reason for each dropped error, and signals to process numbers."""

import re

from repository import expect_none, files, line_of

# Kinds of files, and the line in which the licence is at the latest.
LICENSED = {r"(.*/)?Package(@.*)?\.swift": 2, r".*\.(swift|h|c)": 1,
            r".*\.py|(.*/)?Makefile|(scripts|\.ci|packaging/sdk)/.*": 3}
SERVICES = (r"Sources/\w*/(LatchkeyService|LatchkeyKeychain|latchkeyd|\w*Drivers?)/.*\.swift"
            r"|RelyingParty/Sources/.*\.swift")
# The modules that a service links.
SIGNALLING = (r"(Sources/\w*|Tests)/(LatchkeySystem|LatchkeyIdentity|LatchkeyAuthority|LatchkeyService|Authority\w*"
              r"|\w*Drivers?|CLatchkeyLinux|latchkeyd|latchkey-authd[a-z-]*|latchkey-pam|latchkey-prompt)/"
              r".*\.(swift|h)")


def test_each_file_names_its_licence():
    expected = {}
    for pattern, line in LICENSED.items():
        for name, text in files(pattern):
            expected.setdefault(name, (line, text))
    expect_none(f"{name}: no SPDX-License-Identifier: Apache-2.0 in line {line} or above"
                for name, (line, text) in expected.items()
                if not any("SPDX-License-Identifier: Apache-2.0" in head for head in text.splitlines()[:line]))


def test_a_long_file_says_why():
    expect_none(f"{name}: more than 600 lines; split it, or say why not in a second line `// Long: ...`"
                for name, text in files(r"(RelyingParty/)?Sources/.*\.swift") if text.count("\n") > 600
                and not any(re.match("// Long: ..", line) for line in text.splitlines()[:3]))


def test_a_dropped_error_has_its_reason():
    """In a comment on the line of `try?`, or on the line above."""
    expect_none(f"{name}:{number}: try? without a comment that says why"
                for name, text in files(SERVICES)
                for number, (above, line) in enumerate(zip([""] + text.splitlines(), text.splitlines()), 1)
                if re.search(r"(^|[^A-Za-z])try\?", line) and "//" not in line and not re.match(" *//", above))


def test_a_program_ends_without_freeing_what_its_threads_use():
    """exit(3) lets libraries do that. PAM's modules expect it, and a window's program has one thread until it has read its
    arguments."""
    expect_none(f"{name}:{line_of(text, found.start())}: exit   <- ProgramEnd.now, MainLoop.end or Main.end"
                for name, text in files(r"(RelyingParty/|Apps/.*)?Sources/.*\.swift")
                if not re.search("/latchkey-pam/Main.swift|^Apps/.*/Main.swift", name)
                for found in re.finditer(r"^(?! *//).*?(?<![\w.])exit\(", text, re.MULTILINE))


def test_no_service_signals_a_process_by_its_number():
    """By then it can be that of another user's process: services use the pidfd of `ChildProcess`. This process's own
    number stays its own."""
    signal = re.compile(r"(^|[^A-Za-z_])(kill|killpg|tgkill|tkill|sigqueue|pthread_kill)\((?!getpid\(\), )"
                        r"|SYS_(t|tg)?kill|[^ ] killAfter:", re.MULTILINE)
    expect_none(f"{name}:{line_of(text, found.end())}: {found[0].strip()}   <- signal a ChildProcess"
                for name, text in files(SIGNALLING) for found in signal.finditer(text))
