// SPDX-License-Identifier: Apache-2.0

// base64url without padding, as the requests have bytes.

export function bytes(text) {
    return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), character => character.charCodeAt(0));
}

export function base64url(buffer) {
    const text = Array.from(new Uint8Array(buffer), byte => String.fromCharCode(byte)).join("");
    return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
