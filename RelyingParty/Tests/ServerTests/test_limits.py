# SPDX-License-Identifier: Apache-2.0
"""Tests of what strangers in one network, floods, and clients that leave do to the requests of others: nothing."""
import concurrent.futures
import contextlib
import json
import re
import socket
import sqlite3
import threading
import time
import unittest

from server import Device, Server, sign_in_request, text, wait_until

JSON = {"Content-Type": "application/json"}


def bearer(token):
    return {"Authorization": "Bearer " + token}


GUESS = bearer(text(bytes(32)))


class Sender:
    """Requests on one connection."""

    def __init__(self, server, headers=None):
        self.connection, self.headers = server.connection(), headers or {}

    def send(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, JSON | self.headers | (headers or {}))
        response = self.connection.getresponse()
        response.read()
        return response.status


class Attack(threading.Thread):
    """Sends a request 200 times a second until it is stopped."""
    PER_SECOND = 200

    def __init__(self, server, *request):
        super().__init__()
        self.sender, self.request = Sender(server), request
        self.statuses, self.ends = [], threading.Event()

    def run(self):
        began = time.monotonic()
        while not self.ends.is_set():
            self.statuses.append(self.sender.send(*self.request))
            # Late ones are sent at once, so that the average is reached.
            self.ends.wait(max(0, began + len(self.statuses) / self.PER_SECOND - time.monotonic()))
        self.seconds = time.monotonic() - began
        self.sender.connection.close()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.join()


class LockOutTests(unittest.TestCase):
    def test_strangers_in_a_network_lock_out_none_of_its_clients(self):
        with Server(trusted_proxies=None) as server:
            device = Device(server, "ada").register()
            header = bearer(device.sign_in()[1]["token"])
            challenge = {"user": "ada", "key": text(device.id), "purpose": "login"}
            wrong = device.proof() | {"signature": text(b"\x30\x06\x02\x01\x01\x02\x01\x01")}
            code = wrong | {"publicKey": {"format": "pem", "value": device.pem}, "form": "bound", "tier": "user",
                            "enrollmentCode": "WRONG"}
            answers, began = [], time.monotonic()
            with Attack(server, "GET", "/v1/session", None, GUESS) as tokens, \
                    Attack(server, "POST", "/v1/sessions", wrong) as signatures, \
                    Attack(server, "POST", "/v1/keys", code) as codes:
                attacks = (tokens, signatures, codes)
                neighbour = Sender(server)
                # The attack has long used up what it can use up.
                self.assertTrue(wait_until(lambda: all(429 in attack.statuses for attack in attacks)))
                for number in range(950):
                    if number % 2:
                        answers.append(neighbour.send("GET", "/v1/session", headers=header) == 200)
                    else:
                        answers.append(neighbour.send("POST", "/v1/challenges", challenge) == 200)
                    time.sleep(0.005)
                for _ in range(50):
                    answers.append(neighbour.send("POST", "/v1/sessions", device.proof()) == 201)
                neighbour.connection.close()
            refused, seconds = answers.count(False), time.monotonic() - began
            print(f"{refused} of {len(answers)} valid requests refused in {seconds:.1f} s, during "
                  + ", ".join(f"{len(attack.statuses) / attack.seconds:.0f} a second" for attack in attacks))
            self.assertEqual((len(answers), refused), (1000, 0))
            self.assertLess(seconds, 20)
            for attack in attacks:
                self.assertEqual(set(attack.statuses), {401, 429})
                self.assertGreater(len(attack.statuses) / attack.seconds, 150)

    def test_refusals_of_one_kind_do_not_slow_down_those_of_another(self):
        with Server(trusted_proxies=None) as server:
            sender = Sender(server)
            statuses = [sender.send("GET", "/v1/session", headers=GUESS) for _ in range(40)]
            self.assertEqual((statuses[:30], statuses[-1]), ([401] * 30, 429))
            proof = Device(server, "ada").register().proof()
            self.assertEqual(sender.send("POST", "/v1/sessions", proof | {"signature": ""}), 401)
            sender.connection.close()
            status, reply = server.post("/v1/session", {}, GUESS)
            self.assertEqual((status, reply["status"]), (405, 405))

    def test_a_refusal_beyond_the_limit_says_when_to_try_again(self):
        with Server(trusted_proxies=None) as server:
            for _ in range(31):
                connection = server.connection()
                connection.request("GET", "/v1/session", headers=GUESS)
                response = connection.getresponse()
                body = json.loads(response.read())
                connection.close()
            self.assertEqual((response.status, body["status"]), (429, 429))
            self.assertIn(response.headers["Retry-After"], ("1", "2"))
            server.stop()
            self.assertIn('"reason":"unknownSession"', server.written())


