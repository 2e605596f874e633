// SPDX-License-Identifier: Apache-2.0

// Which view is shown: the part of the address after `#`, which browsers do not send.

import { button, complain, confirm, element, plain, say, shown } from "./dom.js";
import { api, watch } from "./server.js";
import { act, showKeys, showSessions, showUsers } from "./lists.js";
import { showAudit } from "./audit.js";
import { showUser } from "./user.js";
import { showCode, showSignIn, takeCode } from "./sign-in.js";

let me = null;

const views = {
    users: () => showUsers(),
    user: name => showUser(name, me),
    keys: () => showKeys(),
    sessions: () => showSessions(me.session),
    audit: () => showAudit(),
};

function route() {
    const code = takeCode();
    if (code !== null) return showCode(code);
    if (me === null) return showSignIn();
    const [, name = "", rest = ""] = /^#\/([a-z]+)(?:\/(.*))?$/.exec(location.hash) ?? [];
    let argument;
    try {
        argument = decodeURIComponent(rest);
    } catch {
        argument = "";
    }
    const known = Object.hasOwn(views, name) && (name !== "user" || argument !== "");
    const view = known ? name : "users";
    for (const link of document.querySelectorAll("#navigation a")) {
        const isCurrent = link.hash === `#/${view === "user" ? "users" : view}`;
        if (isCurrent) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    complain("");
    say("");
    return views[view](argument);
}

/// Removes everything that was shown: the next person at this screen has no session.
function leave(text) {
    me = null;
    watch(null);
    document.getElementById("dialog").close();
    document.getElementById("navigation").hidden = document.getElementById("account").hidden = true;
    document.getElementById("account").replaceChildren();
    document.getElementById("party").textContent = "";
    showSignIn();
    complain("");
    say(text);
}

async function signOut(everywhere) {
    if (everywhere && !await confirm({
        title: "Sign out everywhere?", action: "Sign out everywhere", danger: true,
        text: "All your sessions end, in this browser and in every other browser and program.",
    })) return;
    await api("sign-out", { everywhere });
    leave("You have signed out.");
}

async function start() {
    try {
        me = await api("session");
    } catch (error) {
        me = null;
        if (error.status !== 401) complain(error.message);
        if (error.status === 401 || error.status === 403) {
            const code = takeCode();
            if (code !== null) return showCode(code);
        }
        showSignIn();
        if (error.status !== 401) complain(error.message);
        return;
    }
    watch(me);
    document.getElementById("party").textContent = plain(me.relyingParty);
    const account = document.getElementById("account");
    account.replaceChildren(element("span", { class: "who" }, "Signed in as ", element("strong", {}, shown(me.user))),
        button("Sign out", () => act(() => signOut(false))),
        button("Sign out everywhere…", () => act(() => signOut(true))));
    account.hidden = document.getElementById("navigation").hidden = false;
    await route();
}

// Views have the part of the address after `#`, so that this link has none of its own.
document.querySelector(".skip").addEventListener("click", event => {
    event.preventDefault();
    document.getElementById("main").focus();
});
addEventListener("hashchange", route);
addEventListener("signed-in", start);
addEventListener("session-over", () => {
    if (me !== null) leave("Your session has ended. Sign in again to go on.");
});
start();
