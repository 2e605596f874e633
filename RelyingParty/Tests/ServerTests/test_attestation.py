# SPDX-License-Identifier: Apache-2.0
"""Tests of a running server with keys in software TPMs, whose certificates say that they are chips or virtual."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from server import PROGRAM, Device, Server, text, wait_until
from test_server import REFUSED
from tpm import EC_EK, RSA_EK, TPM, Maker, TPMDevice, certified_state, decoded


class AttestationTests(unittest.TestCase):
    """Each test has a maker, whose root the server trusts, and a chip of it."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.maker = Maker(self.folder)
        self.tpm = TPM()
        self.addCleanup(self.tpm.close)

    def serve(self, **settings):
        return self.enterContext(Server(**({"ek_roots": self.maker.roots, "minimum_tier": "tpm"} | settings)))

    def device(self, server, user="ada", **names):
        return TPMDevice(server, user, self.tpm, lambda public: [self.maker.certify(public, **names)])

    def assertRefused(self, server, body, reason):
        self.assertEqual(server.post("/v1/keys", body), (401, REFUSED))
        self.assertIn(f'"reason":"{reason}"', self.last_line(server))

    def last_line(self, server):
        """The line of the log about the last request; the log is written before the reply is sent."""
        def lines():
            return [line for line in server.written().splitlines() if '"event":"request"' in line]

        self.assertTrue(wait_until(lambda: len(lines()) >= server.requests))
        return lines()[-1]

    def test_a_key_in_a_chip_is_proven_and_its_user_verification_is_claimed(self):
        server = self.serve()
        device = self.device(server)
        status, reply = server.post("/v1/keys", device.attested_registration(server.command("code", "ada")))
        shown = {"proven": {"device": "tpm", "model": "id:49465800 SLB9670"},
                 "claimed": {"tier": "tpm", "userVerification": "approval"}}
        self.assertEqual((status, reply), (201, {"key": text(device.id)} | shown))
        status, session = device.sign_in()
        self.assertEqual(status, 201)
        status, reply = server.send("GET", "/v1/session", headers={"Authorization": "Bearer " + session["token"]})
        reply = json.loads(reply)
        self.assertEqual({name: reply[name] for name in shown}, shown)
        listed = json.loads(server.command("keys", "ada", "--json"))
        self.assertEqual([key["proven"]["device"] for key in listed], ["tpm"])
        self.assertEqual(listed[0]["claimed"], shown["claimed"])
        lines = server.command("keys", "ada").splitlines()
        self.assertIn('    proven:  tpm "id:49465800 SLB9670"', lines)
        self.assertIn("    claimed: tier tpm, user verification approval", lines)

    def test_abuse46_a_tier_that_is_only_declared_is_refused(self):
        server = self.serve()
        device = self.device(server)
        code = server.command("code", "ada")
        body = device.registration(code) | {"tier": "tpm"}
        self.assertRefused(server, body, "tierTooLow")
        self.assertRefused(server, Device(server, "ada").registration(code) | {"tier": "tpm"}, "tierTooLow")
        self.assertEqual(server.post("/v1/keys", device.attested_registration(code))[0], 201)

    def test_abuse46_a_virtual_tpm_is_refused_unless_it_is_allowed(self):
        """The certificate is the one that swtpm_setup makes; its authority is among the roots."""
        state, roots = certified_state(self.folder)
        tpm = TPM(state)
        self.addCleanup(tpm.close)
        for setting in ("refuse", "allow"):
            server = self.serve(ek_roots=roots, virtual_tpm=setting)
            device = TPMDevice(server, "ada", tpm, [tpm.certificate()], RSA_EK)
            body = device.attested_registration(server.command("code", "ada"))
            if setting == "refuse":
                self.assertRefused(server, body, "virtualDevice")
                # Without the evidence it is a declared tier, and no better.
                del body["attestation"]
                self.assertRefused(server, body, "tierTooLow")
            else:
                status, reply = server.post("/v1/keys", body)
                self.assertEqual((status, reply["proven"]), (201, {"device": "virtual-tpm", "model": ""}))
                self.assertEqual(device.sign_in()[0], 201)
            for handle in (device.key, device.attestation_key):
                tpm.flush(handle)

    def test_abuse46_the_names_of_swtpm_make_a_device_virtual(self):
        server = self.serve()
        for names in ({"manufacturer": "id:00001014"}, {"model": "swtpm"}):
            device = self.device(server, **names)
            self.assertRefused(server, device.attested_registration(server.command("code", "ada")), "virtualDevice")
            for handle in (device.key, device.attestation_key):
                self.tpm.flush(handle)

    def test_devices_of_other_makers_and_certificates_for_other_purposes_do_not_enrol(self):
        server = self.serve()
        other = Maker(self.folder)
        for certificates in (lambda public: [other.certify(public)],
                             lambda public: [self.maker.certify(public, usage="serverAuth")],
                             [self.foreign(server)], []):
            device = TPMDevice(server, "ada", self.tpm, certificates)
            self.assertEqual(device.begin(), (401, REFUSED))
            self.assertIn('"reason":"untrustedDevice"', self.last_line(server))
            for handle in (device.key, device.attestation_key):
                self.tpm.flush(handle)

    def test_endorsement_certificates_have_the_extensions_of_their_profile(self):
        """"TCG EK Credential Profile", section 3.2; issuers by RFC 5280, sections 4.2.1.3 and 4.2.1.9."""
        server = self.serve()
        entity, authority = "basicConstraints = critical,CA:FALSE\n", "basicConstraints = critical,CA:TRUE\n"
        for template, usage, other in ((EC_EK, "keyAgreement", "keyEncipherment"),
                                       (RSA_EK, "keyEncipherment", "keyAgreement")):
            for permissions, is_accepted in (
                    (entity + f"keyUsage = critical,{usage}", True), (authority + f"keyUsage = critical,{usage}", False),
                    (f"keyUsage = critical,{usage}", False), (entity, False), (entity + f"keyUsage = {other}", False),
                    (entity + f"keyUsage = {usage},keyCertSign", False), (entity + f"keyUsage = {usage},cRLSign", False),
                    (entity + "keyUsage = digitalSignature", False)):
                self.enroll(server, lambda public: [self.maker.certify(public, permissions=permissions)], is_accepted,
                           template)
        signing = "keyUsage = critical,keyCertSign"
        for permissions, is_accepted in ((authority + signing, True), (authority, False), (signing, False),
                                         (entity + signing, False),
                                         (authority + "keyUsage = critical,digitalSignature", False)):
            issuer, der = self.maker.make_issuer(permissions)
            self.enroll(server, lambda public: [self.maker.certify(public, issuer=issuer), der], is_accepted)

    def enroll(self, server, certificates, is_accepted, template=EC_EK):
        device = TPMDevice(server, "ada", self.tpm, certificates, template)
        if is_accepted:
            self.assertEqual(device.begin()[0], 200)
        else:
            self.assertEqual(device.begin(), (401, REFUSED))
            self.assertIn('"reason":"untrustedDevice"', self.last_line(server))
        for handle in (device.key, device.attestation_key):
            self.tpm.flush(handle)

    def foreign(self, server):
        """A certificate of the trusted maker for another endorsement key."""
        stranger = Device(server, "eve").point
        return self.maker.certify(b"\0\x20" + stranger[1:33] + b"\0\x20" + stranger[33:])

    def test_evidence_is_for_one_key_challenge_user_and_relying_party(self):
        server = self.serve()
        device = self.device(server)
        code = server.command("code", "ada")
        status, begun = device.begin()
        self.assertEqual(status, 200)
        answer = device.answer(decoded(begun["challenge"]))
        body = device.registration(code) | {"tier": "tpm"}
        good = device.evidence(begun["enrolment"], answer)
        signed = device.signed

        # Another challenge: the statement was made for the registration before.
        other = device.registration(code) | {"tier": "tpm"}
        self.assertRefused(server, other | {"attestation": good}, "statement")

        # Another relying party: the same message with another name.
        party = signed.replace(b"\0\x0bexample.com", b"\0\x0bexample.org")
        self.assertNotEqual(party, signed)
        self.assertRefused(server, body | {"attestation": device.evidence(begun["enrolment"], answer, party)},
                           "statement")

        # Another key: one that is not in the TPM, with a statement for its own challenge about the key that is.
        outside = Device(server, "ada")
        claimed = outside.registration(code) | {"tier": "tpm"}
        evidence = device.evidence(begun["enrolment"], answer, outside.signed)
        self.assertRefused(server, claimed | {"attestation": evidence}, "otherKey")

        # Another user: the enrolment was begun for someone else.
        status, foreign = device.begin("eve")
        self.assertEqual(status, 200)
        foreign_answer = device.answer(decoded(foreign["challenge"]))
        self.assertRefused(server, body | {"attestation": good | {
            "enrolment": foreign["enrolment"], "answer": text(foreign_answer)}}, "enrolment")

        # Another secret, another enrolment, and each byte of the sealed one.
        self.assertRefused(server, body | {"attestation": good | {"answer": text(foreign_answer)}}, "enrolment")
        sealed = decoded(begun["enrolment"])
        for index in (1, 8, 9, 21, len(sealed) // 2, len(sealed) - 1):
            changed = sealed[:index] + bytes([sealed[index] ^ 1]) + sealed[index + 1:]
            self.assertRefused(server, body | {"attestation": good | {"enrolment": text(changed)}}, "enrolment")

        # The signature of the statement, and the authority that the policy names.
        proof = decoded(good["proof"])
        for offset, reason in ((-131, "statement"), (-2, "otherKey")):
            changed = bytearray(proof)
            changed[offset] ^= 1
            self.assertRefused(server, body | {"attestation": good | {"proof": text(bytes(changed))}}, reason)

        # Each of these failed alone, and none of them spent the challenge or the code.
        self.assertEqual(server.post("/v1/keys", body | {"attestation": good})[0], 201)
        self.assertEqual(server.post("/v1/keys", body | {"attestation": good}), (401, REFUSED))

    def test_the_attestation_key_of_another_tpm_does_not_enrol(self):
        server = self.serve()
        device, tpm = self.device(server), TPM()
        self.addCleanup(tpm.close)
        foreign = TPMDevice(server, "ada", tpm, [])
        # The endorsement key of one TPM with the attestation key of another: no TPM answers the challenge.
        length = len(device.attestation_area)
        device.request = device.request[:-length] + foreign.attestation_area
        status, reply = device.begin()
        self.assertEqual(status, 200)
        for holder in (device, foreign):
            with self.assertRaises(AssertionError):
                holder.answer(decoded(reply["challenge"]))

    def test_evidence_is_refused_without_roots_and_in_another_form(self):
        with Server() as server:
            device = self.device(server)
            self.assertEqual(device.begin(), (401, REFUSED))
            body = device.registration(server.command("code", "ada"))
            evidence = device.evidence(text(bytes(100)), b"\1\3\0\0")
            self.assertRefused(server, body | {"attestation": evidence}, "attestationOff")
            for wrong in ({}, {"enrolment": ""}, evidence | {"more": ""}, evidence | {"proof": "="}, "", []):
                self.assertEqual(server.post("/v1/keys", body | {"attestation": wrong})[0], 400)

    def test_a_rotated_key_is_proven_as_well(self):
        server = self.serve()
        old = self.device(server)
        body = old.attested_registration(server.command("code", "ada"))
        self.assertEqual(server.post("/v1/keys", body)[0], 201)
        tpm = TPM()
        self.addCleanup(tpm.close)
        new = TPMDevice(server, "ada", tpm, lambda public: [self.maker.certify(public)])
        proof = old.proof("rotate", "tpm:" + text(new.id))
        body = proof | {"publicKey": {"format": "pem", "value": new.pem}, "tier": "tpm",
                        "newSignature": text(new.sign(old.signed))}
        self.assertEqual(server.post("/v1/rotations", body), (401, REFUSED))
        status, begun = new.begin()
        evidence = new.evidence(begun["enrolment"], new.answer(decoded(begun["challenge"])), old.signed)
        status, reply = server.post("/v1/rotations", body | {"attestation": evidence})
        self.assertEqual((status, reply["proven"]["device"]), (201, "tpm"))
        self.assertEqual(old.sign_in(), (401, REFUSED))
        self.assertEqual(new.sign_in()[0], 201)

    def test_wrong_roots_are_refused(self):
        good = self.maker.roots.read_text()
        for wrong in ("", "text", good.replace("MII", "MIJ", 1), good.replace("-----END CERTIFICATE-----", "")):
            roots = pathlib.Path(self.folder) / "wrong.pem"
            roots.write_text(wrong)
            with Server() as server:
                configuration = server.configuration.read_text() + f"ek_roots = {roots}\n"
                other = pathlib.Path(self.folder) / "server.conf"
                other.write_text(configuration)
                done = subprocess.run([PROGRAM, other, "audit"], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1, wrong)
                self.assertTrue(done.stderr.startswith("error: "), done.stderr)
