# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of this folder and prints a line for each, and at the end a table of what was real.

scripts/test-system calls it with the folders of scripts/system-image.
usage: run.py --image FOLDER [--kernel FOLDER] --programs FOLDER [NAME...]   (default: all but those of the packages; a NAME as test_units)
"""

import argparse
import os
import pathlib
import signal
import sys
import time
import traceback
import unittest

import machine
import virtual


class LineResult(unittest.TestResult):
    """Prints one line for each test with its time, and failures in full."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1

    def startTest(self, test):
        super().startTest(test)
        self._begin = time.monotonic()
        self._verdict = "pass"

    def _failed(self, error):
        self._verdict = "FAIL"
        print("".join(f"      {line}\n" for line in "".join(traceback.format_exception(*error)).splitlines()), end="")

    def addError(self, test, error):
        super().addError(test, error)
        self._failed(error)
        if not isinstance(test, unittest.TestCase):
            # The preparation of a class failed, so none of its tests has a line.
            print(f"FAIL  {test}")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._failed(error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            print(f"      {subtest}")
            self._failed(error)

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self._verdict = "known"

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._verdict = "FAIL  (marked as a known failure, and passes)"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._verdict = f"skip  {reason}:"
        if not isinstance(test, unittest.TestCase):
            print(f"skip  {reason}: {test}")

    def stopTest(self, test):
        name = test.id().split(".", 1)[1].replace(".test_", ": ").replace("_", " ")
        machine.report(self._verdict, name, self._begin)
        super().stopTest(test)


def print_table():
    width = max(map(len, machine.facts), default=0)
    print("\nwhat was real")
    for name, value in machine.facts.items():
        print(f"  {name:<{width}}  {value}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--image", required=True)
    parser.add_argument("--kernel")
    parser.add_argument("--programs", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    machine.MachineTest.image, machine.MachineTest.programs = options.image, options.programs
    virtual.VirtualTest.image, virtual.VirtualTest.kernel = options.image, options.kernel

    # `kill` and a closed terminal take the same way out as Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    loader = unittest.TestLoader()
    folder = pathlib.Path(__file__).parent
    # The tests of the packages need packages: `make test-deb`.
    names = options.names or sorted(path.stem for path in folder.glob("test_*.py")
                                    if not path.stem.startswith("test_packages"))
    suite = loader.loadTestsFromNames(names)
    result = LineResult()
    interrupted = False
    try:
        suite.run(result)
        if not result.wasSuccessful():
            machine.MachineTest.print_journal()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        machine.MachineTest.stop_shared()
    if interrupted:
        print("interrupted; the machine is removed")
        return 130
    print_table()
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    known, skipped = len(result.expectedFailures), len(result.skipped)
    print(f"\n{result.passed} passed, {failed} failed, {known} known failures, {skipped} skipped")
    if skipped and os.environ.get("CI") == "true":
        print("error: with CI=true these tests must run", file=sys.stderr)
        return 1
    return 1 if failed or result.passed + known + skipped == 0 else 0


sys.exit(main())
