// SPDX-License-Identifier: Apache-2.0

import CAdwaita

/// A button that shows and hides lines below it.
public final class Details: Widget {
    private let button: Button
    private let toggled = Later()

    /// Creates a closed button in the middle, above its lines.
    public init(_ lines: [Widget]) {
        let (content, later, toggled) = (Box(.down, spacing: 2, lines), Later(), toggled)
        let button = Button(icon: "pan-end-symbolic", styles: ["flat", "caption"]) { later.run() }
        button.centre(down: false)
        // A click leaves the focus in the field, so that the person can continue to type.
        button.leaveFocusOnClick()
        button.showExpanded(false)
        content.isVisible = false
        // The button owns its action, also after this value is gone.
        later.action = {
            content.isVisible = !button.isExpanded
            if content.isVisible { Reveal.show(content.widget) }
            button.showExpanded(content.isVisible)
            button.showIcon(content.isVisible ? "pan-down-symbolic" : "pan-end-symbolic")
            toggled.run()
        }
        self.button = button
        super.init(Box(.down, spacing: 2, [button, content]).widget)
    }

    /// Calls `action` when the lines were shown or hidden.
    public func whenToggled(_ action: @escaping @MainActor () -> Void) { toggled.action = action }

    /// Changes the title; hides the button and its lines when it is nil.
    public func show(_ title: String?) {
        button.title = title ?? ""
        isVisible = title != nil
    }
}
