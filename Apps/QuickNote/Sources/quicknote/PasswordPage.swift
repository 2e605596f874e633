// SPDX-License-Identifier: Apache-2.0

import Widgets

/// A page with one or more password fields, an explanation, and the error of the last attempt.
@MainActor final class PasswordPage {
    let page: Page
    private let words = Label(styles: ["dim-label"], isCentred: true)
    private let error = Label(styles: ["error"], announces: true, isCentred: true)
    private var fields: [PasswordField] = []
    private var submit: Button?
    private let action: @MainActor ([String]) -> Void

    /// Creates a page with this title.
    ///
    /// - Parameters:
    ///   - fields: the label of each field.
    ///   - submit: the title of the button that passes the passwords to `action`.
    ///   - cancel: called by the Cancel button; nil for none.
    init(
        _ title: String, icon: String, fields names: [String], submit: String,
        cancel: (@MainActor () -> Void)? = nil, action: @escaping @MainActor ([String]) -> Void
    ) {
        self.action = action
        let picture = Picture(icon, points: 64)
        picture.setStyle("dim-label")
        let box = Box(.down, spacing: 12, [picture, Label(title, styles: ["title-1"], isCentred: true), words])
        // The error is beside what tries again, in sight whatever is scrolled.
        let foot = Box(.down, spacing: 12, [error])
        page = Page(box, width: 520, foot: foot)
        for (number, name) in names.enumerated() {
            let field = PasswordField(name) { [weak self] in self?.entered(number) }
            let label = Label(name, styles: ["caption", "dim-label"])
            fields.append(field)
            box.append(Box(.down, spacing: 4, [label, field]))
        }
        let buttons = Box(.across, spacing: 12)
        buttons.centre()
        if let cancel { buttons.append(Button("Cancel", styles: ["pill"], cancel)) }
        let button = Button(submit, styles: ["pill", "suggested-action"]) { [weak self] in self?.give() }
        buttons.append(button)
        self.submit = button
        foot.append(buttons)
        error.isVisible = false
    }

    /// Shows the explanation and the error of the last attempt.
    func show(words: String, error: String?, isBusy: Bool) {
        self.words.text = words
        self.error.show(error)
        submit?.isSensitive = !isBusy
        for field in fields { field.setAccessibleDescription([error, words].compactMap { $0 }.joined(separator: " ")) }
    }

    /// Moves the focus to the first field.
    func focus() { fields.first?.focus() }

    /// Wipes what was typed.
    func clear() { for field in fields { field.clear() } }

    private func entered(_ number: Int) {
        if number + 1 < fields.count { fields[number + 1].focus() } else { give() }
    }

    private func give() {
        guard submit?.isSensitive == true else { return }
        let typed = fields.map { field in field.take { String(decoding: $0, as: UTF8.self) } }
        fields.first?.focus()
        action(typed)
    }
}
