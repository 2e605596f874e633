#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of commands on a terminal, several at once, with the programs of LATCHKEY_PROGRAMS or of the debug build.

usage: Tests/Terminal/run.py [--list | NAME...]   NAME is a part of the name of a test
"""

import concurrent.futures
import io
import os
import sys
import time
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, FOLDER)


def names(suite):
    for test in suite:
        yield from names(test) if isinstance(test, unittest.TestSuite) else [test.id()]


def run(name):
    """Runs one test; returns its name, what it wrote if it failed, and its duration in seconds."""
    begin = time.monotonic()
    result = unittest.TextTestRunner(io.StringIO(), verbosity=0).run(unittest.defaultTestLoader.loadTestsFromName(name))
    failed = [text for _, text in result.failures + result.errors]
    return name, "\n".join(failed), time.monotonic() - begin


def main(arguments):
    tests = sorted(names(unittest.defaultTestLoader.discover(FOLDER)))
    if arguments == ["--list"]:
        print(*tests, sep="\n")
        return 0
    tests = [name for name in tests if not arguments or any(part in name for part in arguments)]
    begin, failures = time.monotonic(), []
    with concurrent.futures.ProcessPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        for done in concurrent.futures.as_completed(pool.submit(run, name) for name in tests):
            name, failed, seconds = done.result()
            print(f"{'FAIL' if failed else 'pass'}  {name} ({seconds:.1f} s)", flush=True)
            if failed:
                failures.append(f"{name}\n{failed}")
    print(*failures, sep="\n")
    print(f"{len(tests)} tests on a terminal, {len(failures)} failed, {time.monotonic() - begin:.0f} s")
    return 1 if failures or not tests else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
