// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyModel

/// `latchkey secrets`: chooses the provider of the session's secrets, and copies the items of another one.
struct SecretsCommand: Sendable {
    let setup: SecretsSetup
    let bus: SystemBus
    let texts: SecretsTexts
    var keeper: any SecretKeeper = DaemonKeeper()
    /// Writes the result.
    let write: @Sendable (String) -> Void
    /// Writes what happens meanwhile.
    let note: @Sendable (String) -> Void

    private var conversation: BusConversation { BusConversation(bus: bus) }

    func run(_ arguments: [String]) throws(Failure) {
        let flags = Set(arguments.dropFirst())
        let allowed: Set<String> =
            switch arguments.first {
            case "status": ["--json"]
            case "import": ["--json", "--dry-run"]
            default: []
            }
        guard flags.isSubset(of: allowed), flags.count == arguments.count - 1 else { throw texts.misused }
        switch arguments.first {
        case "enable": try enable()
        case "disable": try disable()
        case "status": try status(isJSON: flags.contains("--json"))
        case "import": try importItems(isDryRun: flags.contains("--dry-run"), isJSON: flags.contains("--json"))
        default: throw texts.misused
        }
    }

    private func failing<Result>(_ body: () throws(BusError) -> Result) throws(Failure) -> Result {
        do throws(BusError) { return try body() } catch { throw texts.bus(error) }
    }

    private func owner() throws(Failure) -> NameOwner? {
        try failing { () throws(BusError) in try conversation.owner(of: SecretProvider.name) }
    }

    // MARK: - Verbs

    private func enable() throws(Failure) {
        if let owner = try owner(), !owner.isOurs { throw texts.nameIsTaken(by: owner) }
        guard !setup.hasForeignFile else { throw texts.foreignFile(setup.serviceFile) }
        try setup.enable()
        try failing { () throws(BusError) in try conversation.reload() }
        write(texts.enabled + "\n")
    }

    private func disable() throws(Failure) {
        let wasEnabled = setup.disable()
        try failing { () throws(BusError) in try conversation.reload() }
        if let owner = try owner(), owner.isOurs { owner.end() }
        write((wasEnabled ? texts.disabled : texts.wasDisabled) + "\n")
    }

    private func status(isJSON: Bool) throws(Failure) {
        let owner = try owner()
        if isJSON {
            let provider = owner.map { owner in
                JSON.object([
                    ("program", .text(owner.program)), ("process", .number(Int64(owner.processID))),
                    ("isLatchkey", .boolean(owner.isOurs)),
                ])
            }
            let report = JSON.object([("enabled", .boolean(setup.isEnabled)), ("provider", provider ?? .null)])
            return write(report.line + "\n")
        }
        let running = owner.map { $0.isOurs ? texts.runs : texts.isForeign($0) } ?? texts.isIdle
        write((setup.isEnabled ? texts.isEnabled : texts.isDisabled) + "\n" + running + "\n")
    }

    private func importItems(isDryRun: Bool, isJSON: Bool) throws(Failure) {
        guard let owner = try owner(), !owner.isOurs else { throw texts.noSource }
        let source = OtherKeyring(conversation, texts)
        let copy = SecretImport(source: source, keeper: keeper, isDryRun: isDryRun) { label, done, total in
            if !isJSON { note(texts.collection(label, done, total) + "\n") }
        }
        let report = try copy.run()
        write(isJSON ? report.json.line + "\n" : texts.imported(report) + "\n")
        if let failure = report.failed.first {
            throw Failure(.itemNotFound, "\(report.failed.count) items were not copied, such as \(failure.label).")
        }
    }
}
