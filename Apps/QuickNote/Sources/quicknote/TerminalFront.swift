// SPDX-License-Identifier: Apache-2.0

import Foundation
import QuickNoteCore
@_spi(Apps) import Security

/// The terminal front end: reads commands line by line and prints the state of the model.
@MainActor
struct TerminalFront {
    let model: QuickNoteModel
    private let input = TerminalInput()

    /// Runs until the user quits; returns the exit status.
    func run() async -> Int32 {
        await model.start()
        while true {
            if let message = model.message {
                say(message)
                model.dismissMessage()
            }
            let goesOn: Bool
            switch model.phase {
            case .starting: goesOn = true
            case .unavailable(let words):
                try? FileHandle.standardError.write(contentsOf: Data("error: \(words)\n".utf8))
                return 1
            case .firstRun: goesOn = await setPassword()
            case .locked: goesOn = await unlock()
            case .unlocked: goesOn = await command()
            }
            guard goesOn else { return await leave() }
        }
    }

    private func leave() async -> Int32 {
        await model.lock()
        guard model.hasUnsavedText else { return 0 }
        try? FileHandle.standardError.write(contentsOf: Data("error: a note is not saved.\n".utf8))
        return 1
    }

    private func setPassword() async -> Bool {
        say("Choose a password for your notes.")
        guard let password = input.secret("Password: "), let again = input.secret("Again: ") else { return false }
        await model.setPassword(password, again: again)
        return true
    }

    private func unlock() async -> Bool {
        guard let prompt = model.passwordPrompt else {
            let button = model.lockButton
            if let warning = button.warning { say(warning) }
            guard let answer = input.line("Return: \(button.title), p: password, q: quit > ") else { return false }
            switch answer {
            case "": await model.unlock()
            case "p": model.askForPassword()
            case "q": return false
            default: say("There is no command \(Self.shown(answer)).")
            }
            return true
        }
        say(prompt.error ?? prompt.words)
        guard let password = input.secret("Password (empty: back): ") else { return false }
        if password.isEmpty { model.cancelPassword() } else { await model.submitPassword(password) }
        return true
    }

    private func command() async -> Bool {
        await model.refresh()
        show()
        guard let line = input.line("> ") else { return false }
        await model.tick()
        guard model.phase == .unlocked else { return true }
        model.touch()
        let (verb, rest) = Self.split(line)
        switch verb {
        case "", "?", "help":
            say("n: new, number: open, a TEXT: add a line, d: delete, u: undo, r: redo, / WORDS: search,")
            say("l: lock, c: change password, q: quit")
        case "n": await model.newNote()
        case "a":
            if model.selection == nil { await model.newNote() }
            model.paste(Data(((model.text.isEmpty ? "" : "\n") + rest).utf8))
            await model.save()
        case "d": await model.deleteNote()
        case "u":
            await model.undo()
            await model.save()
        case "r":
            model.redo()
            await model.save()
        case "/": model.search = rest
        case "l": await model.lock()
        case "c": await changePassword()
        case "q": return false
        default:
            if let number = Int(verb), number >= 1, number <= model.notes.count {
                await model.select(model.notes[number - 1].id)
            } else {
                say("There is no command \(Self.shown(verb)). Type ? for help.")
            }
        }
        return true
    }

    private func changePassword() async {
        guard let old = input.secret("Old password: "), let new = input.secret("New password: "),
            let again = input.secret("Again: ")
        else { return }
        if await model.changePassword(from: old, to: new, again: again) { say("The password is changed.") }
    }

    private func show() {
        if let empty = model.emptyList { say("\(empty.title). \(empty.words)") }
        for (number, note) in model.notes.enumerated() {
            let mark = note.id == model.selection ? "*" : " "
            say("\(mark) \(number + 1)  \(Self.shown(note.title))\(note.isUnsaved ? " (not saved)" : "")")
        }
        if model.selection != nil { say("---\n\(Self.shown(model.text))\n---") }
    }

    private static func split(_ line: String) -> (verb: String, rest: String) {
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts.first ?? ""), parts.count > 1 ? String(parts[1]) : "")
    }

    /// Removes control characters, which could move the cursor or change the terminal.
    private static func shown(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0 == "\n" || $0.properties.generalCategory != .control }))
    }
}

/// Writes a line to standard output. Without a reader, or without an output, the program cannot be used: it ends.
func say(_ text: String = "", terminator: String = "\n") {
    guard ProgramState.write(text + terminator) else { exit(74) }
}
