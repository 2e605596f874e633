# SPDX-License-Identifier: Apache-2.0
"""What a team would write today: Flask, SQLite and PyPI's webauthn, with the same rows for a sign-in.

A challenge is signed and names its time, as that of latchkey-server, so that issuing one stores nothing.
"""
import hashlib
import hmac
import os
import sqlite3
import struct
import threading
import time

from flask import Flask, jsonify, request
from webauthn import base64url_to_bytes, verify_authentication_response
from webauthn.helpers import bytes_to_base64url

app = Flask(__name__)
SECRET = bytes.fromhex(os.environ["BENCH_SECRET"])
PATH = os.environ["BENCH_DATABASE"]
local = threading.local()


def database():
    if not hasattr(local, "connection"):
        local.connection = sqlite3.connect(PATH, isolation_level=None, timeout=10)
        local.connection.execute("PRAGMA synchronous = FULL")
    return local.connection


def code(body):
    return hmac.digest(SECRET, body, "sha256")


@app.post("/v1/challenges")
def issue():
    body = struct.pack(">Q", int(time.time()) + 60) + os.urandom(32)
    return jsonify(challenge=bytes_to_base64url(body + code(body)))


@app.post("/v1/sessions")
def sign_in():
    document = request.get_json()
    challenge = base64url_to_bytes(document["challenge"])
    body = challenge[:-32]
    if not hmac.compare_digest(code(body), challenge[-32:]) or struct.unpack(">Q", body[:8])[0] <= time.time():
        return jsonify(title="refused"), 401
    row = database().execute("SELECT user, public_key FROM keys WHERE id = ? AND revoked IS NULL",
                             (document["credential"]["id"],)).fetchone()
    if row is None:
        return jsonify(title="refused"), 401
    verify_authentication_response(
        credential=document["credential"], expected_challenge=challenge, expected_rp_id="example.com",
        expected_origin="https://example.com", credential_public_key=row[1], credential_current_sign_count=0)
    token, now = os.urandom(32), int(time.time())
    connection = database()
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("INSERT INTO spent (nonce) VALUES (?)", (body[8:],))
        connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?)",
                           (hashlib.sha256(token).digest(), document["credential"]["id"], now, now, now + 43200))
        number, previous = connection.execute(
            "SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1").fetchone() or (0, bytes(32))
        record = struct.pack(">QQ", number + 1, now) + b"login" + row[0].encode()
        connection.execute("INSERT INTO audit VALUES (?, ?, 'login', ?, ?, '', ?)",
                           (number + 1, now, row[0], document["credential"]["id"],
                            hashlib.sha256(previous + record).digest()))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return jsonify(token=bytes_to_base64url(token)), 201
