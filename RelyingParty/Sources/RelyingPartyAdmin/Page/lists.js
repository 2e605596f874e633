// SPDX-License-Identifier: Apache-2.0

// The lists of all users, keys and sessions: one page at a time, from the row after the last one shown.

import { ask, badge, button, complain, confirm, count, element, field, identifier, plain, say, show, shown, table, time }
    from "./dom.js";
import { prove } from "./passkey.js";
import { api } from "./server.js";

const pageRows = 50;

export const userLink = name => element("a", { href: "#/user/" + encodeURIComponent(name) }, shown(name));

/// A list with its buttons. `load(after)` returns rows, `after` is null for the first page.
class PagedList {
    constructor({ caption, columns, load, position, cells, empty }) {
        Object.assign(this, { caption, columns, load, position, cells, empty });
        this.starts = [null];
        this.place = element("div", { class: "scroll" }, element("p", { class: "loading" }, "Loading…"));
        this.previous = button("Previous", () => this.go(-1));
        this.next = button("Next", () => this.go(1));
        this.where = element("span", { class: "help" });
        this.box = element("section", { "aria-label": caption }, this.place,
            element("nav", { class: "row", "aria-label": `Pages of ${caption}` }, this.previous, this.next, this.where));
        this.run = 0;
    }

    go(step) {
        if (step < 0 && this.starts.length > 1) {
            this.starts.pop();
            return this.update();
        }
        if (step > 0 && this.last) {
            this.starts.push(this.position(this.last));
            return this.update();
        }
    }

    /// Loads the page that is shown. A reply that comes after the next request is ignored.
    async update() {
        const run = ++this.run;
        this.place.setAttribute("aria-busy", "true");
        try {
            const rows = await this.load(this.starts.at(-1));
            if (run !== this.run) return;
            this.last = rows.length === pageRows ? rows.at(-1) : null;
            const number = this.starts.length;
            this.place.replaceChildren(rows.length === 0
                ? element("p", { class: "empty" }, number > 1 ? "There are no more rows." : this.empty)
                : table(this.caption, this.columns, rows.map(row => this.cells(row))));
            // For `make bench PART=browser`.
            performance.mark("first list");
            this.where.textContent = `Page ${number.toLocaleString()}, ${count(rows.length, "row", "rows")}`;
            complain("");
        } catch (error) {
            if (run !== this.run) return;
            this.place.replaceChildren(element("p", { class: "empty" }, "The list could not be loaded."));
            report(error);
        }
        this.place.removeAttribute("aria-busy");
        // Not `disabled`: the button that was used would lose the focus.
        this.previous.setAttribute("aria-disabled", String(this.starts.length === 1));
        this.next.setAttribute("aria-disabled", String(!this.last));
    }

    restart() {
        this.starts = [null];
        return this.update();
    }
}

/// Tells the person about an error; one that means that the session is over leads to the sign-in.
export function report(error) {
    if (error.status === 401) dispatchEvent(new CustomEvent("session-over"));
    else complain(error.message);
}

/// Does something, and tells the person what came of it.
export async function act(work) {
    try {
        const text = await work();
        if (text) say(text);
    } catch (error) {
        report(error);
    }
}

// MARK: - Users

export function showUsers() {
    const search = field("Names that begin with", "prefix", { required: false, type: "search", maxlength: "128" });
    const list = new PagedList({
        caption: "Users",
        columns: [
            ["Name", "", "as the user types it"], ["Keys", "", "that can sign in"], ["Frozen", "", "perhaps copied"],
            ["Open sessions", "", "browsers and programs"], ["Role", "", "who may open this page"],
        ],
        empty: "There is no such user. A user appears here when an enrolment code is made for the name.",
        load: async after => (await api("users", { prefix: search.input.value, after: after ?? "" })).users,
        position: row => row.user,
        cells: row => [
            userLink(row.user), count(row.keys, "key", "keys"),
            row.frozenKeys > 0 ? badge(count(row.frozenKeys, "key", "keys"), "warning") : "none",
            row.sessions === 0 ? "none" : count(row.sessions, "session", "sessions"),
            row.administrator ? badge("Administrator", "accent") : "User",
        ],
    });
    let waiting;
    search.input.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => list.restart(), 200);
    });
    const form = element("form", { role: "search", class: "row", submit: event => {
        event.preventDefault();
        clearTimeout(waiting);
        list.restart();
    } }, search.box, button("Make an enrolment code…", () => act(inviteUser), { class: "primary" }));
    show("Users", form, list.box);
    return list.update();
}

async function inviteUser() {
    const name = field("Name of the user", "invited", { maxlength: "128" }, "A new name becomes a new user.");
    const agreed = await confirm({
        title: "Make an enrolment code",
        text: "With the code, any person can register one key for this user in the next 10 minutes. An earlier code ends. "
            + "Make sure who asks for it, in a way that does not depend on a lost device.",
        action: "Make the code", content: [name.box],
    });
    if (agreed && name.input.value !== "") return makeCode(name.input.value);
    if (agreed) throw new Error("No code was made, because the name is missing.");
}

/// Makes a code, and shows it once.
export async function makeCode(user) {
    const proof = await prove(`make an enrolment code for ${user}`);
    if (proof === null) return;
    const { code, expires } = await api("enrolment-code", { user, proof });
    await ask({
        title: ["Enrolment code for ", shown(user)],
        text: "This code is shown once. Give it to the user in person, or in another way that you trust.",
        content: [element("output", { class: "secret", "aria-label": "Enrolment code" }, code), element("p", {}, "It registers one key, and ends at ", time(expires), ".")],
        buttons: [["Done", true, "primary"]],
    });
    return `An enrolment code for ${plain(user)} was made.`;
}

