// SPDX-License-Identifier: Apache-2.0

// The verification of the audit log, as docs/reference/relying-party.md describes it. The hashes are computed here, so that a server
// whose database was changed cannot only claim that they are right.

import { base64url, bytes } from "./bytes.js";

const encoder = new TextEncoder();

function number(value) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigInt64(0, BigInt(value));
    return bytes;
}

function counted(bytes) { return [Uint8Array.of(bytes.length >> 8 & 0xff, bytes.length & 0xff), bytes]; }

function join(parts) {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let place = 0;
    for (const part of parts) {
        all.set(part, place);
        place += part.length;
    }
    return all;
}

/// The hash of a row of a node and of the hash before it, 32 bytes.
export async function rowHash(node, row, previous) {
    const label = node === "" ? [encoder.encode("latchkey audit 1\0")]
        : [encoder.encode("latchkey audit 2\0"), ...counted(encoder.encode(node))];
    const fields = [encoder.encode(row.event), encoder.encode(row.user), bytes(row.key), encoder.encode(row.detail)];
    const message = join([...label, previous, number(row.number), number(row.time), ...fields.flatMap(counted)]);
    return new Uint8Array(await crypto.subtle.digest("SHA-256", message));
}

/// One chain, as far as it was verified.
class Chain {
    constructor(node) {
        this.node = node;
        this.count = 0;
        /// 32 bytes for each row, because other chains name some of them.
        this.hashes = new Uint8Array(32 * 1024);
    }

    hash(number) { return this.hashes.subarray(32 * (number - 1), 32 * number); }

    /// Verifies rows that follow; returns the first wrong one, or null.
    async extend(rows, claims) {
        let previous = this.count === 0 ? new Uint8Array(32) : this.hash(this.count);
        for (const row of rows) {
            if (row.number !== this.count + 1) return { node: this.node, number: this.count + 1, missing: true };
            const computed = await rowHash(this.node, row, previous);
            if (base64url(computed) !== row.hash) {
                return { node: this.node, number: row.number, row, computed: base64url(computed) };
            }
            if (this.hashes.length < 32 * row.number) {
                const longer = new Uint8Array(2 * this.hashes.length);
                longer.set(this.hashes);
                this.hashes = longer;
            }
            this.hashes.set(computed, 32 * this.count);
            this.count = row.number;
            previous = computed;
            if (row.event === "head") {
                const place = row.detail.indexOf(" ");
                claims.push({ number: Number(row.detail.slice(0, place)), node: row.detail.slice(place + 1), hash: row.key });
            }
        }
        return null;
    }
}

/// The chains, as far as they were verified, and the heads that the nodes copied from each other.
export class Chains {
    constructor() {
        this.chains = new Map();
        this.claims = [];
    }

    /// The number of verified rows.
    get count() { return [...this.chains.values()].reduce((sum, chain) => sum + chain.count, 0); }

    /// Whether chains have other rows than the verified ones.
    differ(listed) {
        return listed.length !== this.chains.size || listed.some(({ node, rows }) => this.chains.get(node)?.count !== rows);
    }

    /// Verifies the rows that follow, up to the last ones.
    ///
    /// `load(node, after)` returns rows after a number, none at the end; `progress(count, total)` is called after each part.
    /// Returns the first wrong row, or null. A call that did not return may be repeated.
    async extend(listed, load, progress) {
        const total = listed.reduce((sum, chain) => sum + chain.rows, 0);
        const names = new Set(listed.map(chain => chain.node));
        for (const node of this.chains.keys()) if (!names.has(node)) return { node, number: 1, missing: true };
        const finish = async chain => {
            for (;;) {
                const rows = await load(chain.node, chain.count);
                if (rows.length === 0) return null;
                const wrong = await chain.extend(rows, this.claims);
                progress(this.count, total);
                if (wrong) return wrong;
            }
        };
        for (const { node, rows } of listed) {
            const chain = this.chains.get(node) ?? new Chain(node);
            this.chains.set(node, chain);
            // Verified rows that are gone again.
            if (rows < chain.count) return { node, number: rows + 1, missing: true };
            const wrong = await finish(chain);
            if (wrong) return wrong;
            if (chain.count < Math.max(rows, 1)) return { node, number: chain.count + 1, missing: true };
        }
        while (this.claims.length > 0) {
            const claim = this.claims[0];
            const chain = this.chains.get(claim.node);
            // A node can have copied the head of a row that was written after this chain was read.
            if (chain && chain.count < claim.number) {
                const wrong = await finish(chain);
                if (wrong) return wrong;
            }
            if (!chain || !(claim.number >= 1 && claim.number <= chain.count)
                || base64url(chain.hash(claim.number)) !== claim.hash) {
                return { node: claim.node, number: claim.number, missing: true };
            }
            this.claims.shift();
        }
        return null;
    }
}
