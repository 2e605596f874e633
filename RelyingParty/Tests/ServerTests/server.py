# SPDX-License-Identifier: Apache-2.0
"""A latchkey-server in a folder of its own, and a client that signs with the command openssl."""
import base64
import concurrent.futures
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import ssl
import struct
import subprocess
import tempfile
import time

PROGRAM = os.environ["LATCHKEY_SERVER"]
PURPOSES = {"login": 1, "step-up": 2, "register": 3, "rotate": 4, "revoke": 5}


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def challenge_bytes(text):
    return base64.urlsafe_b64decode(text + "==")


def counted(data):
    return struct.pack(">H", len(data)) + data


def wait_until(condition, seconds=20):
    """Whether a condition became true in time. The state is that of another process, which sends no event."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def copy_for_others(program, folder):
    """Copies a built program into a folder, with the libraries of the toolchain that it loads, and returns its path there.

    The checkout and the toolchain can be in a home folder that only its owner can enter. The copy finds its libraries
    beside itself, because SwiftPM links programs with the run path $ORIGIN."""
    listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    for library in re.findall(r"=> (/\S+)", listed):
        # Those of the system are readable for everybody.
        if not library.startswith(("/lib", "/usr/")):
            shutil.copy(library, folder)
    return shutil.copy(program, folder)


class Server:
    def __init__(self, folder=None, environment=None, authority=None, user=None, **settings):
        """With a user, root starts the server as that user, who gets the folder and the secret.

        Without TLS the tests are a proxy that the server trusts and that names no client unless a test does, so that
        refusals are not limited. A value of None leaves out the one that is here."""
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(folder or self.scratch.name)
        secret = self.folder / "secret"
        if not secret.exists():
            secret.write_text(os.urandom(32).hex())
            secret.chmod(0o600)
        values = {"relying_party_id": "example.com", "port": 0, "secret_file": secret}
        if "tls_certificate" not in settings:
            values["trusted_proxies"] = "127.0.0.1"
        values = {name: value for name, value in (values | settings).items() if value is not None}
        if "postgresql" not in values:
            values = {"database": self.folder / "server.sqlite"} | values
        self.environment = os.environ | (environment or {})
        self.party = values["relying_party_id"]
        self.configuration = pathlib.Path(self.scratch.name) / "server.conf"
        self.configuration.write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
        # How many requests were answered; each is a line of the log.
        self.requests = 0
        program = PROGRAM
        for path in (self.scratch.name, self.folder, secret, self.configuration) if user else ():
            os.chown(path, user, user)
        if user:
            program = copy_for_others(PROGRAM, self.scratch.name)
        self.log = open(pathlib.Path(self.scratch.name) / "log", "w+")
        # Without a buffer, so that only the first line is read here.
        self.process = subprocess.Popen([program, self.configuration, "serve"], stderr=subprocess.PIPE, bufsize=0,
                                        env=self.environment, user=user, group=user, extra_groups=[] if user else None)
        self.first = json.loads(self.process.stderr.readline())
        self.port = self.first["port"]
        # With the certificate of an authority the clients speak TLS, and accept that authority only.
        self.tls = authority and ssl.create_default_context(cafile=authority)
        # The rest of the log goes into a file, so that the pipe never fills.
        self.reader = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=self.log)

    def command(self, *arguments):
        return subprocess.run([PROGRAM, self.configuration, *arguments], check=True, capture_output=True,
                              text=True, env=self.environment).stdout.strip()

    def connection(self, port=None):
        if self.tls and port is None:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.tls)
        return http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=30)

    def send(self, method, path, body=None, headers=None, port=None):
        connection = self.connection(port)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, {"Content-Type": "application/json"} | (headers or {}))
        response = connection.getresponse()
        result = response.status, response.read()
        connection.close()
        self.requests += 1
        return result

    def headers(self, method, path):
        connection = self.connection()
        connection.request(method, path)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.headers

    def post(self, path, body, headers=None):
        status, data = self.send("POST", path, body, headers)
        return status, json.loads(data)

    def metric(self, name):
        """A value of the metrics; the server was started with metrics_port = 0."""
        text = self.send("GET", "/metrics", port=self.first["metricsPort"])[1].decode()
        return int(next(line.split()[1] for line in text.splitlines() if line.startswith(f"latchkey_server_{name} ")))

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(20)
        self.reader.wait(20)
        return code

    def written(self):
        self.log.flush()
        return pathlib.Path(self.log.name).read_text()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.log.close()
        self.process.stderr.close()
        self.scratch.cleanup()


class Authority:
    """An authority of its own, and certificates for 127.0.0.1 that it issues."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.certificate, self.key = self.folder / "authority.pem", self.folder / "authority.key"
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                     "-subj", "/CN=authority", "-keyout", self.key, "-out", self.certificate)

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)

    def issue(self, name="server", algorithm=("ec", "-pkeyopt", "ec_paramgen_curve:P-256"), days=2):
        """The values of the configuration: a certificate with its chain, and its key."""
        key, request, certificate = (self.folder / f"{name}.{kind}" for kind in ("key", "request", "pem"))
        self.openssl("req", "-newkey", *algorithm, "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request,
                     "-addext", "subjectAltName=IP:127.0.0.1,IP:::1")
        self.openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-days", str(days),
                     "-copy_extensions", "copy", "-out", certificate)
        certificate.write_text(certificate.read_text() + self.certificate.read_text())
        key.chmod(0o600)
        return {"tls_certificate": certificate, "tls_key_file": key}


