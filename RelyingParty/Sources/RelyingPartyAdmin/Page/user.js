// SPDX-License-Identifier: Apache-2.0

// The page of one user, and what can be done about the user's keys.

import { badge, button, confirm, count, element, nothing, place, plain, show, shown, table, time } from "./dom.js";
import { act, keyCells, keyColumns, makeCode, report, sessionCells, sessionColumns } from "./lists.js";
import { eventCells, eventColumns } from "./audit.js";
import { prove } from "./passkey.js";
import { api } from "./server.js";

export async function showUser(name, me) {
    const [update, isHere] = [() => showUser(name, me), place()];
    let user;
    try {
        user = await api("user", { user: name });
        if (!isHere()) return;
    } catch (error) {
        if (!isHere()) return;
        if (error.status === 404) {
            show(shown(name), back(), nothing("Nothing is stored of this user."));
            return;
        }
        report(error);
        show(shown(name), back(), nothing("The user could not be loaded."));
        return;
    }
    const active = user.keys.filter(key => key.revoked === null);
    show(shown(name), back(), element("p", { class: "row" },
        user.administrator ? badge("Administrator", "accent") : badge("User"),
        user.codeExpires === null ? null
            : element("span", {}, "An enrolment code is valid until ", time(user.codeExpires), "."),
        user.pseudonym === null ? null
            : element("span", { class: "help" }, "Pseudonym in the audit log: ", element("code", {}, user.pseudonym))),
    element("div", { class: "row" },
        button("Make an enrolment code…", () => act(() => invite(name, update))),
        user.sessions.length === 0 ? null
            : button("End all sessions…", () => act(() => endAll(user, me, update))),
        active.length === 0 ? null : button("Revoke the user…", () => act(() => revoke(user, me, "user", active, update,
            ["Revoke all keys of ", shown(name), "?"])), { class: "danger" })),
    keys(user, me, update), sessions(user, me, update), events(user));
}

function back() { return element("p", {}, element("a", { href: "#/users" }, "All users")); }

function section(title, ...children) {
    return element("section", { "aria-label": title }, element("h2", {}, title), children);
}

function keys(user, me, update) {
    if (user.keys.length === 0) return section("Keys", nothing("The user has no key yet."));
    const rows = user.keys.map(key => [...keyCells(key), key.counter === null ? "None" : key.counter.toLocaleString(),
        actions(user, key, me, update)]);
    return section("Keys", element("div", { class: "scroll" },
        table(["Keys of ", shown(user.user)], [...keyColumns, ["Counter", "number", "signatures so far"], ["Actions", "", "take effect at once"]], rows)));
}

function actions(user, key, me, update) {
    if (key.revoked !== null) return element("span", { class: "none" }, "None");
    const label = plain(key.device) || "no device";
    const sameDevice = user.keys.filter(other => other.revoked === null && other.device === key.device);
    return element("div", { class: "row tight" },
        key.frozen === null ? null : button("Unfreeze…", () => act(() => unfreeze(user, key, update)),
            { "aria-label": `Unfreeze the key of ${label}` }),
        button("Revoke key…", () => act(() => revoke(user, me, "key:" + key.key, [key], update,
            ["Revoke this key of ", shown(user.user), "?"])), { "aria-label": `Revoke the key of ${label}` }),
        key.device === "" || sameDevice.length < 2 ? null : button("Revoke device…", () => act(() =>
            revoke(user, me, "device:" + key.device, sameDevice, update, ["Revoke the device ", shown(key.device), "?"])),
        { "aria-label": `Revoke the device ${label}` }));
}

async function revoke(user, me, target, keys, update, title) {
    const sessions = user.sessions.filter(session => keys.some(key => key.key === session.key));
    const agreed = await confirm({
        title, danger: true, action: keys.length === 1 ? "Revoke the key" : `Revoke ${keys.length} keys`,
        text: [
            `${count(keys.length, "key is", "keys are")} refused from now on, and can never be registered again. `
                + `${count(sessions.length, "open session ends", "open sessions end")} at once. This cannot be undone.`,
            ...keys.some(key => key.key === me.key) ? [element("strong", {}, "You signed in with this key: you will be "
                + "signed out, and need another key or a code that latchkey-server(8) makes.")] : [],
        ],
    });
    if (!agreed) return;
    const { revokedKeys } = await api("revoke", { user: user.user, target });
    await update();
    return `${count(revokedKeys, "key of", "keys of")} ${plain(user.user)} ${revokedKeys === 1 ? "was" : "were"} revoked.`;
}

async function unfreeze(user, key, update) {
    const agreed = await confirm({
        title: "Let the frozen key be used again?", action: "Unfreeze the key", danger: true,
        text: "The key was frozen because its counter did not increase: two devices may have it. Do this only if you know "
            + "that there is no copy, for example because the device was restored. Its counter begins again.",
    });
    if (!agreed) return;
    const proof = await prove(`unfreeze the key ${key.key}`);
    if (proof === null) return;
    await api("unfreeze", { user: user.user, key: key.key, proof });
    await update();
    return `A key of ${plain(user.user)} can be used again.`;
}

async function endAll(user, me, update) {
    const own = user.sessions.some(session => session.session === me.session);
    const agreed = await confirm({
        title: ["End all sessions of ", shown(user.user), "?"], action: "End the sessions", danger: true,
        text: `${count(user.sessions.length, "browser or program is", "browsers and programs are")} signed out at once. `
            + "The keys stay valid, so they can sign in again." + (own ? " You will be signed out, too." : ""),
    });
    if (!agreed) return;
    const { endedSessions } = await api("end-sessions", { user: user.user });
    await update();
    return `${count(endedSessions, "session", "sessions")} of ${plain(user.user)} ended.`;
}

async function invite(name, update) {
    const agreed = await confirm({
        title: ["Make an enrolment code for ", shown(name), "?"], action: "Make the code",
        text: "With the code, any person can register one key for this user in the next 10 minutes. An earlier code ends. "
            + "Make sure who asks for it, in a way that does not depend on a lost device.",
    });
    if (!agreed) return;
    const text = await makeCode(name);
    await update();
    return text;
}

function sessions(user, me, update) {
    if (user.sessions.length === 0) {
        return section("Open sessions", nothing("The user has no open session."));
    }
    return section("Open sessions", element("div", { class: "scroll" }, table(["Open sessions of ", shown(user.user)],
        sessionColumns, user.sessions.map(row => sessionCells(row, me.session, update)))));
}

function events(user) {
    if (user.events.length === 0) {
        return section("Recent events", nothing("The newest rows of the audit log have none."));
    }
    return section("Recent events", element("div", { class: "scroll" }, table(["Rows of the audit log about ",
        shown(user.user)], eventColumns, user.events.map(eventCells))));
}
