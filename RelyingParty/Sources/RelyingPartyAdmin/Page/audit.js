// SPDX-License-Identifier: Apache-2.0

// The audit log: its rows, and the verification of its chains in the browser.

import { button, clockTime, complain, count, element, identifier, nothing, place, plain, show, shown, table, time }
    from "./dom.js";
import { api } from "./server.js";
import { report, userLink } from "./lists.js";
import { Chains } from "./chain.js";

/// A log of this size is verified without being asked for.
const verifiedAtOnce = 5000;

/// How often new rows are asked for, while the log is shown.
const followedEvery = 5000;

export const eventColumns = [
    ["Row", "", "number in its chain"], ["Time", "", "of your clock"], ["Event", "", "what happened"],
    ["Detail", "", "and who did it, if an administrator"], ["Key", "", "beginning of its identifier"],
];

/// The words of the log as sentences. A word that a later version of the server writes is shown as it is.
const sentences = {
    "administrator": "The rights of an administrator changed", "code": "An enrolment code was made",
    "delete": "The user was deleted", "end-sessions": "Sessions were ended", "freeze": "A key was frozen",
    "head": "The end of another node’s log was copied", "login": "The user signed in",
    "register": "A key was registered", "restored": "The database was restored from a copy",
    "revoke": "A key was revoked", "rotate": "A key was replaced by another one",
    "service": "A back end was added or removed", "step-up": "The user approved an act",
    "unfreeze": "A frozen key can be used again",
};

function sentence(event) { return Object.hasOwn(sentences, event) ? sentences[event] : plain(event); }

export function eventCells(row) {
    return [
        [row.number.toLocaleString(), row.node ? element("span", { class: "sub" }, shown(row.node)) : null],
        time(row.time), element("span", { title: plain(row.event) }, sentence(row.event)), [row.detail === "" ? null : shown(row.detail),
            row.administrator === null ? null : element("span", { class: "sub" }, "by ", userLink(row.administrator))],
        row.key === "" ? "" : identifier(row.key),
    ];
}

function auditCells(row) {
    const [number, when, ...rest] = eventCells(row);
    const user = row.name !== null ? userLink(row.name) : row.user === "" ? element("span", { class: "none" }, "Server")
        : [shown(row.user), element("span", { class: "sub" }, "deleted user")];
    return [number, when, user, ...rest];
}

const columns = [...eventColumns.slice(0, 2), ["User", "", "whom it concerns"], ...eventColumns.slice(2)];

export async function showAudit() {
    const isHere = place();
    let chains;
    try {
        chains = (await api("chains")).chains;
        if (!isHere()) return;
    } catch (error) {
        if (!isHere()) return;
        report(error);
        show("Audit log", nothing("The audit log could not be loaded."));
        return;
    }
    if (chains.length === 0) {
        show("Audit log", nothing("Nothing has happened yet."));
        return;
    }
    const total = chains.reduce((sum, chain) => sum + chain.rows, 0);
    const rows = new Rows(chains);
    const verification = new Verification(() => rows.follow());
    show("Audit log", verification.box, rows.box);
    if (total <= verifiedAtOnce) verification.start();
    await rows.update();
}

class Verification {
    /// `grown` is called when there were new rows.
    constructor(grown) {
        this.grown = grown;
        this.bar = element("progress", { max: "1", value: "0", "aria-label": "Verified rows", hidden: true });
        this.text = element("p", {}, "This browser computes the hash of each row, and compares it with the stored one.");
        this.result = element("div", { role: "status" });
        this.start_ = button("Verify the chain", () => this.start(), { class: "primary" });
        this.stop = button("Stop", () => this.controller?.abort(), { hidden: true });
        this.box = element("section", { class: "card wide", "aria-label": "Verification" }, element("h2", {}, "Verification"),
            this.text, this.bar, this.result, element("div", { class: "row" }, this.start_, this.stop));
    }

    /// Verifies all rows, and then each new one until another view is shown.
    async start() {
        if (this.controller) return;
        this.verified = null;
        this.controller = new AbortController();
        const signal = this.controller.signal;
        const isCurrent = () => this.box.isConnected && !signal.aborted;
        // Another page of the administration is shown.
        addEventListener("hashchange", () => this.controller?.abort(), { signal });
        this.result.replaceChildren();
        this.bar.hidden = this.stop.hidden = false;
        this.start_.setAttribute("aria-disabled", "true");
        const verified = new Chains();
        try {
            const { chains } = await api("chains", {}, signal);
            const load = (node, after) => this.load(node, after, isCurrent, {}, signal);
            const wrong = await verified.extend(chains, load, (done, total) => {
                this.bar.value = done / Math.max(done, total);
                this.text.textContent = `${done.toLocaleString()} of ${Math.max(done, total).toLocaleString()} rows`;
            });
            this.show(verified.count, wrong);
            if (wrong === null) this.follow(verified);
        } catch (error) {
            if (signal.aborted) this.text.textContent = "The verification was stopped. It proves nothing.";
            // What is shown now needs no word about this view.
            else if (isCurrent()) report(error);
        } finally {
            this.controller.abort();
            this.controller = null;
            this.bar.hidden = this.stop.hidden = true;
            this.start_.removeAttribute("aria-disabled");
        }
    }