// MARK: - Keys

export const keyColumns = [
    ["Device", "", "its name, and the key"], ["State", "", "whether it can sign in"], ["Form", "", "how it signs"],
    ["Claimed", "", "what the device says"], ["Proven", "", "what a chip certifies"],
    ["Registered", "", "when it was added"],
];

/// What is proven and what is claimed are never one cell: only the first one holds against a device that lies.
export function keyCells(key) {
    const state = key.revoked !== null ? ["Revoked", "muted"] : key.frozen !== null ? ["Frozen", "warning"]
        : ["Active", "good"];
    const forms = { bound: "Bound", raw: "Raw", passkey: "Passkey" };
    const verification = key.claimed.userVerification;
    return [
        device(key),
        [badge(...state), when(key.revoked ?? key.frozen)],
        forms[key.form] ?? plain(key.form),
        [plain(key.claimed.tier), verification ? element("span", { class: "sub" }, plain(verification)) : null,
            key.passkey ? passkey(key.passkey) : null],
        proven(key.proven), time(key.created),
    ];
}

/// Whether a passkey has left its authenticator, and who attested the authenticator. The certificate of an attestation is not
/// compared with a list of makers, so all of this is claimed.
const synced = { no: "not synchronised", possible: "can be synchronised", yes: "synchronised" };
const attested = {
    none: "not attested", self: "attested by itself", certificate: "attested by a certificate",
};

function passkey({ synced: state, attested: statement, authenticator }) {
    // Authenticators that do not say their model have zeros (WebAuthn Level 3, section 6.5.1).
    const model = /^[0-]*$/.test(authenticator) ? "model not stated" : ["model ", element("code", {}, plain(authenticator))];
    return [synced[state] ?? plain(state), attested[statement] ?? plain(statement), model]
        .map(text => element("span", { class: "sub" }, text));
}

function device(row) {
    return [shown(row.device, "no device name"), element("span", { class: "sub" }, identifier(row.key))];
}

function when(seconds) { return seconds === null ? null : element("span", { class: "sub" }, time(seconds)); }

function proven({ device, model }) {
    if (device === "none") return element("span", { class: "none" }, "Nothing");
    const names = { "tpm": "TPM", "virtual-tpm": "Virtual TPM" };
    return [badge(names[device] ?? plain(device), device === "tpm" ? "good" : "warning"),
        model ? element("span", { class: "sub" }, shown(model)) : null];
}

export function showKeys() {
    const states = [["all", "All"], ["active", "Active"], ["frozen", "Frozen"], ["revoked", "Revoked"]];
    let chosen = "all";
    const list = new PagedList({
        caption: "Devices and keys",
        columns: [["User", "", "who has the key"], ...keyColumns],
        empty: "There is no such key. A key appears here when its owner has registered it with an enrolment code.",
        load: async after => (await api("keys", after ? { state: chosen, after } : { state: chosen })).keys,
        position: row => ({ user: row.user, created: row.created, key: row.key }),
        cells: row => [userLink(row.user), ...keyCells(row)],
    });
    const choices = states.map(([value, label]) => element("label", { class: "choice" }, element("input", {
        type: "radio", name: "state", value, checked: value === chosen, change: () => {
            chosen = value;
            list.restart();
        },
    }), label));
    show("Devices and keys", element("form", { class: "row", submit: event => event.preventDefault() },
        element("fieldset", { class: "row" }, element("legend", {}, "State of the keys"), choices)), list.box);
    return list.update();
}

// MARK: - Sessions

export const sessionColumns = [
    ["Device", "", "its name, and the key"], ["Used by", "", "browser or program"], ["Opened", "", "when it signed in"],
    ["Last used", "", "by a person"], ["Ends", "", "at the latest"], ["Action", "", "takes effect at once"],
];

export function sessionCells(row, current, update) {
    const own = row.session === current;
    return [
        device(row),
        [row.browser ? "Browser" : "Program", own ? [" ", badge("This session", "accent")] : null],
        time(row.created), time(row.used), time(row.expires),
        button("End", () => act(() => endSession(row, own, update)), { "aria-label": `End a session of ${plain(row.user)}` }),
    ];
}

async function endSession(row, own, update) {
    const agreed = await confirm({
        title: ["End a session of ", shown(row.user), "?"],
        text: own ? "This is your own session: you will be signed out."
            : "The browser or program is signed out at once. Its key stays valid, so it can sign in again.",
        action: "End the session", danger: true,
    });
    if (!agreed) return;
    const { endedSessions } = await api("end-sessions", { user: row.user, session: row.session });
    await update();
    return endedSessions === 1 ? `A session of ${plain(row.user)} was ended.` : "The session had ended already.";
}

export function showSessions(current) {
    const list = new PagedList({
        caption: "Open sessions",
        columns: [["User", "", "who signed in"], ...sessionColumns],
        empty: "There is no open session.",
        load: async after => (await api("sessions", after ? { after } : {})).sessions,
        position: row => ({ created: row.created, session: row.session }),
        cells: row => [userLink(row.user), ...sessionCells(row, current, () => list.update())],
    });
    show("Sessions", list.box);
    return list.update();
}
