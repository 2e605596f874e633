// SPDX-License-Identifier: Apache-2.0

// Before there is a session.

import { button, complain, element, field, say, show, shown } from "./dom.js";
import * as passkey from "./passkey.js";
import { api } from "./server.js";

/// What the person reads when a proof was refused, for each kind of proof. The server does not say why: that would help an
/// attacker.
const refused = {
    code: "The code was not accepted. It is valid once and for one minute, and for administrators only: have the program "
        + "make another one.",
    enrolment: "The enrolment code was not accepted. It is valid once and for 10 minutes, for one user name: check both, or "
        + "make another one.",
    passkey: "The passkey was not accepted. It may have been revoked or frozen, and only administrators can sign in here.",
};

/// Does something that can be refused, while the buttons wait.
async function attempt(box, kind, work) {
    const buttons = [...box.querySelectorAll("button")];
    complain("");
    buttons.forEach(each => each.disabled = true);
    try {
        await work();
    } catch (error) {
        complain(error.status === 401 ? refused[kind] : error.message);
    } finally {
        buttons.forEach(each => each.disabled = false);
    }
}

function signedIn() { dispatchEvent(new CustomEvent("signed-in")); }

function form(label, fields, kind, work) {
    const made = element("form", { submit: event => {
        event.preventDefault();
        attempt(made, kind, work);
    } }, fields.map(each => each.box), element("button", { type: "submit", class: "primary" }, label));
    return made;
}

/// The code that a program has put after `#`, which leaves the address at once: it would stay in the history otherwise.
export function takeCode() {
    const code = /^#code=([A-Za-z0-9_-]{43})$/.exec(location.hash)?.[1] ?? null;
    if (location.hash.startsWith("#code=")) history.replaceState(null, "", "/admin");
    return code;
}

/// Asks for which user a code opens a session: a link from an attacker could sign this browser in as another user.
export async function showCode(code) {
    complain("");
    let user;
    try {
        ({ user } = await api("code", { code }));
    } catch (error) {
        showSignIn();
        complain(error.status === 401 ? refused.code : error.message);
        return;
    }
    const box = element("div", { class: "row" },
        button("Sign in", () => attempt(box, "code", async () => {
            await api("sign-in", { code });
            signedIn();
        }), { class: "primary" }),
        button("Cancel", () => showSignIn()));
    show(["Sign in as ", shown(user), "?"], element("div", { class: "card" },
        element("p", {}, "A program on your device has opened this page with a code. Go on only if you started that "
            + "program just now, and this is your name."), box));
}

export function showSignIn() {
    const code = field("Code of the program", "code", { maxlength: "43", pattern: "[A-Za-z0-9_\\-]{43}" },
        "43 characters, valid once and for a minute.");
    const enclave = form("Go on", [code], "code", () => showCode(code.input.value));
    show("Sign in", element("div", { class: "cards" }, passkeys(), element("section", { class: "card", "aria-label": "Enclave key" },
        element("h2", {}, "Enclave key"),
        element("p", {}, "A program on your device signs in with a key of your keychain, signs “open the administration”, "
            + "and opens this page with a code."),
        element("details", {}, element("summary", {}, "Enter the code by hand"), enclave))));
}

function passkeys() {
    if (!passkey.available) {
        return element("p", { class: "notice" }, "This browser has no passkeys, or the page was not opened with https. Sign "
            + "in with an enclave key.");
    }
    const box = element("section", { class: "card", "aria-label": "Passkey" }, element("h2", {}, "Passkey"),
        element("p", {}, "Your device asks for your finger, face or PIN."),
        element("div", { class: "row" },
            button("Sign in with a passkey", () => attempt(box, "passkey", async () => {
                await passkey.signIn();
                signedIn();
            }), { class: "primary" }),
            button("Use an enrolment code", () => showEnrolment())));
    return box;
}

/// An enrolment code makes a passkey on this device.
function showEnrolment() {
    const user = field("Your user name", "user", { maxlength: "128", autocomplete: "username" });
    const code = field("Enrolment code", "code", { maxlength: "40", class: "spelled" },
        "16 letters and digits, valid for 10 minutes. The command latchkey-server CONFIGURATION administrator USER "
        + "writes it, or an administrator gives it to you.");
    const device = field("Name of this device", "device", { maxlength: "64" },
        "So that its keys can be revoked when it is lost, such as “laptop of Ada”.");
    show("Use an enrolment code", element("div", { class: "card" },
        element("p", {}, "Your device makes a passkey, and asks for your finger, face or PIN."),
        form("Make a passkey", [user, code, device], "enrolment", async () => {
            await passkey.enroll(user.input.value, code.input.value, device.input.value);
            showSignIn();
            say("Your passkey is registered. Sign in with it now.");
        }), element("p", {}, button("Back", () => showSignIn()))));
}
