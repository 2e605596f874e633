# SPDX-License-Identifier: Apache-2.0
"""Tests of a server with very many idle connections, and of the limits of open files and connections."""
import pathlib
import resource
import socket
import subprocess
import tempfile
import time
import unittest

from server import PROGRAM, Authority, Device, Server, wait_until


def memory(server):
    """The resident memory of the server in KiB."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))


class ConnectionTests(unittest.TestCase):
    def setUp(self):
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.most = limits[1]
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, limits)

    def open(self, server, count, finish=lambda client: client):
        """Opens connections from 100 addresses of this machine, as many as it can before the first ones are closed, and
        returns how many."""
        end = time.monotonic() + 6
        for number in range(count):
            if time.monotonic() > end:
                return number
            client = socket.create_connection(("127.0.0.1", server.port), 20, (f"127.0.1.{number % 100 + 1}", 0))
            self.addCleanup(client.close)
            self.addCleanup(finish(client).close)
        return count

    def hold(self, server, count, finish=lambda client: client):
        """Holds idle connections, signs in meanwhile, waits until the server has closed all of them, and returns how many there
        were: a slow machine opens a part of them before the first ones are closed. One that cannot open a quarter shows
        nothing: the test is skipped, and with CI=true it fails."""
        device = Device(server, "ada").register()
        before, began = memory(server), time.monotonic()
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.most, self.most))
        opened = self.open(server, count, finish)
        if opened < count / 4:
            self.skipTest(f"this machine opened {opened} of {count} connections in time")
        self.assertTrue(wait_until(lambda: server.metric("connections") >= opened, 3), server.metric("connections"))
        after, taken = memory(server), time.monotonic() - began
        self.assertEqual(device.sign_in()[0], 201)
        signed = time.monotonic() - began - taken
        self.assertEqual(server.metric("connections_refused_total"), 0)
        self.assertTrue(wait_until(lambda: server.metric("connections") == 0, 15))
        closed = time.monotonic() - began
        print(f"{opened} connections in {taken:.1f} s, a sign-in in {signed:.2f} s meanwhile, all closed after "
              f"{closed:.1f} s; memory of the server {before} KiB before, {after} KiB with them "
              f"({(after - before) / opened:.1f} KiB each)")
        self.assertLess(signed, 5)
        self.assertLess((after - before) / opened, 64)
        self.assertEqual(device.sign_in()[0], 201)
        return opened

    def ten_thousand(self):
        if self.most < 10_200:
            self.skipTest(f"ulimit -Hn is {self.most}, and 10,200 open files are needed")
        return 10_000

    def test_ten_thousand_idle_connections_do_not_stop_sign_ins(self):
        count = self.ten_thousand()
        with Server(connections=count + 50, metrics_port=0) as server:
            self.assertEqual(server.first["connections"], count + 50)
            self.hold(server, count)

    def test_ten_thousand_connections_that_begin_no_handshake_do_not_stop_sign_ins(self):
        count = self.ten_thousand()
        with tempfile.TemporaryDirectory() as folder:
            authority = Authority(folder)
            with Server(authority=authority.certificate, connections=count + 50, metrics_port=0,
                        **authority.issue()) as server:
                opened = self.hold(server, count)
                self.assertEqual(server.metric("tls_handshake_failures_total"), opened)

    def test_a_thousand_idle_clients_of_tls_do_not_stop_sign_ins(self):
        with tempfile.TemporaryDirectory() as folder:
            authority = Authority(folder)
            with Server(authority=authority.certificate, metrics_port=0, **authority.issue()) as server:
                self.hold(server, 1000, lambda plain: server.tls.wrap_socket(plain, server_hostname="127.0.0.1"))
                self.assertEqual(server.metric("tls_handshake_failures_total"), 0)

    def test_more_connections_than_the_limit_wait_for_those_that_end(self):
        with Server(connections=40, metrics_port=0) as server:
            self.assertEqual(self.open(server, 60), 60)
            self.assertTrue(wait_until(lambda: server.metric("connections") == 40))
            self.doCleanups()
            self.assertEqual(server.send("GET", "/health")[0], 200)

    def start(self, limit, **settings):
        """Exit code and errors of a server that has a limit of open files and ends at once for another reason."""
        with tempfile.TemporaryDirectory() as folder:
            secret = pathlib.Path(folder) / "secret"
            secret.write_text("00" * 32)
            secret.chmod(0o600)
            values = {"relying_party_id": "a", "port": 0, "database": f"{folder}/d", "secret_file": secret} | settings
            configuration = pathlib.Path(folder) / "configuration"
            configuration.write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
            # The shell becomes the server.
            with subprocess.Popen(["sh", "-c", f'ulimit -n {limit} && exec "$@"', "sh", PROGRAM, configuration, "serve"],
                                  stderr=subprocess.PIPE, text=True) as process:
                line = process.stderr.readline()
                process.terminate()
                return line + process.stderr.read()

    def test_more_connections_than_open_files_are_refused_and_the_default_is_reduced(self):
        error = self.start(1000, connections=5000)
        self.assertIn("error: 5000 connections need 5064 open files, and the limit is 1000\nhint: Set LimitNOFILE=", error)
        self.assertIn('"connections":936', self.start(1000))
        self.assertIn('"connections":936', self.start(1000, connections=936))
        self.assertIn("error: ", self.start(70, connections=10))
