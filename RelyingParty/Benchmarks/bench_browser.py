# SPDX-License-Identifier: Apache-2.0
"""The administration page with 100,000 devices: the first paint, the first list, and pages of each list."""
import contextlib
import hashlib
import os
import pathlib
import sqlite3
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests" / "BrowserTests"))
from page import AdministrationServer, Page  # noqa: E402

DEVICES, ROUNDS = 100_000, 20


def fill(server):
    """Users with a key and a session each, as rows: nothing is signed with these keys."""
    later = int(time.time()) + 40_000
    ids = [hashlib.sha256(b"key %d" % index).digest() for index in range(DEVICES)]
    with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
        database.executemany("INSERT INTO users VALUES (?, ?)",
                             [(f"user{index:06}", f"p{index:021}") for index in range(DEVICES)])
        database.executemany("INSERT INTO keys (id, user, device, point, raw, tier, created)"
                             " VALUES (?, ?, 'laptop', zeroblob(65), 0, 'user', 1)",
                             [(key, f"user{index:06}") for index, key in enumerate(ids)])
        database.executemany("INSERT INTO sessions (token, key, created, used, expiry, browser) VALUES (?, ?, ?, ?, ?, 0)",
                             [(hashlib.sha256(key).digest(), key, index, later, later) for index, key in enumerate(ids)])


def row(name, values):
    print(f"  {name:<58} {statistics.median(values):6.1f}  {min(values):6.1f}  {max(values):6.1f}")


def list_pages(page):
    """Milliseconds of requests for pages at the beginning, in the middle and at the end of each list, in the browser."""
    places = {
        "users, first page": ("users", {"prefix": "", "after": ""}),
        "users, a page in the middle": ("users", {"prefix": "", "after": "user050000"}),
        "users, a prefix near the end": ("users", {"prefix": "user0999", "after": ""}),
        "keys, first page": ("keys", {"state": "all"}),
        "keys, a page near the end": ("keys", {"state": "all", "after": {"user": "user099900", "created": 1, "key": ""}}),
        "keys, frozen ones, of which there are none": ("keys", {"state": "frozen"}),
        "sessions, first page": ("sessions", {}),
        "sessions, a page near the end": ("sessions", {"after": {"created": 100, "session": ""}}),
    }
    for name, (path, body) in places.items():
        row(name, page.run_async("""
            const [path, body, rounds, done] = arguments;
            (async () => {
                const times = [];
                for (let round = 0; round < rounds; round++) {
                    const began = performance.now();
                    const reply = await fetch("/admin/api/" + path, { method: "POST", body: JSON.stringify(body),
                        headers: { "Content-Type": "application/json", "X-Latchkey-Administration": "1" } });
                    await reply.json();
                    if (!reply.ok) throw new Error(reply.status);
                    times.push(performance.now() - began);
                }
                done(times);
            })();""", path, body, ROUNDS))


def main():
    with AdministrationServer() as server, Page(server) as page:
        device = server.administrator("ada")
        page.sign_in(device)
        fill(server)
        paints, lists = [], []
        for _ in range(ROUNDS):
            page.open("?")
            page.open()
            page.wait("tbody a", "user000000")
            found = page.run("""
                const paint = performance.getEntriesByType("paint").find(entry => entry.name === "first-contentful-paint");
                const list = performance.getEntriesByName("first list")[0];
                return [paint.startTime, list.startTime];""")
            paints.append(found[0])
            lists.append(found[1])
        print(time.strftime("%Y-%m-%d"), os.uname().machine, f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
        print(f"{DEVICES:,} devices, {ROUNDS} rounds, milliseconds" + " " * 16 + "median    least    most")
        row("first contentful paint, goal 100", paints)
        row("first list in the document", lists)
        list_pages(page)


if __name__ == "__main__":
    main()
