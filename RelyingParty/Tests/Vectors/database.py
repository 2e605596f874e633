#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small databases of each version as SQL, from docs/relying-party.md and not from the server's code.

Each later version has to read them. The files of a version that was released are never made again in another way.
usage: database.py [folder]
"""
import hashlib
import pathlib
import struct
import sys

START = 1_800_000_000
# The base point of P-256 (SEC 2, section 2.4.2): a key of which only the public part matters here.
POINT = bytes.fromhex("04"
                      "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
                      "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
KEY = hashlib.sha256(POINT).digest()
OTHER = bytes(range(32))
TOKEN = bytes([7]) * 32
NONCE = bytes([9]) * 32

SQLITE = """
CREATE TABLE keys (id BLOB PRIMARY KEY, user TEXT NOT NULL, device TEXT NOT NULL, point BLOB NOT NULL,
    raw INTEGER NOT NULL, tier TEXT NOT NULL, created INTEGER NOT NULL, revoked INTEGER) STRICT;
CREATE INDEX keys_user ON keys (user);
CREATE TABLE codes (user TEXT PRIMARY KEY, code BLOB NOT NULL, expiry INTEGER NOT NULL, tries INTEGER NOT NULL) STRICT;
CREATE TABLE sessions (token BLOB PRIMARY KEY, key BLOB NOT NULL REFERENCES keys (id), created INTEGER NOT NULL,
    used INTEGER NOT NULL, expiry INTEGER NOT NULL) STRICT;
