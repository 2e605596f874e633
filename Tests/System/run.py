# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of this folder and prints a line for each, and at the end the slowest ones and a table of what was real.

Most of these tests wait: for a restart of a service, a delay of the product, a deadline. So the files are given to several
processes with a machine each, one more than this computer has processors, the next file to the one that has nothing to do.
Named tests run on one machine, in their order.

scripts/test-system calls it with the folders of scripts/system-image.
usage: run.py --image FOLDER [--kernel FOLDER] --programs FOLDER [--machines COUNT] [NAME...]
           (default: all but those of the packages; a NAME as test_units)
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
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


FOLDER = pathlib.Path(__file__).parent
VERDICTS = ("pass", "FAIL", "skip", "known")
# The beginning of the line by which a process that runs tests says what became of a file.
DONE = "\x1e"


# MARK: - The process of a machine


def run_files():
    """Runs the tests whose names come from standard input, and answers each name with a line after those of its tests."""
    loader = unittest.TestLoader()
    try:
        for line in sys.stdin:
            result, begin = LineResult(), time.monotonic()
            loader.loadTestsFromName(line.strip()).run(result)
            if not result.wasSuccessful():
                machine.MachineTest.print_journal()
            outcome = {
                "name": line.strip(), "seconds": time.monotonic() - begin, "passed": result.passed,
                "failed": len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses),
                "known": len(result.expectedFailures), "skipped": len(result.skipped), "facts": machine.facts}
            print(DONE + json.dumps(outcome), flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        ignore_signals()
        machine.MachineTest.stop_shared()


# MARK: - The process of all


class Run:
    """The files that are left to run, and what became of the others."""

    def __init__(self, names):
        self._names, self._lock = list(names), threading.Lock()
        self.outcomes, self._durations = [], []
        # Files of a process that ended before it had answered.
        self.lost = []

    def next(self):
        with self._lock:
            return self._names.pop(0) if self._names else None

    def drive(self, process):
        """Gives files to a process and prints what it prints, until no file is left."""
        for name in iter(self.next, None):
            try:
                process.stdin.write(name + "\n")
                process.stdin.flush()
            except BrokenPipeError:
                pass
            answered = self._await_answer(process)
            if not answered:
                with self._lock:
                    self.lost.append(name)
                    print(f"FAIL  {name}: its process has ended", flush=True)
                return
        process.stdin.close()
        # The lines about the end of the machine.
        sys.stdout.write(process.stdout.read())

    def _await_answer(self, process):
        # The lines of two machines are printed in blocks, each with the verdict that they belong to.
        block = []
        for line in process.stdout:
            with self._lock:
                if line.startswith(DONE):
                    sys.stdout.write("".join(block))
                    self.outcomes.append(json.loads(line[len(DONE):]))
                    return True
                block.append(line)
                if line.startswith(VERDICTS):
                    self._note(line)
                    print("".join(block), end="", flush=True)
                    block = []
        sys.stdout.write("".join(block))
        return False

    def _note(self, line):
        text, _, seconds = line.rstrip().removesuffix(" s)").rpartition(" (")
        try:
            self._durations.append((float(seconds), text[len("pass  "):]))
        except ValueError:
            pass

    def total(self, part):
        return sum(outcome[part] for outcome in self.outcomes)

    def print_slowest(self, count=10):
        files = [(outcome["seconds"], outcome["name"]) for outcome in self.outcomes]
        for what, durations in (("files", files), ("tests", self._durations)):
            print(f"\nthe slowest {what}")
            for seconds, name in sorted(durations, reverse=True)[:count]:
                print(f"  {seconds:6.1f} s  {name}")

    def print_table(self):
        facts = {}
        for outcome in self.outcomes:
            facts |= outcome["facts"]
        width = max(map(len, facts), default=0)
        print("\nwhat was real")
        for name, value in facts.items():
            print(f"  {name:<{width}}  {value}")


def ignore_signals():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def all_files():
    # The tests of the packages need packages: `make test-deb`.
    files = [path for path in FOLDER.glob("test_*.py") if not path.stem.startswith("test_packages")]
    # The longest come first, as far as their sizes tell, so that all machines end at about the same time. Those of the
    # virtual machine are short and take long.
    files.sort(key=lambda path: (not path.stem.startswith("test_tpm"), -path.stat().st_size))
    return [path.stem for path in files]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--image", required=True)
    parser.add_argument("--kernel")
    parser.add_argument("--programs", required=True)
    parser.add_argument("--machines", type=int)
    parser.add_argument("--from-input", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    machine.MachineTest.image, machine.MachineTest.programs = options.image, options.programs
    virtual.VirtualTest.image, virtual.VirtualTest.kernel = options.image, options.kernel

    # `kill` and a closed terminal take the same way out as Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    if options.from_input:
        return run_files()
    run = Run(options.names or all_files())
    count = options.machines or (1 if options.names else (os.cpu_count() or 1) + 1)
    processes = [
        subprocess.Popen([sys.executable, "-u", __file__, "--from-input", *sys.argv[1:]], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True, process_group=0) for _ in range(count)]
    threads = [threading.Thread(target=run.drive, args=(process,), daemon=True) for process in processes]
    interrupted = False
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        interrupted = True
        for process in processes:
            process.send_signal(signal.SIGINT)
    finally:
        ignore_signals()
        for process in processes:
            process.wait()
    if interrupted:
        print("interrupted; the machines are removed")
        return 130
    run.print_slowest()
    run.print_table()
    failed = run.total("failed") + len(run.lost)
    passed, known, skipped = run.total("passed"), run.total("known"), run.total("skipped")
    print(f"\n{passed} passed, {failed} failed, {known} known failures, {skipped} skipped")
    if skipped and os.environ.get("CI") == "true":
        print("error: with CI=true these tests must run", file=sys.stderr)
        return 1
    return 1 if failed or passed + known + skipped == 0 else 0


sys.exit(main())
