// SPDX-License-Identifier: Apache-2.0

/// Locking, by the user or after inactivity.
extension QuickNoteModel {
    /// Saves and locks: releases every text and the key.
    public func lock() async {
        guard notebook != nil else { return }
        turn += 1
        // Text typed while it saves is saved as well.
        while await save(), notebook?.isDirty == true {}
        // Text that the keychain did not accept is retained in sealed form and reported.
        do throws(QuickNoteError) {
            kept += try notebook?.kept() ?? []
        } catch {
            // Sealing in memory should not fail; if it does, a lost text would be worse than a late lock.
            return report(error)
        }
        notebook = nil
        lastChange = nil
        passwordPrompt = nil
        flow = nil
        phase = .locked
        if !kept.isEmpty {
            message = Self.keptWords
        }
        await look()
    }

    static let keptWords = "A note could not be saved. It comes back when you unlock; do not close the app before that."

    /// Whether closing the app now would lose text.
    public var hasUnsavedText: Bool { notebook?.isDirty == true || !kept.isEmpty }

    /// Time until `tick` has work to do; nil when it has none. Input makes it longer. A change of the text makes it
    /// shorter, and observers of the model are notified of that change.
    public var untilTick: Duration? {
        guard notebook != nil else { return nil }
        let due = [setup.autoLock.map { lastInput + $0 }, lastChange.map { $0 + setup.autoSave }].compactMap { $0 }
            .min()
        return due.map { max(.zero, $0 - setup.clock.elapsed) }
    }

    /// Saves text that has not changed for a while, and locks after inactivity. Must be called when the time
    /// `untilTick` has passed, or about every second.
    public func tick() async {
        guard notebook != nil else { return }
        let now = setup.clock.elapsed
        if let autoLock = setup.autoLock, now - lastInput >= autoLock { return await lock() }
        if let lastChange, now - lastChange >= setup.autoSave { await save() }
    }

    /// Reports activity of the user: any key or pointer event in the window.
    public func touch() { lastInput = setup.clock.elapsed }
}
