// SPDX-License-Identifier: Apache-2.0

// Elements, and texts of the database. Texts become text nodes only: nothing here, and no other file, makes markup of a text.

/// Characters without a picture, which could change how a line reads: controls, marks of the direction, separators.
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Cn}\p{Co}]/u;

export function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (typeof value === "function") made.addEventListener(key, value);
        else if (value === true) made.setAttribute(key, "");
        else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
    return made;
}

/// A text of the database, whose direction does not reach what is around it, and whose invisible characters are named.
export function shown(text, none = "no name") {
    if (text === "") return element("em", { class: "none" }, none);
    const made = element("bdi");
    for (const part of text.split(/([\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Cn}\p{Co}])/u)) {
        if (part === "") continue;
        made.append(invisible.test(part) ? element("span", { class: "invisible" }, codePoint(part)) : part);
    }
    return made;
}

/// The same as a plain text, for titles and labels.
export function plain(text) {
    return Array.from(text, part => invisible.test(part) ? `[${codePoint(part)}]` : part).join("");
}

function codePoint(character) {
    return "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
}

const short = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

/// A time in seconds since 1970, as local time.
export function time(seconds) {
    const date = new Date(seconds * 1000);
    // A wrong row of the database must not end the page.
    if (Number.isNaN(date.getTime())) return element("span", {}, `${seconds} s`);
    return element("time", { datetime: date.toISOString(), title: `${full.format(date)} (${date.toISOString()})` },
        short.format(date));
}

/// The time of now, as the browser has it.
export function clockTime() { return new Date().toLocaleTimeString(undefined, { timeStyle: "medium" }); }

/// The first characters of an identifier, with all of it in the title.
export function identifier(text) {
    return element("code", { title: text }, text.length > 12 ? text.slice(0, 12) + "…" : text);
}

export function button(label, action, properties = {}) {
    return element("button", { type: "button", click: action, ...properties }, label);
}

export function badge(text, kind = "") { return element("span", { class: `badge ${kind}`.trim() }, text); }

/// A number of things, in words.
export function count(number, one, many) { return `${number.toLocaleString()} ${number === 1 ? one : many}`; }

/// A table whose columns are `[heading, class, explanation]`, and whose rows are lists of cells. The roles stay when the layout of a narrow
/// screen shows each row as a block.
export function table(caption, columns, rows) {
    const head = element("tr", { role: "row" },
        columns.map(([heading, kind, about]) => element("th", { scope: "col", role: "columnheader", class: kind },
            heading, about ? element("span", { class: "about" }, about) : null)));
    const body = rows.map(cells => element("tr", { role: "row" }, cells.map((cell, index) => {
        const first = index === 0;
        return element(first ? "th" : "td", {
            role: first ? "rowheader" : "cell", scope: first ? "row" : null, class: columns[index][1],
            "data-label": columns[index][0],
        }, element("div", {}, cell));
    })));
    return element("table", { role: "table" }, element("caption", {}, caption),
        element("thead", { role: "rowgroup" }, head), element("tbody", { role: "rowgroup" }, body));
}

/// What a view has in place of a table that would be empty.
export function nothing(text) {
    return element("div", { class: "scroll" }, element("p", { class: "empty" }, text));
}

/// A field with its label, and a sentence about it.
export function field(label, name, properties = {}, about = "") {
    const id = `field-${name}`;
    const help = about ? element("p", { id: `${id}-help`, class: "help" }, about) : null;
    const input = element("input", {
        id, name, required: true, spellcheck: "false", autocapitalize: "none", autocomplete: "off",
        "aria-describedby": help ? help.id : null, ...properties,
    });
    return { box: element("div", { class: "field" }, element("label", { for: id }, label), input, help), input };
}

// MARK: - What the person is told

export function say(text) {
    const status = document.getElementById("status");
    status.textContent = text;
    status.hidden = text === "";
    if (text !== "") complain("");
}

export function complain(text) {
    const problem = document.getElementById("problem");
    problem.textContent = text;
    problem.hidden = text === "";
    if (text !== "") say("");
}

/// Shows a view: its heading gets the focus, so that a keyboard and a screen reader go on there.
export function show(title, ...children) {
    const heading = element("h1", { tabindex: "-1" }, title);
    // What the person is told is below the heading of each view.
    document.getElementById("main").replaceChildren(heading, document.getElementById("notices"),
        ...children.flat(Infinity).filter(Boolean));
    document.title = `${heading.textContent} – Latchkey administration`;
    heading.focus({ preventScroll: true });
    scrollTo(0, 0);
    return heading;
}

/// Whether the address is still that of now: a reply that comes later must not replace another view.
export function place() {
    const hash = location.hash;
    return () => location.hash === hash;
}

/// Asks before something happens. Returns whether the person agreed.
export function confirm({ title, text, action, danger = false, content = [] }) {
    return ask({ title, text, content, buttons: [["Cancel", null], [action, true, danger ? "danger" : "primary"]] });
}

/// Shows a dialog; returns the value of the button that was chosen, or null. The first button has the focus.
export function ask({ title, text, content = [], buttons }) {
    const dialog = document.getElementById("dialog");
    return new Promise(resolve => {
        let result = null;
        const row = buttons.map(([label, value, kind]) => button(label, () => {
            result = value;
            dialog.close();
        }, { class: kind ?? "" }));
        dialog.replaceChildren(
            element("h2", { id: "dialog-title" }, title),
            ...[text].flat().map(part => element("p", {}, part)), ...content, element("div", { class: "row end" }, row));
        dialog.onclose = () => {
            // What was shown, such as a code, does not stay in the page.
            dialog.replaceChildren();
            resolve(result);
        };
        dialog.showModal();
        (dialog.querySelector("input") ?? row[0]).focus();
    });
}
