// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// A program with what the person answered for it.
struct AnsweredProgram: Equatable, Sendable {
    /// The paths of the program and of those that started it.
    let programs: [String]
    /// Its app in the menu of the desktop; nil if the menu does not have it.
    let app: InstalledApp?
    var answers: [KeychainControl.ProgramAnswer]

    /// The programs of these answers, which are ordered by program. Reads files.
    static func all(_ answers: [KeychainControl.ProgramAnswer]) -> [AnsweredProgram] {
        var found: [AnsweredProgram] = []
        for answer in answers {
            if found.last?.programs == answer.programs {
                found[found.count - 1].answers.append(answer)
            } else {
                // What a program does for those that started it is not that of its menu entry.
                let app = answer.programs.count == 1 ? InstalledApp(program: answer.programs[0]) : nil
                found.append(AnsweredProgram(programs: answer.programs, app: app, answers: [answer]))
            }
        }
        return found
    }
}

/// The answers to programs that wanted to read a secret of another one: a row for each program, which shows its items.
@MainActor final class AnswersGroup {
    let content = RowGroup(AnswerWords.title, description: AnswerWords.description)
    private unowned let host: any PageHost
    private var shown: [AnsweredProgram]?
    private var isOffering = false
    private var asksAtPrompt = false
    /// The programs whose items are shown.
    private var expanded: Set<[String]> = []

    init(_ host: any PageHost) {
        self.host = host
        show([], asksAtPrompt: false)
    }

    /// Shows answers; nothing without any.
    func show(_ programs: [AnsweredProgram], asksAtPrompt: Bool) {
        self.asksAtPrompt = asksAtPrompt
        guard programs != shown else { return }
        (shown, isOffering) = (programs, false)
        content.show(programs.flatMap(rows))
    }

    /// Shows a button that lists the answers after a prompt.
    func offer() {
        guard !isOffering else { return }
        (shown, isOffering) = (nil, true)
        let button = Button(WindowWords.show) { [weak self] in self?.host.listAnswers() }
        button.setAccessibleName(HealthWords.name(WindowWords.show, of: AnswerWords.yourAnswers))
        content.show([Row(AnswerWords.yourAnswers, icon: "dialog-question-symbolic", suffix: [button])])
    }

    private func rows(_ program: AnsweredProgram) -> [Row] {
        let items = program.answers.map { answer in itemRow(answer, of: program) }
        let (name, later) = (AnswerWords.name(program), Later())
        let summary = Button(WindowWords.show) { later.run() }
        let draw: @MainActor (Bool) -> Void = { [weak summary] isExpanded in
            guard let summary else { return }
            summary.showExpanded(isExpanded)
            for item in items { item.isVisible = isExpanded }
            summary.title = isExpanded ? WindowWords.hide : WindowWords.show
            summary.setAccessibleName(HealthWords.name(summary.title, of: name))
        }
        // The button owns its action, and the action what it changes: a row keeps no widget of its end.
        later.action = { [weak self] in
            let isExpanded = !summary.isExpanded
            draw(isExpanded)
            if isExpanded {
                self?.expanded.insert(program.programs)
            } else {
                self?.expanded.remove(program.programs)
            }
        }
        draw(expanded.contains(program.programs))
        let row = Row(
            name, subtitle: AnswerWords.subtitle(program), icon: "application-x-executable-symbolic",
            app: program.app?.icon, suffix: [summary])
        return [row] + items
    }

    private func itemRow(_ answer: KeychainControl.ProgramAnswer, of program: AnsweredProgram) -> Row {
        let item = AnswerWords.item(answer)
        let button = Button(AnswerWords.withdraw) { [weak self] in self?.withdraw(answer, of: program) }
        button.setAccessibleName(HealthWords.name(AnswerWords.withdraw, of: item))
        return Row(
            item, subtitle: AnswerWords.meaning(answer),
            icon: answer.mayRead ? "emblem-ok-symbolic" : "action-unavailable-symbolic", suffix: [button])
    }

    private func withdraw(_ answer: KeychainControl.ProgramAnswer, of program: AnsweredProgram) {
        let control = KeychainControl()
        let done = AnswerWords.wasWithdrawn(answer, AnswerWords.name(program))
        host.perform(
            Operation(
                waiting: asksAtPrompt ? WindowWords.answerPrompt : AnswerWords.withdrawing,
                cancel: { control.cancel() },
                body: { _ throws(SettingsFailure) in
                    try control.withdraw(answer)
                    return Operation.Outcome(words: done, withdrawn: answer)
                }))
    }
}
