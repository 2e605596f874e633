# SPDX-License-Identifier: Apache-2.0
"""System calls of a service that fail, or that end it; strace injects the fault."""

import collections
import contextlib
import subprocess

from machine import eventually
from services import KEYCHAIN


class WithTraces:
    """For a class that derives from a `ServiceTest` too."""

    def injecting(self, call, fault, unit=KEYCHAIN, thread=None):
        """Injects a fault into a system call of the process of a service that serves alice; the result ends that.

        strace counts the calls of each thread. With the index of a `thread`, only that one is traced.
        """
        pid = self.process_of(unit)
        traced = ("-f", "-p", pid) if thread is None else ("-p", self.threads(pid)[thread])
        return self._trace(traced, "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{fault}")

    @contextlib.contextmanager
    def counting(self, calls, unit):
        """Counts the system calls of the block, by the index of the thread and the name; -1 for threads that it starts."""
        pid, counted = self.process_of(unit), collections.Counter()
        threads = self.threads(pid)
        tracer = self._trace(("-f", "-p", pid), "-o", "/run/traced", "-e", "trace=" + ",".join(calls))
        yield counted
        # strace writes what it has gathered when it ends.
        self.machine.run("pkill", "-TERM", "-x", "strace")
        tracer.wait()
        for line in self.machine.read("/run/traced").splitlines():
            thread, text = line.split(None, 1)
            name = text.split("(", 1)[0]
            if name in calls:
                counted[threads.index(thread) if thread in threads else -1, name] += 1

    def threads(self, pid):
        """The numbers of the threads of a process, in the order in which they were made."""
        return sorted(self.machine.run("ls", f"/proc/{pid}/task").stdout.split(), key=int)

    def _trace(self, traced, *options):
        tracer = self.machine.start("strace", "-qq", *traced, *options, stderr=subprocess.DEVNULL)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        tasks = f"/proc/{traced[-1]}/task/*/status" if "-f" in traced else f"/proc/{traced[-1]}/status"
        eventually(lambda: "\t0\n" not in self.machine.run("sh", "-c", f"grep -h TracerPid {tasks}").stdout)
        return tracer