class NamedClientTests(unittest.TestCase):
    def guesses(self, server, *headers):
        """The statuses of requests with a wrong token, one for each value of the header of the proxy."""
        named = [{} if value is None else {"X-Forwarded-For": value} for value in headers]
        return [server.send("GET", "/v1/session", headers=GUESS | header)[0] for header in named]

    def test_addresses_with_a_port_are_those_without(self):
        with Server() as server:
            for address in ("203.0.113.7:{}", "[2001:db8::7]:{}"):
                statuses = self.guesses(server, *(address.format(4711 + number) for number in range(40)))
                self.assertEqual((statuses[:30], statuses[-1]), ([401] * 30, 429), address)
            self.assertEqual(self.guesses(server, "203.0.113.7", "2001:db8::9", "[2001:db8::7]"), [429] * 3)
            self.assertEqual(self.guesses(server, "203.0.113.8", "2001:db8:0:1::7"), [401] * 2)

    def test_a_proxy_that_names_no_client_is_counted_and_logged_and_limits_none(self):
        with Server(metrics_port=0) as server:
            values = (None, "unknown", "203.0.113.7:x", "[203.0.113.7]", "203.0.113.7,")
            self.assertEqual(set(self.guesses(server, *(values * 10))), {401})
            self.assertEqual(server.metric("requests_without_client_total"), 50)
            self.assertTrue(wait_until(lambda: '"event":"clients not named"' in server.written()))
            server.stop()
            lines = [json.loads(line) for line in server.written().splitlines()]
            named = [line["count"] for line in lines if line["event"] == "clients not named"]
            # At most one line a second.
            self.assertEqual(sum(named), 50)
            self.assertLessEqual(len(named), 3)
            self.assertEqual([line["network"] for line in lines if line.get("path") == "/v1/session"], [None] * 50)

    def test_without_a_named_proxy_the_address_of_the_connection_counts_and_a_line_warns(self):
        with Server(trusted_proxies=None) as server:
            statuses = self.guesses(server, *(f"203.0.113.{number}" for number in range(40)))
            self.assertEqual((statuses[:30], statuses[-1]), ([401] * 30, 429))
            self.assertIn('"event":"warning","warning":"all clients have one address', server.written())
        with Server() as server:
            server.stop()
            self.assertNotIn("warning", server.written())


@contextlib.contextmanager
def stalled(server):
    """Holds the lock of the writer; ends when the returned function is called, or the block."""
    with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield lambda: other.execute("ROLLBACK")


class OverloadTests(unittest.TestCase):
    def test_a_flood_of_one_network_has_half_of_the_queue_and_is_refused_with_503(self):
        with Server(threads=1, metrics_port=0) as server, contextlib.ExitStack() as stack:
            device = Device(server, "ada").register()
            flood, proof = sign_in_request(device.proof(), "X-Forwarded-For: 192.0.2.7\r\n"), device.proof()
            release = stack.enter_context(stalled(server))
            clients = []
            for _ in range(540):
                clients.append(stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 20)))
                clients[-1].sendall(flood)
            self.assertTrue(wait_until(lambda: server.metric("queue_shed_total") >= 20))
            self.assertLessEqual(server.metric("queue_requests"), 512)
            self.assertGreater(server.metric("queue_requests"), 500)
            refused = 0
            for client in clients:
                client.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    reply = client.recv(4096)
                    # The request that waited for the database may be refused as well by now.
                    self.assertIn(b"HTTP/1.1 503 ", reply)
                    self.assertRegex(reply, b"\r\nRetry-After: [0-9]+\r\n")
                    refused += 1
            self.assertGreaterEqual(refused, 20)
            # A challenge of the same network needs no place in the queue, and another network has one.
            named = {"X-Forwarded-For": "192.0.2.7"}
            self.assertEqual(server.post("/v1/challenges", {"user": "ada", "key": text(device.id), "purpose": "login"},
                                         named)[0], 200)
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                waiting = server.metric("queue_requests")
                other = pool.submit(server.post, "/v1/sessions", proof, {"X-Forwarded-For": "192.0.2.8"})
                self.assertTrue(wait_until(lambda: server.metric("queue_requests") >= waiting, 5))
                release()
                for client in clients:
                    client.close()
                self.assertEqual(other.result()[0], 201)
            server.stop()
            self.assertIn('"reason":"overload"', server.written())


class AbandonedRequestTests(unittest.TestCase):
    def test_sign_ins_whose_clients_left_while_the_database_stalled_have_no_effect(self):
        with Server(metrics_port=0) as server:
            device = Device(server, "ada").register()
            requests = [sign_in_request(device.proof()) for _ in range(200)]
            with stalled(server) as release, contextlib.ExitStack() as stack:
                for data in requests:
                    client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 20))
                    client.sendall(data)
                # Sixteen threads wait for the database, and the others for them.
                self.assertTrue(wait_until(lambda: server.metric("queue_requests") > 100))
                stack.close()
                release()
            self.assertTrue(wait_until(
                lambda: server.metric("queue_requests") == 0 and server.metric("database_connections_in_use") == 0))
            abandoned = server.metric("queue_abandoned_total")
            self.assertGreater(abandoned, 100)
            with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database:
                self.assertEqual(database.execute("SELECT count(*) FROM sessions").fetchone(), (0,))
                self.assertEqual(database.execute("SELECT count(*) FROM audit WHERE event = 'login'").fetchone(), (0,))
            # The proofs were not spent either.
            self.assertEqual(device.sign_in()[0], 201)
            proof = json.loads(requests[-1].partition(b"\r\n\r\n")[2])
            self.assertEqual(server.post("/v1/sessions", proof)[0], 201)
            server.stop()
            over = re.findall(r'"path":"/v1/sessions","method":"POST","status":503,"reason":"over"', server.written())
            self.assertEqual(len(over), abandoned)
