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

/// Removes the user, the links to the views, and a question that is open. The session may be over, or be one of another user.
function forget() {
    me = null;
    watch(null);
    document.getElementById("dialog").close();
    document.getElementById("navigation").hidden = document.getElementById("account").hidden = true;
    document.getElementById("account").replaceChildren();
    document.getElementById("party").textContent = "";
}

/// Removes everything that was shown: the next person at this screen has no session.
function leave(text) {
    forget();
    showSignIn();
    complain("");
    say(text);
}

/// Other tabs of the same browser have the same cookie.
const tabs = new BroadcastChannel("latchkey administration");
tabs.addEventListener("message", ({ data }) => {
    if (me === null) return;
    if (data === "signed out") leave("You have signed out in another tab.");
    // Perhaps as another user, as whom this tab acts from now on. What was shown goes first, because the request for the
    // session can fail.
    else if (data === "signed in") {
        leave("");
        start();
    }
});

async function signOut(everywhere) {
    if (everywhere && !await confirm({
        title: "Sign out everywhere?", action: "Sign out everywhere", danger: true,
        text: "All your sessions end, in this browser and in every other browser and program.",
    })) return;
    await api("sign-out", { everywhere });
    tabs.postMessage("signed out");
    leave("You have signed out.");
}

async function start() {
    // Before anything that can fail or take long, so that the code does not stay in the address.
    const code = takeCode();
    try {
        me = await api("session");
    } catch (error) {
        forget();
        // The question needs the server: one that does not answer is not asked again.
        if (code !== null && error.status !== 0) return showCode(code);
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
    await (code === null ? route() : showCode(code));
}

// Views have the part of the address after `#`, so that this link has none of its own.
document.querySelector(".skip").addEventListener("click", event => {
    event.preventDefault();
    document.getElementById("main").focus();
});
addEventListener("hashchange", route);
addEventListener("signed-in", () => {
    tabs.postMessage("signed in");
    // This tab may have had a session of another user.
    forget();
    start();
});
addEventListener("session-over", () => {
    if (me !== null) leave("Your session has ended. Sign in again to go on.");
});
start();
