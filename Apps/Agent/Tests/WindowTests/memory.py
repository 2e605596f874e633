# SPDX-License-Identifier: Apache-2.0
"""Searches the memory of a process, which needs CAP_SYS_PTRACE."""

import os


def copies(text, process):
    """Counts the copies of a text in the writable memory of a process."""
    count = 0
    with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in maps.read().splitlines():
            addresses, permissions = line.split()[:2]
            begin, end = (int(address, 16) for address in addresses.split("-"))
            if not permissions.startswith("rw") or end - begin >= 1 << 28:
                continue
            try:
                count += os.pread(memory.fileno(), end - begin, begin).count(text.encode())
            except OSError:
                # The mapping is gone, or is one of a device, which cannot be read.
                continue
    return count
