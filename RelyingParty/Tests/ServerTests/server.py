# SPDX-License-Identifier: Apache-2.0
"""A latchkey-server in a folder of its own, and a client that signs with the command openssl."""
import base64
import hashlib
import http.client
import json
import os
import pathlib
import signal
import struct
import subprocess
import tempfile

PROGRAM = os.environ["LATCHKEY_SERVER"]
PURPOSES = {"login": 1, "step-up": 2, "register": 3, "rotate": 4, "revoke": 5}


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def counted(data):
    return struct.pack(">H", len(data)) + data


class Server:
    def __init__(self, folder=None, environment=None, **settings):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(folder or self.scratch.name)
        secret = self.folder / "secret"
        if not secret.exists():
            secret.write_text(os.urandom(32).hex())
            secret.chmod(0o600)
        values = {"relying_party_id": "example.com", "port": 0, "database": self.folder / "server.sqlite",
                  "secret_file": secret} | settings
        self.environment = os.environ | (environment or {})
        self.party = values["relying_party_id"]
        self.configuration = pathlib.Path(self.scratch.name) / "server.conf"
        self.configuration.write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
        self.log = open(pathlib.Path(self.scratch.name) / "log", "w+")
        self.process = subprocess.Popen([PROGRAM, self.configuration, "serve"], stderr=subprocess.PIPE,
                                        env=self.environment)
        self.first = json.loads(self.process.stderr.readline())
        self.port = self.first["port"]
        # The rest of the log goes into a file, so that the pipe never fills.
        self.reader = subprocess.Popen(["cat"], stdin=self.process.stderr, stdout=self.log)

    def command(self, *arguments):
        return subprocess.run([PROGRAM, self.configuration, *arguments], check=True, capture_output=True,
                              text=True, env=self.environment).stdout.strip()

    def send(self, method, path, body=None, headers=None, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, data, {"Content-Type": "application/json"} | (headers or {}))
        response = connection.getresponse()
        result = response.status, response.read()
        connection.close()
        return result

    def headers(self, method, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.headers

    def post(self, path, body, headers=None):
        status, data = self.send("POST", path, body, headers)
        return status, json.loads(data)

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


class Device:
    """A key pair in a file, and the requests that it signs."""

    def __init__(self, server, user, curve="P-256"):
        self.server, self.user = server, user
        self.file = f"{server.scratch.name}/{os.urandom(8).hex()}.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", f"ec_paramgen_curve:{curve}", "-out",
                        self.file], check=True, capture_output=True)
        self.pem = subprocess.run(["openssl", "pkey", "-in", self.file, "-pubout"], check=True, capture_output=True,
                                  text=True).stdout
        self.point = subprocess.run(["openssl", "pkey", "-in", self.file, "-pubout", "-outform", "DER"], check=True,
                                    capture_output=True).stdout[-65:]
        self.id = hashlib.sha256(self.point).digest()

    def sign(self, message):
        return subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.file], input=message, check=True,
                              capture_output=True).stdout

    def proof(self, purpose="login", context="", raw=False):
        status, reply = self.server.post(
            "/v1/challenges", {"user": self.user, "key": text(self.id), "purpose": purpose, "context": context})
        assert status == 200, reply
        challenge = base64.urlsafe_b64decode(reply["challenge"] + "==")
        message = challenge if raw else (
            b"latchkey relying party 1\0" + counted(self.server.party.encode()) + bytes([PURPOSES[purpose]])
            + counted(self.user.encode()) + counted(self.id) + counted(context.encode()) + counted(challenge))
        self.signed = message
        return {"user": self.user, "key": text(self.id), "challenge": text(challenge),
                "signature": text(self.sign(message))}

    def registration(self, code, raw=False):
        return self.proof("register", raw=raw) | {
            "publicKey": {"format": "pem", "value": self.pem}, "form": "raw" if raw else "bound", "tier": "user",
            "device": "test", "enrolmentCode": code}

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
