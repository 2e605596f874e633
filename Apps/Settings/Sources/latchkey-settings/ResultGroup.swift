// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// What an operation of a page has done, as a list that stays until another page is open.
@MainActor final class ResultGroup {
    let content = RowGroup(BackupWords.resultTitle)
    private unowned let host: any PageHost

    init(_ host: any PageHost) {
        self.host = host
        leave()
    }

    /// Shows lines; nothing without any.
    func show(_ lines: [Operation.Outcome.Line]) {
        content.show(lines.map(row))
        // A screen reader then says the first line.
        if !lines.isEmpty { content.focusInside() }
    }

    func leave() { content.show([]) }

    private func row(_ line: Operation.Outcome.Line) -> Row {
        let icon =
            switch line.mark {
            case .done: "object-select-symbolic"
            case .open: OpenWords.icon
            case .warning: "dialog-warning-symbolic"
            }
        var action: (@MainActor () -> Void)?
        if let page = line.page { action = { [weak self] in self?.host.open(page) } }
        let row = Row(line.words, subtitle: line.more, icon: icon, action: action)
        if line.mark == .warning { row.showIcon(icon, style: "warning") }
        return row
    }
}