    /// Asks for new rows after a while. The user does nothing for it, so the server counts no use of the session.
    async follow(verified) {
        this.verified = verified;
        // Until another view is shown, or the button began another verification.
        const isCurrent = () => this.box.isConnected && this.verified === verified;
        for (;;) {
            await new Promise(resolve => setTimeout(resolve, followedEvery));
            if (!isCurrent()) return;
            if (document.hidden) continue;
            try {
                if (await this.extend(verified, isCurrent)) return;
            } catch (error) {
                if (!isCurrent()) return;
                // The end of the session empties the page. Any other error may be over the next time.
                if (error.status === 401) return report(error);
                this.text.textContent = "New rows could not be verified now. " + error.message;
            }
        }
    }

    /// Verifies new rows. Returns whether one was wrong, which ends the verification.
    async extend(verified, isCurrent) {
        const { chains } = await api("chains", { watching: true });
        if (!isCurrent() || !verified.differ(chains)) return false;
        const load = (node, after) => this.load(node, after, isCurrent, { watching: true });
        const wrong = await verified.extend(chains, load, () => {});
        if (!isCurrent()) return false;
        this.show(verified.count, wrong);
        this.grown();
        return wrong !== null;
    }

    /// Waits when there were too many requests, as long as the rows are needed.
    async load(node, after, isCurrent, options, signal) {
        for (;;) {
            if (!isCurrent()) throw new DOMException("The rows are not needed any more.", "AbortError");
            try {
                return (await api("audit", { node, after, ...options }, signal)).rows;
            } catch (error) {
                if (error.status !== 429) throw error;
                await new Promise(resolve => setTimeout(resolve, error.waitSeconds * 1000));
            }
        }
    }

    show(rows, wrong) {
        const verified = `${count(rows, "row was", "rows were")} verified in this browser`;
        if (wrong === null) {
            this.text.replaceChildren(verified, ", the last ones at ", clockTime(), ". New rows are verified as long as this "
                + "page is shown.");
            // Said once: new rows that are right are no news.
            if (this.result.childElementCount === 0) {
                this.result.replaceChildren(element("p", { class: "notice good" },
                    "The chain is unbroken: all rows are as they were written."));
            }
            return;
        }
        this.text.textContent = verified + ".";
        const where = [`Row ${wrong.number.toLocaleString()}`, wrong.node ? [" of node ", shown(wrong.node)] : null,
            wrong.missing ? " is missing." : " was changed."];
        this.result.replaceChildren(element("div", { class: "notice problem" },
            element("p", {}, element("strong", {}, where.flat()),
                " Keep the database, and compare it with a backup. It cannot be trusted any more."),
            wrong.row ? table("The first wrong row", columns, [auditCells({ ...wrong.row, node: wrong.node })]) : null,
            wrong.row ? element("p", {}, "Stored hash: ", element("code", {}, plain(wrong.row.hash)), element("br"),
                "Computed hash: ", element("code", {}, wrong.computed)) : null));
    }
}

/// The rows of a chain, the last ones first.
class Rows {
    constructor(chains) {
        this.node = chains[0].node;
        this.starts = [0];
        this.place = element("div", { class: "scroll" }, element("p", { class: "loading" }, "Loading…"));
        const choice = element("select", { id: "node", change: () => {
            this.node = choice.value;
            this.starts = [0];
            this.update();
        } }, chains.map(chain => element("option", { value: chain.node }, plain(chain.node) || "this server")));
        this.newer = button("Newer", () => this.go(-1));
        this.older = button("Older", () => this.go(1));
        this.box = element("section", { "aria-label": "Rows" },
            chains.length === 1 ? null
                : element("div", { class: "field" }, element("label", { for: "node" }, "Chain of node"), choice),
            this.place, element("nav", { class: "row", "aria-label": "Pages of the audit log" }, this.newer, this.older));
    }

    /// Shows new rows, unless others are shown, or a link in the table has the focus, which it would lose.
    follow() {
        if (this.starts.length === 1 && !this.place.contains(document.activeElement)) this.update(true);
    }

    go(step) {
        if (step < 0 && this.starts.length > 1) this.starts.pop();
        else if (step > 0 && this.first > 1) this.starts.push(this.first);
        else return;
        return this.update();
    }

    async update(watching = false) {
        const [node, before] = [this.node, this.starts.at(-1)];
        try {
            const { rows } = await api("audit", { node, before, ...watching ? { watching } : {} });
            if (node !== this.node || before !== this.starts.at(-1)) return;
            this.first = rows.at(-1)?.number ?? 0;
            this.place.replaceChildren(rows.length === 0
                ? element("p", { class: "empty" }, "This chain has no rows.")
                : table("Rows of the audit log, the newest first", columns, rows.map(auditCells)));
            complain("");
        } catch (error) {
            report(error);
        }
        this.newer.setAttribute("aria-disabled", String(this.starts.length === 1));
        this.older.setAttribute("aria-disabled", String(!(this.first > 1)));
    }
}
