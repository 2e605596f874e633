# SPDX-License-Identifier: Apache-2.0
"""The administration page with 100,000 devices: the first paint, the first list, and pages of each list."""
import contextlib
import hashlib
import http.server
import os
import pathlib
import sqlite3
import statistics
import sys
import threading
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "Tests" / name) for name in ("BrowserTests", "ServerTests")]
from administration import AdministrationServer  # noqa: E402
from page import Page  # noqa: E402

DEVICES, ROUNDS = 100_000, 20


def fill(server):
    """Users with a key and a session each, as rows: nothing is signed with these keys."""
    later = int(time.time()) + 40_000
    ids = [hashlib.sha256(b"key %d" % index).digest() for index in range(DEVICES)]
    with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database, database:
        database.executemany("INSERT INTO users VALUES (?, ?)",
                             [(f"user{index:06}", f"p{index:021}") for index in range(DEVICES)])
        database.executemany("INSERT INTO keys (id, user, device, algorithm, public, form, tier, created, attested, model, chip,"
                             " verification) VALUES (?, ?, 'laptop', -7, zeroblob(65), 0, 'user', 1, 'none', '', x'', '')",
                             [(key, f"user{index:06}") for index, key in enumerate(ids)])
        database.executemany("INSERT INTO sessions (token, key, created, used, expiry, browser) VALUES (?, ?, ?, ?, ?, 0)",
                             [(hashlib.sha256(key).digest(), key, index, later, later) for index, key in enumerate(ids)])


class Sentence(http.server.BaseHTTPRequestHandler):
    """The least page: what this browser on this machine needs for one sentence."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>Least</title><p>One sentence.</p>")

    def log_message(self, *_):
        pass


PAINT = """
    const paint = performance.getEntriesByType("paint").find(entry => entry.name === "first-contentful-paint");
    return paint ? paint.startTime : null;"""


def painted(page):
    page.until(lambda: page.run(PAINT) is not None, "the first paint")
    return page.run(PAINT)


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
        least, paints, lists = [], [], []
        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sentence)
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        # In turn, so that other work of the machine slows both down.
        for _ in range(ROUNDS):
            page.go(f"http://localhost:{other.server_port}/")
            least.append(painted(page))
            page.open()
            page.wait("tbody a", "user000000")
            paints.append(painted(page))
            lists.append(page.run("return performance.getEntriesByName('first list')[0].startTime"))
        other.shutdown()
        thread.join()
        other.server_close()
        print(time.strftime("%Y-%m-%d"), os.uname().machine, f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
        print(f"{DEVICES:,} devices, {ROUNDS} rounds, milliseconds" + " " * 16 + "median    least    most")
        row("a page of one sentence: first contentful paint", least)
        row("first contentful paint, goal 100", paints)
        row("first list in the document", lists)
        list_pages(page)


if __name__ == "__main__":
    main()
