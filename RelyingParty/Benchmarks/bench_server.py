# SPDX-License-Identifier: Apache-2.0
"""Measures latchkey-server beside openssl speed, bare SQLite, and Flask with gunicorn. `scripts/bench server` runs it.

CPU is what the kernel accounts to the threads of a server, in user space and in the kernel, divided by the requests.
"""
import argparse
import base64
import concurrent.futures
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Tests/ServerTests"))
from server import Server, text  # noqa: E402

MICROSECONDS = 1e6
CONNECTIONS = 16


class Key:
    def __init__(self, user):
        self.user = user
        self.key = ec.generate_private_key(ec.SECP256R1())
        public = self.key.public_key()
        self.point = public.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        self.id = hashlib.sha256(self.point).digest()

    def sign(self, message):
        return self.key.sign(message, ec.ECDSA(hashes.SHA256()))


class Connection:
    """Requests one after the other on one connection, with as little work as possible between them."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def post(self, path, body):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.socket.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            b"Content-Length: %d\r\n\r\n%s" % (path.encode(), len(body), body))
        status = int(self.file.readline().split()[1])
        count = 0
        while (line := self.file.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                count = int(line.split(b":")[1])
        return status, self.file.read(count)


def children(pid):
    """A process and all that it has started."""
    found = [pid]
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += children(int(child))
    return found


def cpu(pids):
    """The CPU time of all threads of processes and of what they have started, in seconds."""
    total = 0
    for pid in {each for root in pids for each in children(root)}:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def row(name, value, goal=""):
    print(f"  {name:<58} {value:>14}   {goal}", flush=True)


def compare(name, value, floor, goal):
    row(name, f"{value / floor:.2f}x", f"goal {goal}")


# MARK: - The parts of a sign-in

def openssl_verifications():
    done = subprocess.run(["openssl", "speed", "-seconds", "1", "ecdsap256"], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def parts(program):
    """Rounds of both programs in turn; the best of each."""
    best, rate = {}, 0
    for _ in range(4):
        rate = max(rate, openssl_verifications())
        with tempfile.TemporaryDirectory() as folder:
            measured = json.loads(subprocess.run([program, folder], capture_output=True, check=True).stdout)
        best = {name: min(value, best.get(name, value)) for name, value in measured.items()}
    alone = MICROSECONDS / rate
    print("\nIn one process (CPU, microseconds; the best of 4 runs in turn)")
    row("openssl speed: verify P-256", f"{alone:.1f}")
    row("verify: decode the key, digest, verify", f"{best['verify']:.1f}")
    compare("  beside openssl speed", best["verify"], alone, "1.25x")
    row("issue a challenge", f"{best['issue']:.1f}", "goal 50")
    row("verify and insert the same rows, bare libcrypto and SQLite", f"{best['verifyAndInsertAlone']:.1f}")
    row("sign in: all checks, one durable transaction", f"{best['signIn']:.1f}")
    compare("  beside the two", best["signIn"], best["verifyAndInsertAlone"], "1.30x")


# MARK: - Servers

class Latchkey:
    name = "latchkey-server"

    def __init__(self, server):
        self.server, self.port, self.pids = server, server.port, [server.process.pid]
        self.connection = Connection(self.port)

    def register(self, keys):
        for key in keys:
            challenge = self.challenge(key, "register")
            status, body = self.connection.post("/v1/keys", {
                "user": key.user, "key": text(key.id), "challenge": text(challenge),
                "signature": text(key.sign(challenge)), "form": "raw", "tier": "user", "device": "bench",
                "publicKey": {"format": "x963", "value": text(key.point)},
                "enrollmentCode": self.server.command("code", key.user)})
            assert status == 201, body

    def issuing(self, key):
        return json.dumps({"user": key.user, "key": text(key.id), "purpose": "login"}).encode()

    def challenge(self, key, purpose="login"):
        status, body = self.connection.post(
            "/v1/challenges", {"user": key.user, "key": text(key.id), "purpose": purpose})
        assert status == 200, body
        return base64.urlsafe_b64decode(json.loads(body)["challenge"] + "==")

    def sign_in(self, key):
        challenge = self.challenge(key)
        return json.dumps({"user": key.user, "key": text(key.id), "challenge": text(challenge),
                           "signature": text(key.sign(challenge))}).encode()


class Flask:
    name = "Flask, gunicorn with 2 workers of 8 threads"

    def __init__(self, folder):
        import sqlite3
        self.path = f"{folder}/flask.sqlite"
        database = sqlite3.connect(self.path)
        database.executescript(
            """PRAGMA journal_mode = WAL;
            CREATE TABLE keys (id TEXT PRIMARY KEY, user TEXT NOT NULL, public_key BLOB NOT NULL, revoked INTEGER);
            CREATE TABLE spent (nonce BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
            CREATE TABLE sessions (token BLOB PRIMARY KEY, key TEXT NOT NULL, created INTEGER NOT NULL,
                used INTEGER NOT NULL, expiry INTEGER NOT NULL);
            CREATE INDEX sessions_key ON sessions (key);
            CREATE TABLE audit (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, event TEXT NOT NULL,
                user TEXT NOT NULL, key TEXT NOT NULL, detail TEXT NOT NULL, hash BLOB NOT NULL);""")
        database.close()
        listening = socket.create_server(("127.0.0.1", 0))
        self.port = listening.getsockname()[1]
        listening.set_inheritable(True)
        environment = os.environ | {"BENCH_SECRET": os.urandom(32).hex(), "BENCH_DATABASE": self.path,
                                    "GUNICORN_FD": str(listening.fileno()), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "--workers", "2", "--threads", "8", "--keep-alive", "60", "--log-level", "warning",
             "--bind", f"fd://{listening.fileno()}", "flask_server:app"],
            cwd=HERE, env=environment, pass_fds=[listening.fileno()])
        self.pids = [self.process.pid]
        listening.close()

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def register(self, keys):
        import cbor2
        import sqlite3
        database = sqlite3.connect(self.path)
        for key in keys:
            cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: key.point[1:33], -3: key.point[33:]})
            database.execute("INSERT INTO keys VALUES (?, ?, ?, NULL)", (text(key.id), key.user, cose))
        database.commit()
        database.close()

    def issuing(self, key):
        return b"{}"

    def sign_in(self, key):
        status, body = Connection(self.port).post("/v1/challenges", b"{}")
        assert status == 200, body
        challenge = json.loads(body)["challenge"]
        client = json.dumps({"type": "webauthn.get", "challenge": challenge,
                             "origin": "https://example.com", "crossOrigin": False}).encode()
        authenticator = hashlib.sha256(b"example.com").digest() + b"\x01" + bytes(4)
        signature = key.sign(authenticator + hashlib.sha256(client).digest())
        return json.dumps({"challenge": challenge, "credential": {
            "id": text(key.id), "rawId": text(key.id), "type": "public-key",
            "response": {"clientDataJSON": text(client), "authenticatorData": text(authenticator),
                         "signature": text(signature)}}}).encode()


def send(server, path, bodies, seconds=60, kind="application/json", authorization=None):
    """Sends each body once with wrk, which takes little of the machine, or a single one again and again for some seconds.
    Returns its figures and the CPU time of the server for each request."""
    with tempfile.NamedTemporaryFile("wb") as lines:
        lines.write(b"\n".join(bodies) + b"\n")
        lines.flush()
        before = cpu(server.pids)
        wrk = subprocess.Popen(
            ["wrk", "-t", "1", "-c", str(CONNECTIONS), "-d", f"{seconds}s", "--latency", "-s", HERE / "wrk.lua",
             f"http://127.0.0.1:{server.port}"], env=os.environ | {"BENCH_BODIES": lines.name, "BENCH_PATH": path, "BENCH_TYPE": kind}
            | ({"BENCH_AUTHORIZATION": authorization} if authorization else {}),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # Nothing is written to it when the time is over.
        if wrk.stderr.readline():
            wrk.send_signal(signal.SIGINT)
        output = wrk.communicate()[0]
        spent = cpu(server.pids) - before
    figures = json.loads(output.splitlines()[-1])
    assert figures["bad"] == 0 and figures["good"] > 0, (figures, output)
    return figures, spent / figures["good"] * MICROSECONDS


def once(servers, path, bodies, others=()):
    """Sends each body once, on several connections to the servers in turn. Returns figures as `send`; the CPU time is
    that of the servers and of the other processes together."""
    rest, lock, durations = iter(bodies), threading.Lock(), []

    def work(port):
        connection = Connection(port)
        while True:
            with lock:
                body = next(rest, None)
            if body is None:
                return
            began = time.perf_counter()
            status, reply = connection.post(path, body)
            durations.append(time.perf_counter() - began)
            assert status == 201, reply

    pids = [pid for server in servers for pid in server.pids] + list(others)
    before, began = cpu(pids), time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        for done in [pool.submit(work, servers[each % len(servers)].port) for each in range(CONNECTIONS)]:
            done.result()
    seconds, spent = time.perf_counter() - began, cpu(pids) - before
    durations.sort()
    figures = {name: durations[int(len(durations) * share)] * MICROSECONDS
               for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999))}
    return figures | {"good": len(bodies), "seconds": seconds}, spent / len(bodies) * MICROSECONDS


def measure(server, count):
    """Issues challenges for three seconds, and signs in `count` times."""
    keys = [Key(f"user {number}") for number in range(64)]
    server.register(keys)
    # Also waits until the server answers.
    server.sign_in(keys[0])
    issued, issuing = send(server, "/v1/challenges", [server.issuing(keys[0])], 3)
    bodies = [server.sign_in(keys[number % len(keys)]) for number in range(count)]
    signed, signing = send(server, "/v1/sessions", bodies)
    print(f"\n{server.name}, {CONNECTIONS} connections")
    for name, figures, spent in (("challenges", issued, issuing), ("sign-ins", signed, signing)):
        row(f"{name}: CPU of the server for each, microseconds", f"{spent:.0f}")
        row(f"{name}: each second", f"{figures['good'] / figures['seconds']:.0f}")
        row(f"{name}: milliseconds, median / 99 % / 99.9 %",
            " / ".join(f"{figures[name] / 1000:.1f}" for name in ("p50", "p99", "p999")))
    return {"issue": issuing, "signIn": signing, "rate": signed["good"] / signed["seconds"]}


def introspect(server, count):
    """A back end that checks tokens without a pause, alone and while users sign in without a pause."""
    credential = json.loads(server.server.command("service", "bench", "--json"))["credential"]
    authorization = "Basic " + base64.b64encode(f"bench:{credential}".encode()).decode()
    key = Key("introspected")
    server.register([key])
    status, session = server.connection.post("/v1/sessions", server.sign_in(key))
    assert status == 201, session
    request = ("/v1/introspection", [b"token=" + json.loads(session)["token"].encode()], 3, "application/x-www-form-urlencoded",
               authorization)
    alone, spent = send(server, *request)
    keys = [Key(f"beside {number}") for number in range(16)]
    server.register(keys)
    bodies = [server.sign_in(keys[number % len(keys)]) for number in range(count)]
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        signing = pool.submit(once, [server], "/v1/sessions", bodies)
        beside, _ = send(server, *request)
        signed, _ = signing.result()
    print(f"\n{server.name}, introspection by one service, {CONNECTIONS} connections")
    row("CPU of the server for each, microseconds", f"{spent:.0f}")
    row("each second, alone", f"{alone['good'] / alone['seconds']:.0f}")
    row("each second, beside sign-ins", f"{beside['good'] / beside['seconds']:.0f}", "goal 5000 in all")
    row("  sign-ins each second meanwhile", f"{signed['good'] / signed['seconds']:.0f}")
    row("  milliseconds, median / 99 % / 99.9 %",
        " / ".join(f"{beside[name] / 1000:.1f}" for name in ("p50", "p99", "p999")))


# MARK: - Nodes

def node_run(cluster, postmaster, count, sign_ins):
    """The CPU time of nodes and database for a sign-in, with so many nodes on an empty database."""
    name = f"bench_{os.urandom(4).hex()}"
    cluster.sql(f'CREATE SCHEMA "{name}"')
    address = f"{cluster.address} options='-csearch_path={name}'"
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        nodes = [Latchkey(stack.enter_context(Server(folder, challenge_seconds=600, postgresql=address, node=each)))
                 for each in "abc"[:count]]
        keys = [Key(f"user {number}") for number in range(64)]
        nodes[0].register(keys)
        bodies = [nodes[each % count].sign_in(keys[each % len(keys)]) for each in range(sign_ins)]
        # The first requests make connections and the partition of the hour.
        once(nodes, "/v1/sessions", bodies[:200], [postmaster])
        return once(nodes, "/v1/sessions", bodies[200:], [postmaster])


def nodes(sign_ins):
    """One node and three on PostgreSQL, in turn; the best of two rounds."""
    import test_nodes
    cluster = test_nodes.Cluster()
    folder = cluster.address.split()[0].removeprefix("host=")
    postmaster = int(pathlib.Path(folder, "data/postmaster.pid").read_text().split()[0])
    try:
        best = {}
        for count in (1, 3, 1, 3):
            figures, spent = node_run(cluster, postmaster, count, sign_ins)
            if count not in best or spent < best[count][1]:
                best[count] = figures, spent
    finally:
        cluster.stop()
    print(f"\nlatchkey-server on PostgreSQL, {CONNECTIONS} connections")
    for count, (figures, spent) in best.items():
        row(f"nodes: {count}. CPU of nodes and database for a sign-in, microseconds", f"{spent:.0f}")
        row("  sign-ins each second", f"{figures['good'] / figures['seconds']:.0f}")
        row("  milliseconds, median / 99 % / 99.9 %",
            " / ".join(f"{figures[name] / 1000:.1f}" for name in ("p50", "p99", "p999")))
    compare("three nodes beside one, CPU", best[3][1], best[1][1], "1.10x")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", required=True, help="the program relying-party-bench")
    parser.add_argument("--sign-ins", type=int, default=3000)
    options = parser.parse_args()
    print(time.strftime("%Y-%m-%d"), os.uname().machine, f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}")
    parts(options.bench)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = Latchkey(stack.enter_context(Server(challenge_seconds=600)))
        ours = measure(server, options.sign_ins)
        introspect(server, options.sign_ins)
        flask = Flask(folder)
        stack.callback(flask.stop)
        theirs = measure(flask, max(200, options.sign_ins // 4))
    print("\nlatchkey-server beside Flask")
    compare("sign-ins each second", ours["rate"], theirs["rate"], "5x or more")
    compare("CPU for a sign-in, Flask's beside ours", theirs["signIn"], ours["signIn"], "5x or more")
    nodes(options.sign_ins // 2)


if __name__ == "__main__":
    main()