CREATE INDEX sessions_key ON sessions (key);
CREATE TABLE audit (number INTEGER PRIMARY KEY, time INTEGER NOT NULL, event TEXT NOT NULL, user TEXT NOT NULL,
    key BLOB NOT NULL, detail TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE epochs (epoch INTEGER PRIMARY KEY) STRICT;
CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
INSERT INTO marks VALUES ('dropped', -1);
CREATE TABLE spent_500000 (nonce BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
"""

POSTGRESQL = """
CREATE TABLE keys (id BYTEA PRIMARY KEY, "user" TEXT NOT NULL, device TEXT NOT NULL, point BYTEA NOT NULL,
    raw BIGINT NOT NULL, tier TEXT NOT NULL, created BIGINT NOT NULL, revoked BIGINT);
CREATE INDEX keys_user ON keys ("user");
CREATE TABLE codes ("user" TEXT PRIMARY KEY, code BYTEA NOT NULL, expiry BIGINT NOT NULL, tries BIGINT NOT NULL);
CREATE TABLE sessions (token BYTEA PRIMARY KEY, key BYTEA NOT NULL REFERENCES keys (id), created BIGINT NOT NULL,
    used BIGINT NOT NULL, expiry BIGINT NOT NULL);
CREATE INDEX sessions_key ON sessions (key);
CREATE TABLE audit (node TEXT NOT NULL, number BIGINT NOT NULL, time BIGINT NOT NULL, event TEXT NOT NULL,
    "user" TEXT NOT NULL, key BYTEA NOT NULL, detail TEXT NOT NULL, hash BYTEA NOT NULL, PRIMARY KEY (node, number));
CREATE TABLE nodes (node TEXT PRIMARY KEY, signed BIGINT NOT NULL);
CREATE TABLE epochs (epoch BIGINT PRIMARY KEY);
CREATE TABLE marks (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO marks VALUES ('dropped', -1), ('accepted', 0), ('version', 1);
CREATE TABLE server (identity TEXT NOT NULL);
CREATE TABLE spent (epoch BIGINT NOT NULL, nonce BYTEA NOT NULL, PRIMARY KEY (epoch, nonce)) PARTITION BY LIST (epoch);
CREATE TABLE spent_500000 (epoch BIGINT NOT NULL DEFAULT 500000 CHECK (epoch = 500000), nonce BYTEA NOT NULL,
    PRIMARY KEY (epoch, nonce));
ALTER TABLE spent ATTACH PARTITION spent_500000 FOR VALUES IN (500000);
INSERT INTO nodes VALUES ('a', 500000), ('b', 500000);
"""

# Version 2 has counters, frozen keys, proofs of TPMs, pseudonyms, keys of deleted users, chains of nodes, and two rows that
# no user has: a key, and a code.
KEYS_2 = ("keys", ["id BLOB PRIMARY KEY", "user TEXT NOT NULL", "device TEXT NOT NULL", "point BLOB NOT NULL",
                   "raw INTEGER NOT NULL", "tier TEXT NOT NULL", "created INTEGER NOT NULL", "revoked INTEGER",
                   "counter INTEGER", "frozen INTEGER", "unfrozen INTEGER", "attested TEXT NOT NULL DEFAULT 'none'",
                   "model TEXT NOT NULL DEFAULT ''", "chip BLOB NOT NULL DEFAULT X''",
                   "verification TEXT NOT NULL DEFAULT ''"])
TABLES_2 = [
    KEYS_2,
    ("codes", ["user TEXT PRIMARY KEY", "code BLOB NOT NULL", "expiry INTEGER NOT NULL", "tries INTEGER NOT NULL"]),
    ("sessions", ["token BLOB PRIMARY KEY", "key BLOB NOT NULL REFERENCES keys (id)", "created INTEGER NOT NULL",
                  "used INTEGER NOT NULL", "expiry INTEGER NOT NULL"]),
    ("audit", ["node TEXT NOT NULL", "number INTEGER NOT NULL", "time INTEGER NOT NULL", "event TEXT NOT NULL",
               "user TEXT NOT NULL", "key BLOB NOT NULL", "detail TEXT NOT NULL", "hash BLOB NOT NULL",
               "PRIMARY KEY (node, number)"]),
    ("nodes", ["node TEXT PRIMARY KEY", "signed INTEGER NOT NULL"]),
    ("epochs", ["epoch INTEGER PRIMARY KEY"]),
    ("marks", ["name TEXT PRIMARY KEY", "value INTEGER NOT NULL"]),
    ("retired", ["id BLOB PRIMARY KEY"]),
    ("users", ["user TEXT PRIMARY KEY", "pseudonym TEXT NOT NULL UNIQUE"])]
PSEUDONYM = "AAECAwQFBgcICQoLDA0ODw"
THIRD = bytes(range(100, 132))

# Version 3 has passkeys, administrators, sessions of browsers, and the codes that open one.
TABLES_3 = [
    (name, columns + ["browser INTEGER NOT NULL DEFAULT 0"] if name == "sessions" else columns)
    for name, columns in TABLES_2] + [
    ("passkeys", ["credential BLOB PRIMARY KEY", "key BLOB NOT NULL UNIQUE REFERENCES keys (id)", "handle BLOB NOT NULL",
                  "authenticator BLOB NOT NULL", "attestation TEXT NOT NULL", "synced INTEGER NOT NULL"]),
    ("administrators", ["user TEXT PRIMARY KEY"]),
    ("browser_codes", ["code BLOB PRIMARY KEY", "key BLOB NOT NULL REFERENCES keys (id)", "expiry INTEGER NOT NULL"])]
WITHOUT_ROWID = {2: ("audit", "retired"),
                 3: ("audit", "retired", "sessions", "passkeys", "administrators", "browser_codes")}
INDEXES = {2: 'CREATE INDEX keys_user ON keys ("user");\nCREATE INDEX sessions_key ON sessions (key);\n',
           3: 'CREATE INDEX keys_user ON keys ("user", created, id);\n'
              'CREATE INDEX sessions_key ON sessions (key, created, token);\n'
              'CREATE INDEX sessions_created ON sessions (created, token);\n'}
PASSKEY = bytes(range(50, 82))
OTHER_PSEUDONYM = "EBESExQVFhcYGRobHB0eHw"
BROWSER_TOKEN = bytes([8]) * 32
BROWSER_CODE = bytes([6]) * 32


def counted(data):
    return struct.pack(">H", len(data)) + data


def chain(node, rows):
    """The rows of a chain with their numbers and hashes."""
    before = bytes(32)
    for number, (time, event, user, key, detail) in enumerate(rows, 1):
        label = b"latchkey audit 2\0" + counted(node.encode()) if node else b"latchkey audit 1\0"
        fields = counted(event.encode()) + counted(user.encode()) + counted(key) + counted(detail.encode())
        before = hashlib.sha256(label + before + struct.pack(">QQ", number, time) + fields).digest()
        yield number, time, event, user, key, detail, before


def value(value, blob):
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return blob % value.hex()
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def inserts(table, rows, blob):
    for row in rows:
        yield f"INSERT INTO {table} VALUES ({', '.join(value(cell, blob) for cell in row)});\n"


def database(dialect, blob, chains):
    text = dialect.lstrip()
    for table, rows in (
            ("keys", [(KEY, "Jürgen", "phone", POINT, 0, "user", START - 50, None),
                      (OTHER, "Jürgen", "lost", POINT, 1, "file", START - 40, START - 30)]),
            ("codes", [("ada", bytes(32), START + 600, 2)]),
            ("sessions", [(hashlib.sha256(TOKEN).digest(), KEY, START - 10, START - 5, START + 40000)]),
            ("epochs", [(500000,)])):
        text += "".join(inserts(table, rows, blob))
    text += "".join(inserts("spent_500000 (nonce)", [(NONCE,)], blob))
    for node, rows in chains:
        rows = [(node, *row) if node else row for row in rows]
        text += "".join(inserts("audit", rows, blob))
    return text


def tables(version, isPostgreSQL):
    """The tables of a version, without those of nonces."""
    for name, columns in TABLES_2 if version == 2 else TABLES_3:
        text, end = ", ".join(columns), ""
        if isPostgreSQL:
            text = (text.replace("BLOB", "BYTEA").replace("INTEGER", "BIGINT").replace("X''", "''")
                    .replace("user TEXT", '"user" TEXT'))
        else:
            end = " STRICT" + (", WITHOUT ROWID" if name in WITHOUT_ROWID[version] else "")
        yield f"CREATE TABLE {name} ({text}){end};\n"
    yield INDEXES[version]


def later(version, isPostgreSQL):
    """A database of version 2 or 3, with two chains of the audit log if there are nodes."""
    blob = "'\\x%s'" if isPostgreSQL else "x'%s'"
    unproven = ["none", "", b"", ""]
    rows = [(START - 60, "code", PSEUDONYM, b"", ""), (START - 50, "register", PSEUDONYM, KEY, "user, attested tpm"),
            (START - 10, "login", PSEUDONYM, KEY, "")]
    sessions = [(hashlib.sha256(TOKEN).digest(), KEY, START - 10, START - 5, START + 40000)]
    if version == 3:
        rows.append((START - 8, "administrator", OTHER_PSEUDONYM, b"", "added"))
        sessions = [(*sessions[0], 0),
                    (hashlib.sha256(BROWSER_TOKEN).digest(), PASSKEY, START - 7, START - 5, START + 3000, 1)]
    text = "".join(tables(version, isPostgreSQL))
    if isPostgreSQL:
        other = list(chain("b", rows[1:]))
        chains = [("a", list(chain("a", [rows[0], (START - 5, "head", "", other[-1][-1], f"{len(other)} b")]))),
                  ("b", other)]
        lines = POSTGRESQL.strip().split("\n")
        text += "".join(line + "\n" for line in lines[lines.index("CREATE TABLE server (identity TEXT NOT NULL);"):])
        marks = [("dropped", -1), ("accepted", 0), ("version", version), ("ready", 1)]
    else:
        chains = [("", list(chain("", rows)))]
        text += "CREATE TABLE spent_500000 (nonce BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;\n"
        text += "".join(inserts("nodes", [("", 0)], blob))
        marks = [("dropped", -1), ("accepted", 0), ("ready", 1)]
    for table, values in ((
            ("marks", marks),
            ("keys", [
                (bytes(32), "", "", POINT, 0, "simulated", 0, 0, None, None, None, *unproven),
                (KEY, "J\u00fcrgen", "phone", POINT, 0, "user", START - 50, None, 41, None, None, "tpm", "id:1 CHIP",
                 bytes(range(32)), "approval"),
                (OTHER, "J\u00fcrgen", "lost", POINT, 1, "file", START - 40, START - 30, None, None, None, *unproven),
                (THIRD, "J\u00fcrgen", "copied", POINT, 0, "user", START - 40, None, 7, START - 20, START - 30,
                 *unproven)]),
            ("codes", [("", b"", 0, 1), ("ada", bytes(32), START + 600, 2)]),
            ("keys", [(PASSKEY, "Grace", "browser", POINT, 2, "user", START - 20, None, 9, None, None, *unproven)]
             if version == 3 else []),
            ("sessions", sessions),
            ("epochs", [(500000,)]), ("spent_500000 (nonce)", [(NONCE,)]), ("retired", [(bytes([5]) * 32,)]),
            ("users", [("J\u00fcrgen", PSEUDONYM)]),
            ("audit", [(node, *row) for node, rows in chains for row in rows])) + (() if version == 2 else (
            ("users", [("Grace", OTHER_PSEUDONYM)]), ("administrators", [("Grace",)]),
            ("passkeys", [(bytes(range(200, 216)), PASSKEY, bytes(range(32, 64)), bytes(16), "self", 1)]),
            ("browser_codes", [(hashlib.sha256(BROWSER_CODE).digest(), PASSKEY, START + 50)])))):
        text += "".join(inserts(table, values, blob))
    return text + ("" if isPostgreSQL else f"PRAGMA user_version = {version};\n")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    rows = [(START - 60, "code", "Jürgen", b"", ""), (START - 50, "register", "Jürgen", KEY, "user"),
            (START - 10, "login", "Jürgen", KEY, "")]
    (folder / "sqlite-1.sql").write_text(
        database(SQLITE, "x'%s'", [("", list(chain("", rows)))]) + "PRAGMA user_version = 1;\n")
    last = list(chain("b", rows[1:]))
    first = list(chain("a", [rows[0], (START - 5, "head", "", last[-1][-1], "2 b")]))
    (folder / "postgresql-1.sql").write_text(database(POSTGRESQL, "'\\x%s'", [("a", first), ("b", last)]))
    for version in (2, 3):
        (folder / f"sqlite-{version}.sql").write_text(later(version, False))
        (folder / f"postgresql-{version}.sql").write_text(later(version, True))


main()
