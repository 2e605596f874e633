// SPDX-License-Identifier: Apache-2.0

// Requests to the server, and its refusals in words.

import { element, button, complain } from "./dom.js";

/// A request that was not answered as hoped. The message says what happened and what to do.
export class Refusal extends Error {
    constructor(status, message, waitSeconds = 0) {
        super(message);
        this.status = status;
        this.waitSeconds = waitSeconds;
    }
}

const words = {
    400: "The server did not understand the request. Check what you entered; otherwise load the page again, because the "
        + "server may have been replaced by another version.",
    401: "You are not signed in, or your session has ended. Sign in again.",
    403: "You are not permitted to do this. Either you are no administrator any more, or this page was opened at an address "
        + "that the server does not have in its configuration (origins).",
    404: "This does not exist any more. Load the list again.",
    413: "What you entered is too long.",
    503: "The server cannot use its database now. Try again; if it stays so, look into the log of the server.",
};

/// Sends a request; returns the object of the reply, or null for an empty one. Throws `Refusal`.
///
/// The member `watching` says that no person asks, so that the session is not prolonged.
export async function send(path, body = {}, signal = undefined) {
    let response;
    try {
        response = await fetch(path, {
            method: "POST", body: JSON.stringify(body), redirect: "error", cache: "no-store",
            credentials: "same-origin", referrerPolicy: "no-referrer",
            headers: { "Content-Type": "application/json", "X-Latchkey-Administration": "1" },
            signal: AbortSignal.any([AbortSignal.timeout(20000), ...(signal ? [signal] : [])]),
        });
        if (response.ok) {
            clock.read(response);
            if (path.startsWith("/admin/api/") && !body.watching) used();
            return response.status === 204 ? null : await response.json();
        }
    } catch (error) {
        if (signal?.aborted) throw error;
        throw new Refusal(0, "The server does not answer. Check the connection, and try again.");
    }
    const seconds = Number(response.headers.get("Retry-After")) || 1;
    if (response.status === 429) {
        throw new Refusal(429, `There were too many requests. Try again in ${seconds} s.`, seconds);
    }
    throw new Refusal(response.status, words[response.status]
        ?? `The server replied with status ${response.status}. Look into the log of the server.`);
}

export const api = (name, body, signal) => send(`/admin/api/${name}`, body, signal);

// MARK: - The end of a session that is not used

/// The time of the server: that of the browser may be wrong by hours. It is what the header `Date` said, and what has passed
/// since by a clock that nothing sets; null if the header is missing.
const clock = {
    seconds: null,
    read(response) {
        const milliseconds = Date.parse(response.headers.get("Date") ?? "");
        this.seconds = Number.isNaN(milliseconds) ? null : milliseconds / 1000;
        this.since = performance.now();
    },
    get now() { return this.seconds === null ? null : this.seconds + (performance.now() - this.since) / 1000; },
};

let session = null;
let timers = [];

/// The session of this browser; null for none.
export const opened = () => session;

/// The session whose end is announced; null for none.
export function watch(opened) {
    session = opened;
    used();
}

/// Called after each reply: the session lives for its idle time again. The server writes a use down only after a tenth of it.
function used() {
    timers.forEach(clearTimeout);
    const notice = document.getElementById("idle");
    notice.hidden = true;
    notice.replaceChildren();
    if (session === null) return;
    const now = clock.now;
    // Without a time only the idle time is known; the server refuses what comes after the end.
    const left = now === null ? Infinity : Math.max(0, session.expires - now);
    const last = Math.min(session.idleSeconds * 0.9, left);
    const warning = Math.min(60, last / 2);
    timers = [
        setTimeout(() => warn(last === left), (last - warning) * 1000),
        setTimeout(() => dispatchEvent(new CustomEvent("session-over")), last * 1000),
    ];
}

function warn(final) {
    const notice = document.getElementById("idle");
    const text = final
        ? "Your session ends soon, because it was opened hours ago. Finish what you are doing, and sign in again."
        : "You will be signed out soon, because you did nothing for a while.";
    notice.replaceChildren(element("p", {}, text), ...(final ? [] : [button("Stay signed in", async () => {
        try {
            await api("session");
        } catch (error) {
            complain(error.message);
        }
    })]));
    notice.hidden = false;
}
