// SPDX-License-Identifier: Apache-2.0

/// Locking, by a person or by the clock.
extension QuickNoteModel {
    /// Locks: saves, and takes every text and the key out of memory.
    public func lock() async {
        guard notebook != nil else { return }
        turn += 1
        // What is typed while it saves is saved as well.
        while await save(), notebook?.isDirty == true {}
        // What the keychain did not take is kept sealed, and told.
        do throws(QuickNoteError) {
            kept += try notebook?.kept() ?? []
        } catch {
            // Sealing in memory has no reason to fail; if it does, a lost text is worse than a late lock.
            return report(error)
        }
        notebook = nil
        lastChange = nil
        passwordPrompt = nil
        flow = nil
        phase = .locked
        if !kept.isEmpty {
            message = "A note could not be saved. It comes back when you unlock; do not close the app before that."
        }
        await look()
    }

    /// Whether closing the app now would lose a text.
    public var hasUnsavedText: Bool { notebook?.isDirty == true || !kept.isEmpty }

    /// Time until `tick` has something to do; nil when it has nothing. It grows with input, and shrinks with a change of
    /// the text, which is observed.
    public var untilTick: Duration? {
        guard notebook != nil else { return nil }
        let due = [setup.autoLock.map { lastInput + $0 }, lastChange.map { $0 + setup.autoSave }].compactMap { $0 }
            .min()
        return due.map { max(.zero, $0 - setup.clock.elapsed) }
    }

    /// To be called after `untilTick`, or about every second: saves what has not changed for a while, and locks when
    /// nobody does anything.
    public func tick() async {
        guard notebook != nil else { return }
        let now = setup.clock.elapsed
        if let autoLock = setup.autoLock, now - lastInput >= autoLock { return await lock() }
        if let lastChange, now - lastChange >= setup.autoSave { await save() }
    }

    /// Tells that somebody is there: any key or pointer in the window.
    public func touch() { lastInput = setup.clock.elapsed }
}