class Device:
    """A key pair in a file, and the requests that it signs."""

    def __init__(self, server, user, curve="P-256", options=None):
        """With options of `openssl genpkey`, a key of another algorithm than EC."""
        self.file = f"{server.scratch.name}/{os.urandom(8).hex()}.pem"
        options = options or ("-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:{curve}")
        subprocess.run(["openssl", "genpkey", *options, "-out", self.file], check=True, capture_output=True)
        self.take(server, user, subprocess.run(["openssl", "pkey", "-in", self.file, "-pubout"], check=True,
                                               capture_output=True, text=True).stdout)

    def take(self, server, user, pem):
        """Takes the public half of the key."""
        self.server, self.user, self.pem = server, user, pem
        self.point = subprocess.run(["openssl", "pkey", "-pubin", "-pubout", "-outform", "DER"], check=True,
                                    input=pem.encode(), capture_output=True).stdout[-65:]
        self.id = hashlib.sha256(self.point).digest()

    def sign(self, message):
        return subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.file], input=message, check=True,
                              capture_output=True).stdout

    def proof(self, purpose="login", context="", raw=False):
        status, reply = self.server.post(
            "/v1/challenges", {"user": self.user, "key": text(self.id), "purpose": purpose, "context": context})
        assert status == 200, reply
        challenge = challenge_bytes(reply["challenge"])
        message = challenge if raw else (
            b"latchkey relying party 1\0" + counted(self.server.party.encode()) + bytes([PURPOSES[purpose]])
            + counted(self.user.encode()) + counted(self.id) + counted(context.encode()) + counted(challenge))
        self.signed = message
        return {"user": self.user, "key": text(self.id), "challenge": text(challenge),
                "signature": text(self.sign(message))}

    def registration(self, code, raw=False):
        return self.proof("register", raw=raw) | {
            "publicKey": {"format": "pem", "value": self.pem}, "form": "raw" if raw else "bound", "tier": "user",
            "device": "test", "enrollmentCode": code}

    def register(self, raw=False):
        code = self.server.command("code", self.user)
        status, reply = self.server.post("/v1/keys", self.registration(code, raw))
        assert status == 201, reply
        return self

    def registration_by(self, session_key, device=""):
        """The body that registers this key within a session of another one."""
        proof = self.proof("register")
        return proof | {"publicKey": {"format": "pem", "value": self.pem}, "form": "bound", "tier": "user",
                        "device": device, "sessionSignature": text(session_key.sign(self.signed))}

    def sign_in(self, raw=False):
        return self.server.post("/v1/sessions", self.proof(raw=raw))


def sign_in_request(proof, headers=""):
    """The bytes of a request, for a client that does not wait for the reply."""
    body = json.dumps(proof).encode()
    return f"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{headers}" \
           f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def stop_while_signing_in(server, device):
    """Sends SIGTERM while eight requests are answered. Returns how many were acknowledged, and how many are stored."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        proofs = [device.proof() for _ in range(8)]
        sent = [pool.submit(server.post, "/v1/sessions", proof) for proof in proofs]
        concurrent.futures.wait(sent, return_when=concurrent.futures.FIRST_COMPLETED)
        assert server.stop() == 0
        acknowledged = sum(1 for reply in sent if reply.exception() is None and reply.result()[0] == 201)
    with contextlib.closing(sqlite3.connect(server.folder / "server.sqlite")) as database:
        return acknowledged, database.execute("SELECT count(*) FROM sessions").fetchone()[0]


@contextlib.contextmanager
def waiting_sign_ins(server, count):
    """Another writer, and the replies to sign-ins that wait for it; the server answers one at a time."""
    devices = [Device(server, f"user {number}").register() for number in range(count)]
    proofs = [device.proof() for device in devices]
    other = sqlite3.connect(server.folder / "server.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with contextlib.closing(other), concurrent.futures.ThreadPoolExecutor(count) as pool:
        yield other, [pool.submit(server.post, "/v1/sessions", proof) for proof in proofs]
