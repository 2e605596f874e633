# SPDX-License-Identifier: Apache-2.0
"""A key of Latchkey in a software TPM, made and proven by the command `latchkey`, and a running server."""
import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from server import Device, Server, text, wait_until
from tpm import TPM, certified_state, decoded

PROGRAMS = os.environ["LATCHKEY_PROGRAMS"]


class Keychain:
    """A keychain on a simulated machine, whose keys are in a software TPM."""

    def __init__(self, tpm):
        self.folder = tempfile.TemporaryDirectory()
        self.home = pathlib.Path(self.folder.name) / "keychain"
        self.home.mkdir(mode=0o700)
        (self.home / "latchkeyd.conf").write_text(f"tier = simulated\nenclave = tpm\ntpm = {tpm.path}\n")
        self.environment = os.environ | {"LATCHKEY_HOME": str(self.home), "LATCHKEY_DAEMON": f"{PROGRAMS}/latchkeyd"}
        self.command("sim", "enroll")
        self.command("sim", "passcode", "set", data=b"1234\n")

    def command(self, *arguments, data=b""):
        done = subprocess.run([f"{PROGRAMS}/latchkey", *arguments], input=data, capture_output=True, timeout=60,
                              env=self.environment)
        assert done.returncode == 0, (arguments, done.stderr.decode())
        return done.stdout

    def close(self):
        process = json.loads(self.command("status", "--json"))["process"]
        self.command("sim", "stop")
        # The daemon removes its socket before it ends.
        assert wait_until(lambda: not pathlib.Path(f"/proc/{process}").exists()), "the daemon does not end"
        self.folder.cleanup()


class KeychainKey(Device):
    """A key that needs a finger for each use."""

    def __init__(self, server, user, keychain):
        self.keychain = keychain
        keychain.command("key", "create", user, "--enclave", "--protect", "current-set")
        self.take(server, user, keychain.command("key", "public", user).decode())

    def sign(self, message):
        self.keychain.command("sim", "touch")
        return self.keychain.command("key", "sign", self.user, data=message)

    def attested_registration(self, code):
        """As docs/reference/relying-party.md has it, with the commands of the device."""
        party = self.server.party
        # The prompt says that the relying party can recognise the device.
        self.keychain.command("sim", "touch")
        request = self.keychain.command("key", "enroll", party)
        status, begun = self.server.post("/v1/attestations", {"user": self.user, "request": text(request)})
        assert status == 200, begun
        answer = self.keychain.command("key", "answer", party, data=decoded(begun["challenge"]))
        body = self.registration(code) | {"tier": "tpm"}
        nonce = hashlib.sha256(b"latchkey attestation nonce 1\0" + self.signed).hexdigest()
        self.keychain.command("sim", "touch")
        proof = self.keychain.command("key", "attest", self.user, "--party", party, "--nonce", nonce)
        return body | {"attestation": {"enrolment": begun["enrolment"], "answer": text(answer), "proof": text(proof)}}


class KeychainTests(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        state, self.roots = certified_state(folder)
        tpm = TPM(state)
        self.addCleanup(tpm.close)
        # The daemon takes its place: swtpm serves one client at a time.
        tpm.socket.close()
        self.keychain = Keychain(tpm)
        self.addCleanup(self.keychain.close)

    def test_a_key_of_the_keychain_is_registered_with_evidence_and_signs_in_with_a_finger(self):
        server = self.enterContext(Server(ek_roots=self.roots, virtual_tpm="allow", minimum_tier="tpm"))
        key = KeychainKey(server, "ada", self.keychain)
        status, reply = server.post("/v1/keys", key.attested_registration(server.command("code", "ada")))
        self.assertEqual((status, reply.get("proven"), reply.get("claimed")),
                         (201, {"device": "virtual-tpm", "model": ""},
                          {"tier": "tpm", "userVerification": "approval"}))
        status, session = key.sign_in()
        self.assertEqual(status, 201)
        status, reply = server.send("GET", "/v1/session", headers={"Authorization": "Bearer " + session["token"]})
        self.assertEqual((status, json.loads(reply)["user"]), (200, "ada"))

    def test_evidence_about_one_key_does_not_register_another(self):
        server = self.enterContext(Server(ek_roots=self.roots, virtual_tpm="allow", minimum_tier="tpm"))
        key = KeychainKey(server, "ada", self.keychain)
        evidence = key.attested_registration(server.command("code", "ada"))["attestation"]
        other = Device(server, "ada")
        body = other.registration(server.command("code", "ada")) | {"tier": "tpm", "attestation": evidence}
        self.assertEqual(server.post("/v1/keys", body)[0], 401)
