// SPDX-License-Identifier: Apache-2.0

import QuickNoteCore
import Widgets

/// The page shown while the notes are locked: how to unlock, in front of a blurred picture without real text.
@MainActor final class LockedPage {
    let page: Widget
    private let picture = Picture(points: 96)
    private let words = Label(styles: ["dim-label"], isCentred: true)
    private let asking = Label(styles: ["heading"], announces: true, isCentred: true)
    private let warning = Label(styles: ["caption", "warning"], isCentred: true)
    private let unlock: Button
    private let password: Button

    init(unlock: @escaping @MainActor () -> Void, usePassword: @escaping @MainActor () -> Void) {
        self.unlock = Button(icon: "changes-prevent-symbolic", styles: ["pill", "suggested-action"], unlock)
        password = Button("Use Password", styles: ["pill", "flat"], usePassword)
        let buttons = Box(.down, spacing: 6, [self.unlock, password])
        buttons.centre()
        let title = Label("Your Notes Are Locked", styles: ["title-1"], isCentred: true)
        page = Blurred(
            Page(Box(.down, spacing: 12, [picture, title, words, asking, warning]), width: 420, foot: buttons))
    }

    /// Shows how to unlock now, and what the sensor waits for.
    func show(_ model: QuickNoteModel) {
        let button = model.lockButton
        let byBiometry = model.takesPassword && button.symbolName != "lock"
        // A sensor is in the picture only while it scans; that of the button says what pressing it starts.
        picture.show(model.askingWords == nil ? "changes-prevent-symbolic" : button.iconName)
        words.show(model.askingWords == nil ? model.lockedWords : nil)
        asking.show(model.askingWords)
        // Shown before the button is pressed, since pressing it starts the scan.
        warning.show(model.askingWords == nil ? button.warning : nil)
        if let text = button.warning { unlock.setAccessibleDescription(text) }
        unlock.title = button.title
        unlock.showIcon(button.iconName)
        unlock.isVisible = model.askingWords == nil
        password.isVisible = byBiometry || model.askingWords != nil
    }

    /// Moves the focus to the visible button.
    func focus() { if unlock.isVisible { unlock.focus() } else { password.focus() } }
}
