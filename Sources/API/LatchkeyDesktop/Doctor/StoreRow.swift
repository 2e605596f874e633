// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem

/// The files of the user's own store.
package struct StoreFacts: Equatable, Sendable {
    /// The folder, or why there is none.
    package var folder: Result<String, Failure>
    package var state: PathState?
    package var rootKey: PathState?
    package var hasDatabase: Bool
    package var user: UInt32
    /// Whether the items were moved to the system's keychain, after which the root key has another name.
    package var wasMoved = false
    /// Whether `LATCHKEY_HOME` names the folder.
    package var isChosen = false

    /// Whether the first call creates a store.
    package var isNew: Bool {
        guard case .success = folder else { return false }
        return rootKey == nil && !hasDatabase
    }
}

extension StoreFacts {
    /// Reads the files of the store that this process would use.
    package init() {
        self.init(
            reading: Result { () throws(Failure) in try StoreLocation.folder() },
            isChosen: Environment.value("LATCHKEY_HOME") != nil)
    }

    package init(reading folder: Result<String, Failure>, isChosen: Bool = false) {
        // Without a folder the row shows the failure and none of the other values.
        let path = (try? folder.get()) ?? ""
        self.init(
            folder: folder, state: PathState(path), rootKey: PathState(path + "/root.key"),
            hasDatabase: Files.exists(path + "/keychain.sqlite"), user: geteuid(),
            wasMoved: Files.exists(path + "/root.key.moved"), isChosen: isChosen)
    }
}

extension DoctorRow {
    /// The user's own store: place, owner, modes, and the problem that the daemon reports.
    package static func store(_ facts: StoreFacts, _ report: StatusReport?) -> DoctorRow {
        let name = "store"
        let path: String
        switch facts.folder {
        case .failure(let failure):
            let found = failure.hint.isEmpty ? failure.message : failure.message + " " + failure.hint
            return DoctorRow(name, .attention, found, facts.isChosen ? .init("unset LATCHKEY_HOME") : nil)
        case .success(let found): path = found
        }
        guard let state = facts.state else {
            return DoctorRow(name, .absent, "\(path) does not exist; the first call creates it")
        }
        let word = ShellWord.quoted(path)
        guard state.kind == .folder else {
            return DoctorRow(name, .attention, "\(path) is not a folder", .init("mv \(word) \(word).old"))
        }
        guard state.owner == facts.user else {
            return DoctorRow(
                name, .attention, "\(path) belongs to user \(state.owner), not to you (\(facts.user))",
                .init("chown -R \(facts.user) \(word)", needsRoot: true))
        }
        guard state.mode & 0o077 == 0 else {
            return DoctorRow(
                name, .attention,
                "\(path) can be read or changed by other users (mode \(String(state.mode, radix: 8)))",
                .init("chmod 700 \(word)"))
        }
        if let defect = rootKeyDefect(path, facts) { return defect }
        guard facts.rootKey != nil else {
            return DoctorRow(name, .absent, "\(path) is empty; the first call creates the store")
        }
        return problem(report) ?? DoctorRow(name, .ok, "\(path)")
    }

    /// The store of a user in the system's keychain, whose files the user cannot see.
    package static func systemStore(_ report: StatusReport?) -> DoctorRow {
        problem(report)
            ?? report.map { DoctorRow("store", .ok, "\($0.storePath)") }
            ?? DoctorRow("store", .absent, "not known, because latchkeyd does not answer")
    }

    private static func problem(_ report: StatusReport?) -> DoctorRow? {
        report?.problem.map { problem in
            let found = problem.hint.isEmpty ? problem.message : problem.message + " " + problem.hint
            return DoctorRow("store", .attention, found, .init("latchkey check"))
        }
    }

    private static func rootKeyDefect(_ path: String, _ facts: StoreFacts) -> DoctorRow? {
        let file = path + "/root.key"
        guard let key = facts.rootKey else {
            guard facts.hasDatabase else { return nil }
            guard !facts.wasMoved else {
                return DoctorRow(
                    "store", .attention,
                    "\(path) was moved to the system's keychain, which this machine does not have; root.key.moved in it"
                        + " opens it again",
                    .init("mv \(ShellWord.quoted(file + ".moved")) \(ShellWord.quoted(file))"))
            }
            let (from, to) = (ShellWord.quoted(path), ShellWord.quoted(path + ".without-key"))
            return DoctorRow(
                "store", .attention,
                "\(file) is missing, so the items cannot be decrypted. Restore it from a backup; only without one,"
                    + " begin with an empty store", .init("mv \(from) \(to)"))
        }
        guard key.kind == .file, key.owner == facts.user, key.mode & 0o077 == 0 else {
            let word = ShellWord.quoted(file)
            return key.kind == .file && key.owner == facts.user
                ? DoctorRow(
                    "store", .attention, "\(file) can be read by other users (mode \(String(key.mode, radix: 8)))",
                    .init("chmod 600 \(word)"))
                : DoctorRow(
                    "store", .attention, "\(file) is not a file of yours",
                    .init("chown \(facts.user) \(word)", needsRoot: true))
        }
        return nil
    }
}
