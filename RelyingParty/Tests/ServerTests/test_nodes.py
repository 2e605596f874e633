# SPDX-License-Identifier: Apache-2.0
"""Tests of several nodes on one PostgreSQL, whose servers and nodes are killed while they work.

A node is stopped at an exact place by a lock that the test holds in the database: it needs no hook in the program.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import socketserver
import subprocess
import tempfile
import threading
import unittest

from server import PROGRAM, Device, Server, sign_in_request, text, wait_until

REFUSED = 401
BIN = pathlib.Path("/usr/lib/postgresql/15/bin")


class Cluster:
    """The script `postgresql`, and statements that the test runs itself."""

    def __init__(self):
        script = pathlib.Path(__file__).with_name("postgresql")
        self.process = subprocess.Popen([script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        assert self.address, "PostgreSQL does not start"

    def command(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline().strip()
        assert reply, name
        return reply

    def sql(self, statement, address=None):
        return subprocess.run([BIN / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", address or self.address, "-c", statement],
                              check=True, capture_output=True, text=True).stdout.strip()

    @contextlib.contextmanager
    def held(self, statement):
        """Runs a statement in a transaction that stays open."""
        psql = subprocess.Popen([BIN / "psql", "-XAtq", self.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True)
        psql.stdin.write(f"BEGIN; {statement}; SELECT 'held';\n")
        psql.stdin.flush()
        assert psql.stdout.readline().strip() == "held"
        try:
            yield
        finally:
            psql.communicate("ROLLBACK;\n")

    def stop(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


class Relay(socketserver.ThreadingTCPServer):
    """Passes connections of TCP to the socket of the database."""
    daemon_threads = True

    def __init__(self, address, path):
        self.path = path
        super().__init__((address, 0), Passing)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *arguments):
        self.shutdown()
        super().__exit__(*arguments)


class Passing(socketserver.BaseRequestHandler):
    def handle(self):
        with socket.socket(socket.AF_UNIX) as database:
            database.connect(self.server.path)
            others = {self.request: database, database: self.request}
            while True:
                for ready in select.select(list(others), [], [])[0]:
                    data = ready.recv(65536)
                    if not data:
                        return
                    others[ready].sendall(data)


def setUpModule():
    global CLUSTER
    if not (BIN / "initdb").exists() and os.environ.get("CI") != "true":
        raise unittest.SkipTest("PostgreSQL 15 is not installed")
    CLUSTER = Cluster()


def tearDownModule():
    CLUSTER.stop()


class NodeTests(unittest.TestCase):
    def setUp(self):
        # A schema of its own for each test.
        name = self.id().split(".")[-1][-60:]
        CLUSTER.sql(f'CREATE SCHEMA "{name}"')
        self.address = f"{CLUSTER.address} options='-csearch_path={name}'"
        self.folder = tempfile.TemporaryDirectory()
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(self.folder)

    def tearDown(self):
        self.stack.close()

    def sql(self, statement):
        return CLUSTER.sql(statement, self.address)

    def node(self, name, address=None):
        return Server(self.folder.name, postgresql=address or self.address, node=name)

    def nodes(self, address=None):
        """Three nodes, which start at the same time."""
        (pathlib.Path(self.folder.name) / "secret").write_text(os.urandom(32).hex())
        (pathlib.Path(self.folder.name) / "secret").chmod(0o600)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            nodes = list(pool.map(lambda name: self.node(name, address), "abc"))
        return [self.stack.enter_context(node) for node in nodes]

    def sign_in(self, node, proof):
        """The status, or None if there was no answer."""
        try:
            return node.post("/v1/sessions", proof)[0]
        except (OSError, ValueError):
            return None
        except Exception as error:  # http.client has an error of its own for a reply that is cut off.
            if type(error).__module__ != "http.client":
                raise
            return None

    def report(self, acknowledged, lost, twice):
        print(f"acknowledged {acknowledged}, lost {lost}, redeemed twice {twice} ... ", end="", flush=True)
        self.assertEqual((lost, twice), (0, 0))

    def test_a_hundred_replays_over_three_nodes_that_started_at_once(self):
        a, b, c = self.nodes()
        device = Device(a, "ada").register()
        device.server = b
        proof = device.proof()
        barrier = threading.Barrier(99)

        def replay(index):
            barrier.wait()
            return self.sign_in((a, b, c)[index % 3], proof)
        with concurrent.futures.ThreadPoolExecutor(99) as pool:
            statuses = list(pool.map(replay, range(99)))
        self.assertEqual(statuses.count(REFUSED), 98, statuses)
        rows = int(self.sql("SELECT count(*) FROM sessions"))
        self.report(statuses.count(201), statuses.count(201) - rows, max(0, statuses.count(201) - 1))
        self.assertEqual(statuses.count(201), 1)
        self.assertEqual(self.sql("SELECT value FROM marks WHERE name = 'version'"), "1")
        self.assertIn("3 rows", c.command("audit"))
        self.sql("UPDATE audit SET detail = 'file' WHERE node = 'a' AND event = 'register'")
        done = subprocess.run([PROGRAM, c.configuration, "audit"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                         (1, "error: row 2 of the audit log of node a is missing or was changed"))

    @contextlib.contextmanager
    def standby_missing(self):
        """Commits are on the disk, and wait for a standby that does not exist."""
        try:
            CLUSTER.sql("ALTER SYSTEM SET synchronous_standby_names = 'none'")
            CLUSTER.sql("SELECT pg_reload_conf()")
            self.assertTrue(wait_until(lambda: CLUSTER.sql("SHOW synchronous_standby_names") == "none"))
            yield
        finally:
            CLUSTER.sql("ALTER SYSTEM RESET synchronous_standby_names")
            CLUSTER.sql("SELECT pg_reload_conf()")

    def waiting(self, event):
        return int(CLUSTER.sql(f"SELECT count(*) FROM pg_stat_activity WHERE wait_event = '{event}' "
                                    "AND application_name = 'latchkey-server'")) > 0

    def test_sign_ins_whose_clients_left_while_the_database_stalled_have_no_effect(self):
        node = self.stack.enter_context(
            Server(self.folder.name, postgresql=self.address, node="a", metrics_port=0))
        device = Device(node, "ada").register()
        requests = [sign_in_request(device.proof()) for _ in range(200)]
        with CLUSTER.held(f"SET search_path = {self.schema()}; LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE"), \
                contextlib.ExitStack() as clients:
            for request in requests:
                client = clients.enter_context(socket.create_connection(("127.0.0.1", node.port), 20))
                client.sendall(request)
            # The transactions of all connections wait for the lock; the other requests wait for a connection or a thread.
            self.assertTrue(wait_until(lambda: self.waiting("relation") and node.metric("queue_requests") > 100))
            self.assertGreater(node.metric("database_connections_in_use"), 0)
        self.assertTrue(wait_until(
            lambda: node.metric("queue_requests") == 0 and node.metric("database_connections_in_use") == 0))
        self.assertGreater(node.metric("queue_abandoned_total"), 100)
        self.assertEqual(self.sql("SELECT count(*) FROM sessions"), "0")
        self.assertEqual(self.sql("SELECT count(*) FROM audit WHERE event = 'login'"), "0")
        # The proofs were not spent either.
        body = json.loads(requests[0].partition(b"\r\n\r\n")[2])
        self.assertEqual(self.sign_in(node, body), 201)

    def test_a_node_killed_between_the_insert_and_the_commit_has_redeemed_nothing(self):
        a, b, c = self.nodes()
        proof = Device(a, "ada").register().proof()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            # The row of the audit log is inserted last: the nonce and the session are inserted and not committed.
            with CLUSTER.held(f"SET search_path = {self.schema()}; LOCK TABLE audit IN SHARE MODE"):
                reply = pool.submit(self.sign_in, a, proof)
                self.assertTrue(wait_until(lambda: self.waiting("relation")))
                a.stop(signal.SIGKILL)
                self.assertIsNone(reply.result())
        self.assertEqual(self.sign_in(b, proof), 201)
        self.assertEqual(self.sign_in(c, proof), REFUSED)
        self.report(1, 1 - int(self.sql("SELECT count(*) FROM sessions")), 0)
        self.assertIn("unchanged", c.command("audit"))

    def schema(self):
        return '"' + self.id().split(".")[-1][-60:] + '"'

    def test_a_node_killed_between_the_commit_and_the_reply_has_redeemed(self):
        a, b, c = self.nodes()
        proof = Device(a, "ada").register().proof()
        with self.standby_missing(), concurrent.futures.ThreadPoolExecutor(1) as pool:
            reply = pool.submit(self.sign_in, a, proof)
            self.assertTrue(wait_until(lambda: self.waiting("SyncRep")))
            a.stop(signal.SIGKILL)
            self.assertIsNone(reply.result())
        self.assertTrue(wait_until(lambda: not self.waiting("SyncRep")))
        self.assertEqual([self.sign_in(node, proof) for node in (b, c)], [REFUSED, REFUSED])
        self.assertEqual(self.sql("SELECT count(*) FROM sessions"), "1")

    def test_a_commit_that_no_standby_confirms_is_not_acknowledged(self):
        a = self.stack.enter_context(self.node("a"))
        proof = Device(a, "ada").register().proof()
        with self.standby_missing(), concurrent.futures.ThreadPoolExecutor(1) as pool:
            reply = pool.submit(self.sign_in, a, proof)
            self.assertTrue(wait_until(lambda: self.waiting("SyncRep")))
            # COMMIT then succeeds, with a warning.
            CLUSTER.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
            self.assertEqual(reply.result(), 503)
        self.assertEqual(self.sign_in(a, proof), REFUSED)
        a.stop()
        self.assertIn("unknown whether the standby", a.written())

    def test_the_database_and_a_node_die_under_load(self):
        nodes = self.nodes()
        enrolled = [Device(nodes[0], f"user{index}").register() for index in range(6)]
        codes = [nodes[0].command("code", f"new{index}") for index in range(6)]
        stop, lock = threading.Event(), threading.Lock()
        registered, sessions, proofs = [], [], []

        def request(function, *arguments):
            try:
                return function(*arguments)
            except (AssertionError, OSError, ValueError):
                return None, None
            except Exception as error:
                if type(error).__module__ != "http.client":
                    raise
                return None, None

        def client(index):
            device = enrolled[index]
            turn = index
            while not stop.is_set():
                turn += 1
                device.server = nodes[turn % 3]
                proof = request(lambda: (device.proof(), None))[0]
                if proof is None:
                    continue
                status, _ = request(nodes[(turn + 1) % 3].post, "/v1/sessions", proof)
                with lock:
                    proofs.append(proof)
                    if status == 201:
                        sessions.append(proof)

        def is_stored(device):
            try:
                return self.sql(f"SELECT count(*) FROM keys WHERE id = '\\x{device.id.hex()}'") == "1"
            except subprocess.CalledProcessError:
                return False

        def registrar(index):
            device = Device(nodes[index % 2], f"new{index}")
            while not stop.is_set():
                body = request(lambda: (device.registration(codes[index]), None))[0]
                if not body:
                    continue
                # The reply to a registration that is stored can be lost with the database. Its code is spent then.
                if request(device.server.post, "/v1/keys", body)[0] == 201 or is_stored(device):
                    with lock:
                        registered.append(device)
                    return

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            try:
                running = [pool.submit(client, index) for index in range(6)]
                self.assertTrue(wait_until(lambda: len(sessions) >= 10))
                running += [pool.submit(registrar, index) for index in range(6)]
                CLUSTER.command("restart")
                before = len(sessions)
                self.assertTrue(wait_until(lambda: len(sessions) >= before + 10))
                nodes[2].stop(signal.SIGKILL)
                before = len(sessions)
                self.assertTrue(wait_until(lambda: len(sessions) >= before + 10))
                CLUSTER.command("restart")
                before = len(sessions)
                self.assertTrue(wait_until(lambda: len(sessions) >= before + 5 and len(registered) == 6))
            finally:
                # Without this the pool would wait for ever for the clients of a test that has failed.
                stop.set()
            for future in running:
                future.result()
        lost = 0
        for device in registered:
            lost += self.sql(f"SELECT count(*) FROM keys WHERE id = '\\x{device.id.hex()}'") != "1"
        # Each nonce stands for one registration or one sign-in, whether it was acknowledged or not.
        logins = int(self.sql("SELECT count(*) FROM audit WHERE event = 'login'"))
        effects = logins + int(self.sql("SELECT count(*) FROM audit WHERE event = 'register'"))
        lost += max(0, len(sessions) - logins)
        twice = effects - int(self.sql("SELECT count(*) FROM spent"))
        twice += sum(self.sign_in(nodes[0], proof) == 201 for proof in sessions[-20:])
        self.report(len(registered) + len(sessions), lost, twice)
        self.assertEqual(len({proof["challenge"] for proof in proofs}), len(proofs))
        self.assertIn("unchanged", nodes[0].command("audit"))

    def test_a_server_on_another_machine_must_be_verified(self):
        folder = CLUSTER.address.split()[0].removeprefix("host=")
        for host, protected in (("127.0.0.1", True), ("127.0.0.2", False)):
            with Relay(host, f"{folder}/.s.PGSQL.5432") as relay:
                port = relay.server_address[1]
                address = self.address.replace(f"host={folder} port=5432", f"host={host} port={port}")
                if protected:
                    node = self.stack.enter_context(self.node("a", address))
                    self.assertEqual(Device(node, "ada").register().sign_in()[0], 201)
                    continue
                # Not an address of this machine, as far as the server knows, and the database has no TLS.
                for mode, words in (("", "add sslmode=verify-full"), (" sslmode=verify-full", "cannot be reached")):
                    node.configuration.write_text(f"relying_party_id = a\nsecret_file = {self.folder.name}/secret\n"
                                                  f"node = b\npostgresql = {address}{mode}\n")
                    done = subprocess.run([PROGRAM, node.configuration, "audit"], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 1)
                    self.assertIn(words, done.stderr)

    def test_nothing_is_sent_to_a_server_elsewhere_that_is_not_verified(self):
        # 127.0.0.2 is not an address that counts as this machine, so this listener stands for another one.
        with socket.create_server(("127.0.0.2", 0)) as listener, self.node("a") as node:
            listener.settimeout(10)
            port = listener.getsockname()[1]
            for address, surroundings in (
                    ("host=127.0.0.2", {}), ("host=127.0.0.2 sslmode=disable", {}), ("hostaddr=127.0.0.2", {}),
                    ("host=localhost hostaddr=127.0.0.2", {}), ("host=127.0.0.1 hostaddr=127.0.0.2 sslmode=require", {}),
                    ("host=/tmp,127.0.0.2", {}), ("user=app", {"PGHOST": "127.0.0.2"}),
                    ("host=127.0.0.1", {"PGHOSTADDR": "127.0.0.2"}), (f"postgresql://app@127.0.0.2:{port}/app", {})):
                node.configuration.write_text(
                    f"relying_party_id = a\nsecret_file = {self.folder.name}/secret\nnode = b\npostgresql = {address}"
                    + ("\n" if "://" in address else f" port={port} dbname=app\n"))
                done = subprocess.run([PROGRAM, node.configuration, "audit"], capture_output=True, text=True,
                                      env=os.environ | {"PGPASSWORD": "secret"} | surroundings)
                self.assertEqual(done.returncode, 1, address)
                self.assertIn("add sslmode=verify-full", done.stderr, address)
                listener.settimeout(0)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        with listener.accept()[0] as connection:
                            connection.settimeout(10)
                            self.assertEqual(connection.recv(100), b"", address)

    def test_a_dump_that_is_restored_does_not_revive_challenges(self):
        a, = [self.stack.enter_context(self.node("a"))]
        device = Device(a, "ada").register()
        dump = subprocess.run([BIN / "pg_dump", self.address, "-n", self.schema()], check=True, capture_output=True).stdout
        proof = device.proof()
        self.assertEqual(self.sign_in(a, proof), 201)
        a.stop()
        CLUSTER.sql(f"DROP SCHEMA {self.schema()} CASCADE")
        subprocess.run([BIN / "psql", "-Xq", "-v", "ON_ERROR_STOP=1", CLUSTER.address], input=dump, check=True,
                       capture_output=True)
        b = self.stack.enter_context(self.node("b"))
        self.assertEqual(self.sql("SELECT count(*) FROM spent"), "1", "the sign-in is not in the dump")
        self.assertEqual(self.sign_in(b, proof), REFUSED)
        device.server = b
        self.assertEqual(self.sign_in(b, device.proof()), 201)
        self.assertIn("unchanged", b.command("audit"))

    def test_nodes_of_two_versions_and_the_end_of_the_earlier_one(self):
        """What the later program does is made by statements: it adds a column, and removes one in the end."""
        a = self.stack.enter_context(self.node("a"))
        device = Device(a, "ada").register()
        session = {"Authorization": "Bearer " + device.sign_in()[1]["token"]}
        # Expanded: a serves and starts again, beside another node.
        self.sql("BEGIN; ALTER TABLE nodes ADD more BIGINT; UPDATE marks SET value = 2 WHERE name = 'version'; COMMIT")
        self.assertEqual(device.sign_in()[0], 201)
        b = self.stack.enter_context(self.node("b"))
        self.assertEqual(self.sign_in(b, device.proof()), 201, "a challenge of a")
        a.stop()
        device.server = a = self.stack.enter_context(self.node("a"))
        self.assertEqual(device.sign_in()[0], 201)
        for node in (a, b):
            self.assertEqual([node.send("GET", path, headers=session)[0] for path in ("/v1/session", "/ready")], [200, 200])
        # An earlier program does not end the upgrade of a later one.
        done = subprocess.run([PROGRAM, a.configuration, "finish-upgrade"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "error: The database has version 2: run this with the program that made it.\n"))
        # Contracted: both have the earlier program. a finds out by a sign-in, b within a second although it is not used.
        proof = device.proof()
        stored = [self.sql(f"SELECT count(*) FROM {table}") for table in ("sessions", "audit", "spent")]
        self.sql("BEGIN; ALTER TABLE nodes DROP COLUMN copied; UPDATE marks SET value = 2 WHERE name = 'least'; COMMIT")
        self.assertEqual(self.sign_in(a, proof), 503)
        self.assertEqual(a.send("GET", "/v1/session", headers=session)[0], 503)
        self.assertTrue(wait_until(lambda: b.send("GET", "/v1/session", headers=session)[0] == 503))
        for node in (a, b):
            self.assertTrue(wait_until(lambda: node.send("GET", "/ready")[0] == 503))
            self.assertEqual(self.sign_in(node, proof), 503)
            self.assertEqual(node.send("DELETE", "/v1/session", headers=session)[0], 503)
        self.assertEqual([self.sql(f"SELECT count(*) FROM {table}") for table in ("sessions", "audit", "spent")], stored)
        a.stop()
        done = subprocess.run([PROGRAM, a.configuration, "serve"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("version 2 or later, and this one has 1", done.stderr)

    def test_a_rehearsal_on_a_dump(self):
        a = self.stack.enter_context(self.node("a"))
        device = Device(a, "ada").register()
        session = {"Authorization": "Bearer " + device.sign_in()[1]["token"]}
        a.configuration.write_text(a.configuration.read_text() + f"revocations_file = {self.folder.name}/list\n")
        dump = subprocess.run([BIN / "pg_dump", self.address, "-n", self.schema()], check=True, capture_output=True,
                              text=True).stdout
        self.assertEqual(a.command("revoke", "ada", "device", "test"), "1")
        name = self.schema().strip('"')
        subprocess.run([BIN / "psql", "-Xq", "-v", "ON_ERROR_STOP=1", CLUSTER.address], check=True, capture_output=True,
                       input=dump.replace(name, name + "_copy"), text=True)
        at_copy = f"{CLUSTER.address} options='-csearch_path={name}_copy'"
        stored = [self.sql(f"SELECT count(*) FROM {table}") for table in ("sessions", "audit", "keys")]
        # Not on the database that is used, by any name of it.
        for address in (self.address, self.address + " application_name=x"):
            done = subprocess.run([PROGRAM, a.configuration, "rehearse", address], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("this is the database of the configuration", done.stderr)
        report = json.loads(a.command("rehearse", "--json", at_copy))
        self.assertEqual([report[name] for name in ("version", "versionAfterUpgrade", "missingRevocations", "revokedKeys",
                                                    "endedSessions")], [1, 1, 1, 1, 1])
        self.assertEqual(report["rows"]["keys"], 1)
        self.assertEqual([self.sql(f"SELECT count(*) FROM {table}") for table in ("sessions", "audit", "keys")], stored)
        self.assertEqual(CLUSTER.sql("SELECT count(*) FROM sessions", at_copy), "0")
        self.assertEqual(a.send("GET", "/v1/session", headers=session)[0], 401)


class RestoreTests(unittest.TestCase):
    """Puts a copy of the cluster in its place, so that rows of other tests can be gone afterwards."""

    def test_drill_of_a_restored_base_backup(self):
        """docs/use/server.md, "Several nodes on PostgreSQL"."""
        CLUSTER.sql("CREATE SCHEMA drill")
        with tempfile.TemporaryDirectory() as folder:
            settings = {"postgresql": f"{CLUSTER.address} options='-csearch_path=drill'", "node": "a",
                        "revocations_file": pathlib.Path(folder) / "revocations"}
            with Server(folder, **settings) as before:
                kept, lost, gone = [Device(before, name).register() for name in ("ada", "bob", "eve")]
                CLUSTER.command("copy")
                self.assertEqual(before.command("revoke", "bob").split()[-1], "1")
                before.command("delete", "eve")
                late = Device(before, "late").register()
                spent, waiting = kept.proof(), kept.proof()
                self.assertEqual(before.post("/v1/sessions", spent)[0], 201)
                before.stop()
                CLUSTER.command("restore")
                done = subprocess.run([PROGRAM, before.configuration, "serve"], capture_output=True, text=True, timeout=20)
                self.assertEqual(done.returncode, 1, "a database that lacks a revocation is not served")
                self.assertIn("restored", done.stderr)
                self.assertEqual(before.command("restored").splitlines()[1:],
                                 ["keys revoked again: 1", "keys frozen again: 0", "users deleted again: 1",
                                  "administrators removed again: 0", "services removed again: 0"])
                # The files of the keys are in the folder of the first server.
                with Server(folder, **settings) as after:
                    for device in (kept, lost, gone, late):
                        device.server = after
                    self.assertEqual([after.post("/v1/sessions", proof)[0] for proof in (spent, waiting)], [REFUSED, REFUSED])
                    self.assertEqual([device.sign_in()[0] for device in (kept, lost, gone, late)], [201] + 3 * [REFUSED])
                    self.assertIn("unchanged", after.command("audit"))


class StandbyTests(unittest.TestCase):
    """A standby that has not received the last commits, and takes over."""

    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.stop)
        self.second = self.cluster.command("standby")
        host, _, rest = self.cluster.address.partition(" port=5432 ")
        self.both = f"{host},{host.removeprefix('host=')} port=5432,5433 {rest} target_session_attrs=read-write"
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def node(self, name, **settings):
        return self.stack.enter_context(Server(self.folder.name, postgresql=self.both, node=name, **settings))

    def stop_the_replication(self):
        """The standby receives nothing more, as if the network between the two had failed."""
        position = self.cluster.sql("SELECT pg_current_wal_flush_lsn()")
        self.assertTrue(wait_until(
            lambda: self.cluster.sql(f"SELECT pg_last_wal_replay_lsn() >= '{position}'", self.second) == "t"))
        self.cluster.sql("ALTER SYSTEM SET primary_conninfo = ''", self.second)
        self.cluster.sql("SELECT pg_reload_conf()", self.second)
        self.assertTrue(wait_until(lambda: self.cluster.sql("SELECT count(*) FROM pg_stat_replication") == "0"))

    def test_challenges_from_before_a_failover_that_lost_commits_are_refused(self):
        server = self.node("a")
        device = Device(server, "ada").register()
        self.stop_the_replication()
        spent, waiting = device.proof(), device.proof()
        self.assertEqual(server.post("/v1/sessions", spent)[0], 201)
        self.cluster.command("promote")
        self.assertEqual(self.cluster.sql("SELECT count(*) FROM sessions", self.second), "0", "the sign-in was lost")
        self.assertTrue(wait_until(lambda: server.send("GET", "/ready")[0] == 200))
        self.assertEqual([server.post("/v1/sessions", proof)[0] for proof in (spent, waiting)], [REFUSED, REFUSED])
        self.assertEqual(server.post("/v1/sessions", device.proof())[0], 201)
        server.stop()
        self.assertEqual(server.written().count('"reason":"otherEpoch"'), 2)

    def lists(self, name):
        return {"revocations_file": pathlib.Path(self.folder.name) / f"list-{name}"}

    def status(self, node, session):
        return node.send("GET", "/v1/session", headers={"Authorization": "Bearer " + session["token"]})[0]

    def test_each_node_applies_its_list_to_the_standby_before_it_serves(self):
        a, b = (self.node(name, **self.lists(name)) for name in "ab")
        names = ["lost", "kept", "gone", "copied", "ofb"]
        devices = dict(zip(names, [Device(a, name).register() for name in names]))
        sessions = {name: device.sign_in()[1] for name, device in devices.items() if name != "copied"}
        sessions["copied"] = a.post("/v1/sessions", self.counting(devices["copied"], 5))[1]
        a.command("administrator", "mal")
        code = a.command("code", "kept")
        self.stop_the_replication()
        # Acknowledged, and in the list of the node that did it.
        self.assertEqual(a.command("revoke", "lost"), "1")
        a.command("delete", "gone")
        a.command("administrator", "mal", "--remove")
        self.assertEqual(a.post("/v1/sessions", self.counting(devices["copied"], 5))[0], REFUSED)
        self.assertEqual(b.command("revoke", "ofb"), "1")
        self.assertEqual(len(self.lists("b")["revocations_file"].read_text().splitlines()), 1)
        self.cluster.command("promote")
        active = "SELECT count(*) FROM keys WHERE revoked IS NULL AND frozen IS NULL"
        for node in (a, b):
            self.assertTrue(wait_until(lambda: node.send("GET", "/ready")[0] == 200))
        self.assertEqual(self.cluster.sql(active, self.second), "1", "only that of kept")
        self.assertEqual(self.cluster.sql("SELECT count(*) FROM administrators", self.second), "0")
        for node in (a, b):
            for name, device in devices.items():
                device.server = node
                proof = self.counting(device, 9) if name == "copied" else device.proof()
                self.assertEqual(node.post("/v1/sessions", proof)[0], 201 if name == "kept" else REFUSED, name)
                self.assertEqual(self.status(node, sessions[name]), 200 if name == "kept" else 401, name)
        # Who is not concerned keeps codes too.
        other = Device(a, "kept")
        self.assertEqual(a.post("/v1/keys", other.registration(code))[0], 201)
        self.assertIn("unchanged", a.command("audit"))
        self.assertEqual(self.cluster.sql("SELECT count(*) FROM audit WHERE event = 'restored'", self.second), "2",
                         "each node applied its own list")

    def counting(self, device, counter):
        """A proof with a counter."""
        proof = device.proof()
        signed = device.signed + counter.to_bytes(8, "big")
        return proof | {"counter": counter, "signature": text(device.sign(signed))}

    def test_a_node_whose_list_cannot_be_read_serves_nothing_of_the_standby(self):
        a = self.node("a", **self.lists("a"))
        lost, kept = Device(a, "lost").register(), Device(a, "kept").register()
        session, other = lost.sign_in()[1], kept.sign_in()[1]
        self.stop_the_replication()
        self.assertEqual(a.command("revoke", "lost"), "1")
        path = self.lists("a")["revocations_file"]
        line = path.read_text()
        path.write_text(line[:-1])
        self.cluster.command("promote")
        # It has met the standby. Challenges from before that are refused without the database.
        self.assertTrue(wait_until(lambda: "has no end" in a.written()))
        proof = lost.proof()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            replies = list(pool.map(lambda index: a.post("/v1/sessions", proof)[0] if index % 2 else self.status(a, session),
                                    range(64)))
        self.assertEqual(set(replies), {503})
        self.assertEqual(self.status(a, other), 503)
        self.assertEqual(a.send("GET", "/ready")[0], 503)
        # Nothing was stored, and the key is still active there: only the node's refusal protects it.
        self.assertEqual(self.cluster.sql("SELECT count(*) FROM keys WHERE revoked IS NULL", self.second), "2")
        path.write_text(line)
        self.assertTrue(wait_until(lambda: a.send("GET", "/ready")[0] == 200))
        self.assertEqual((lost.sign_in()[0], self.status(a, session)), (REFUSED, 401))
        self.assertEqual((kept.sign_in()[0], self.status(a, other)), (201, 200))
