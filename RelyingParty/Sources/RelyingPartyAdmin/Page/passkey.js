// SPDX-License-Identifier: Apache-2.0

// Passkeys, by the WebAuthn API of the browser.

import { bytes } from "./bytes.js";
import { confirm, field } from "./dom.js";
import { api, opened, Refusal, send } from "./server.js";

export const available = "PublicKeyCredential" in window;

/// What the person reads for the errors of the API (WebAuthn Level 3, sections 5.1.3 and 5.1.4).
const words = {
    NotAllowedError: "No passkey was used: it was cancelled, it took too long, or this device has none for this server. "
        + "Try again.",
    SecurityError: "The browser does not use passkeys at this address. Open the page at the address of the relying party, "
        + "with https.",
    InvalidStateError: "This device has a passkey of this user already. Sign in with it.",
    NotSupportedError: "This device cannot make a passkey of the kind that the server accepts.",
    ConstraintError: "This device cannot verify who uses it. Set up a PIN or a fingerprint, and try again.",
};

async function call(work) {
    try {
        return await work();
    } catch (error) {
        if (error instanceof Refusal) throw error;
        throw new Refusal(0, words[error.name] ?? `The browser could not use a passkey (${error.name}).`);
    }
}

async function challenge(body) {
    try {
        return await send("/v1/passkeys/challenges", body);
    } catch (error) {
        if (error.status !== 401) throw error;
        throw new Refusal(0, "This server does not accept passkeys. Sign in with an enclave key.");
    }
}

/// Makes a passkey for a user who has an enrolment code. The server compares the code.
export async function enroll(user, code, device) {
    const given = await challenge({ purpose: "register", user });
    const made = await call(() => navigator.credentials.create({ publicKey: {
        challenge: bytes(given.challenge), timeout: given.timeout,
        rp: { id: given.relyingParty, name: given.relyingParty },
        user: { id: bytes(given.userHandle), name: user, displayName: user },
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
        authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
        attestation: "none",
    } }));
    await send("/v1/passkeys", { user, device, enrollmentCode: code, credential: made.toJSON() });
}

/// Signs in with a passkey that the person chooses; the reply sets the cookie.
export async function signIn() {
    const given = await challenge({ purpose: "login" });
    const chosen = await call(() => navigator.credentials.get({ publicKey: {
        challenge: bytes(given.challenge), timeout: given.timeout, rpId: given.relyingParty,
        userVerification: "required",
    } }));
    await api("passkey", { credential: chosen.toJSON() });
}

/// Proves the key of the session again, before an act that creates a right: with the passkey, or with a new code of the program
/// that has the key. Returns the member `proof` of the request; null if the person does not go on.
export async function prove(context) {
    const { user, key, form, relyingParty } = opened();
    if (form !== "passkey") return programProof();
    const { challenge } = await send("/v1/challenges", { user, key, purpose: "step-up", context });
    const chosen = await call(() => navigator.credentials.get({ publicKey: {
        challenge: bytes(challenge), rpId: relyingParty, userVerification: "required",
    } }));
    return { credential: chosen.toJSON() };
}

async function programProof() {
    const code = field("Code of the program", "proof", { maxlength: "43", pattern: "[A-Za-z0-9_\\-]{43}" },
        "43 characters, valid once and for a minute.");
    const agreed = await confirm({
        title: "Confirm with your key", action: "Go on", content: [code.box],
        text: "This act creates a right. The program with which you signed in makes another code, as for opening this page.",
    });
    if (agreed && code.input.value !== "") return { code: code.input.value };
    if (agreed) throw new Refusal(0, "Nothing was done, because the code is missing.");
    return null;
}
