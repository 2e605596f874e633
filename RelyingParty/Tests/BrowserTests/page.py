# SPDX-License-Identifier: Apache-2.0
"""What the tests of the page share: servers, browsers with authenticators, and checks of a page."""
import os
import pathlib

from webdriver import Browser

PICTURES = os.environ.get("LATCHKEY_PICTURES")


class Page(Browser):
    """A browser that shows the administration of a server."""

    def __init__(self, server, **options):
        super().__init__(**options)
        self.server = server

    def open(self, fragment=""):
        self.go(f"{self.server.origin}/admin{fragment}")

    def view(self, name, heading):
        """Shows a view by its address, and waits until it is loaded."""
        self.run("location.hash = arguments[0]", "#/" + name)
        self.wait("h1", heading)
        self.loaded()

    def loaded(self):
        self.until(lambda: not self.find(".loading, [aria-busy]"), "the end of loading")

    def sign_in(self, device):
        """Signs in by the code of a program."""
        self.device = device
        self.open("#code=" + self.server.browser_code(device))
        self.click("main button", "Sign in")
        self.wait("#account", "Signed in as")
        self.loaded()

    def prove(self):
        """Proves the key of the session again, by another code of the program."""
        self.wait("dialog h2", "Confirm with your key")
        self.type("#field-proof", self.server.browser_code(self.device))
        self.click("dialog button", "Go on")

    def authenticator(self):
        """An authenticator in the browser, whose user is always verified (WebAuthn Level 3, section 11)."""
        return self.send("POST", "/webauthn/authenticator", {
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
            "isUserVerified": True, "isUserConsenting": True})

    def enroll(self, user, code, device="laptop"):
        self.click("button", "Use an enrolment code")
        self.type("#field-user", user)
        self.type("#field-code", code)
        self.type("#field-device", device)
        self.click("button", "Make a passkey")

    def tabs(self):
        """Opens another tab of the same browser; returns what shows each of them."""
        first = self.send("GET", "/window")
        second = self.send("POST", "/window/new", {"type": "tab"})["handle"]
        return [lambda handle=handle: self.send("POST", "/window", {"handle": handle}) for handle in (first, second)]

    def photograph(self, name):
        """Pictures of what is shown: light, dark, and narrow in both. None without a folder for them."""
        if PICTURES is None:
            return
        for dark in (False, True):
            self.media(dark)
            for kind, width in (("wide", 1280), ("narrow", 390)):
                self.size(width, 900)
                self.picture(pathlib.Path(PICTURES) / f"{name}-{kind}-{'dark' if dark else 'light'}.png")
        self.media()
        self.size(1280, 900)


# What a person with a screen reader or a keyboard needs of each view. Returns a list of faults.
CHECK = r"""
const faults = [];
const visible = element => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
const all = selector => Array.from(document.querySelectorAll(selector)).filter(visible);
const name = element => element.outerHTML.slice(0, 120);
const label = element => (element.getAttribute("aria-label") ?? "").trim()
    || Array.from(element.labels ?? []).map(each => each.textContent.trim()).join(" ") || element.textContent.trim();

if (document.documentElement.lang !== "en") faults.push("no language");
if (!document.title.includes("Latchkey")) faults.push("no title");
const ids = Array.from(document.querySelectorAll("[id]"), element => element.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push("id twice: " + id);
if (all("h1").length !== 1) faults.push("not one h1");
let level = 0;
for (const heading of all("h1, h2, h3, h4")) {
    const own = Number(heading.localName[1]);
    if (own > level + 1 && !heading.closest("dialog")) faults.push("skipped level: " + name(heading));
    level = own;
}
if (all("main").length !== 1 || all("header").length !== 1) faults.push("landmarks");
for (const control of all("button, a[href], input, select, textarea, summary")) {
    if (!label(control)) faults.push("no name: " + name(control));
    const box = control.getBoundingClientRect();
    const isText = control.localName === "a" || control.type === "radio";
    if (!isText && box.height < 24) faults.push("too small: " + name(control));
    if (Number(control.getAttribute("tabindex")) > 0) faults.push("own order: " + name(control));
}
for (const described of all("[aria-describedby]")) {
    if (!document.getElementById(described.getAttribute("aria-describedby"))) faults.push("no help: " + name(described));
}
for (const table of all("table")) {
    if (!table.caption?.textContent.trim()) faults.push("no caption: " + name(table));
    const heads = Array.from(table.querySelectorAll("thead th"));
    if (heads.some(head => head.scope !== "col" || !head.textContent.trim())) faults.push("headers: " + name(table));
    for (const row of table.tBodies[0].rows) {
        if (row.cells.length !== heads.length) faults.push("cells: " + name(row));
        if (row.cells[0]?.localName !== "th") faults.push("row header: " + name(row));
    }
}
for (const image of all("img, svg")) if (!image.hasAttribute("alt")) faults.push("no alt: " + name(image));
for (const id of ["status", "problem"]) {
    if (!["status", "alert"].includes(document.getElementById(id)?.role ?? document.getElementById(id)?.getAttribute("role")))
        faults.push("no live region " + id);
}

// Contrast (WCAG 2.2, 1.4.3 and 1.4.11), from computed colours; backgrounds that are partly transparent are mixed.
const parse = text => {
    const parts = text.match(/[\d.]+/g).map(Number);
    return text.startsWith("color(srgb") ? [...parts.slice(0, 3).map(part => part * 255), parts[3] ?? 1]
        : [...parts.slice(0, 3), parts[3] ?? 1];
};
const mix = (top, bottom) => top.slice(0, 3).map((part, index) => part * top[3] + bottom[index] * (1 - top[3])).concat(1);
const ground = element => {
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
        const colour = parse(getComputedStyle(each).backgroundColor);
        layers.push(colour);
        if (colour[3] === 1) break;
    }
    return layers.reduceRight((below, layer) => mix(layer, below), [255, 255, 255, 1]);
};
const luminance = colour => colour.slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((left, right) => left - right);
    return (high + 0.05) / (low + 0.05);
};
let lowest = 21;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !visible(element) || element.closest("script, noscript")) continue;
    const box = element.getBoundingClientRect();
    if (box.width <= 1 || box.right < 0) continue;
    const style = getComputedStyle(element);
    const large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700;
    const behind = ground(element);
    const found = contrast(mix(parse(style.color), behind), behind);
    lowest = Math.min(lowest, found);
    if (found < (large ? 3 : 4.5)) faults.push(`contrast ${found.toFixed(2)}: ${name(element)}`);
}
for (const control of all("button, input, select")) {
    const style = getComputedStyle(control);
    if (control.type === "radio") continue;
    const outside = ground(control.parentElement);
    const edge = Math.max(contrast(mix(parse(style.borderTopColor), outside), outside), contrast(ground(control), outside));
    if (edge < 3) faults.push(`edge ${edge.toFixed(2)}: ${name(control)}`);
}
if (document.documentElement.scrollWidth > innerWidth) faults.push(`scrolls sideways: ${document.documentElement.scrollWidth}`);
return { faults, lowest };
"""
