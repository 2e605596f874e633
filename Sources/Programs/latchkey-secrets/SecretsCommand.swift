// SPDX-License-Identifier: Apache-2.0

import BusDrivers
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// `latchkey secrets`: chooses the provider of the session's secrets, and copies items from another one and to it.
struct SecretsCommand: Sendable {
    let setup: SecretsSetup
    /// Connects to the bus of the session, which some verbs do not need.
    let bus: @Sendable () throws(Failure) -> SystemBus
    let texts: SecretsTexts
    var keeper: any SecretKeeper = DaemonKeeper()
    /// Writes the result.
    let write: @Sendable (String) -> Void
    /// Writes what happens meanwhile.
    let note: @Sendable (String) -> Void

    private func conversation() throws(Failure) -> BusConversation { BusConversation(bus: try bus()) }

    func run(_ arguments: [String]) throws(Failure) {
        if arguments.first == "answers" { return try answers(Array(arguments.dropFirst())) }
        let flags = Set(arguments.dropFirst())
        let allowed: Set<String> =
            switch arguments.first {
            case "status": ["--json"]
            case "import", "export": ["--json", "--dry-run"]
            default: []
            }
        guard flags.isSubset(of: allowed), flags.count == arguments.count - 1 else { throw texts.misused }
        switch arguments.first {
        case "enable": try enable()
        case "disable": try disable()
        case "status": try status(isJSON: flags.contains("--json"))
        case "import": try importItems(isDryRun: flags.contains("--dry-run"), isJSON: flags.contains("--json"))
        case "export": try exportItems(isDryRun: flags.contains("--dry-run"), isJSON: flags.contains("--json"))
        default: throw texts.misused
        }
    }

    private func failing<Result>(_ body: () throws(BusError) -> Result) throws(Failure) -> Result {
        do throws(BusError) { return try body() } catch { throw texts.bus(error) }
    }

    private func owner(_ conversation: BusConversation) throws(Failure) -> NameOwner? {
        try failing { () throws(BusError) in try conversation.owner(of: SecretProvider.name) }
    }

    // MARK: - Verbs

    private func enable() throws(Failure) {
        let conversation = try conversation()
        if let owner = try owner(conversation), !owner.isOurs { throw texts.nameIsTaken(by: owner) }
        guard !setup.hasForeignFile else { throw texts.foreignFile(setup.serviceFile) }
        try setup.enable()
        try failing { () throws(BusError) in try conversation.reload() }
        write(texts.enabled + "\n")
    }

    private func disable() throws(Failure) {
        let conversation = try conversation()
        let wasEnabled = setup.disable()
        try failing { () throws(BusError) in try conversation.reload() }
        if let owner = try owner(conversation), owner.isOurs {
            do throws(SystemError) { try owner.end() } catch {
                throw Failure(error, "Process \(owner.processID), which serves the session, does not end")
            }
        }
        write((wasEnabled ? texts.disabled : texts.wasDisabled) + "\n")
    }

    private func status(isJSON: Bool) throws(Failure) {
        let owner = try owner(conversation())
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

    // MARK: - Answers

    /// Lists the answers of the person, or forgets those for a program.
    private func answers(_ arguments: [String]) throws(Failure) {
        let process = try AskingProcess.own
        let isJSON = arguments.contains("--json")
        let rest = arguments.filter { $0 != "--json" }
        guard rest.isEmpty || rest.count == 2 && rest[0] == "--forget" else { throw texts.misused }
        let answers = try keeper.use(.answers, for: process, CallCancellation()).map(StoredAnswer.init)
        guard let program = rest.last else { return list(answers, isJSON: isJSON) }
        let forgotten = answers.filter { $0.program.hasBytes(of: program) }
        guard !forgotten.isEmpty else { throw texts.noAnswer(program) }
        for answer in forgotten {
            _ = try keeper.use(
                .forgetAnswer(item: answer.item, answer: answer.identifier), for: process, CallCancellation())
        }
        write(isJSON ? "{}\n" : texts.forgotten(program) + "\n")
    }

    private func list(_ answers: [StoredAnswer], isJSON: Bool) {
        if isJSON {
            let rows = answers.map { answer in
                JSON.object([
                    ("program", .text(answer.program)), ("answer", .text(answer.answer)), ("item", .text(answer.item)),
                    ("label", answer.itemLabel.map { JSON.text($0) } ?? .null),
                ])
            }
            return write(JSON.array(rows).line + "\n")
        }
        guard !answers.isEmpty else { return write(texts.noAnswers + "\n") }
        for answer in answers {
            let item = answer.itemLabel.map { "“\($0.withoutControls)”" } ?? answer.item
            let end = answer.answer == SecretAnswer.session.rawValue ? "  (\(texts.untilLogout))" : ""
            write("\(answer.answer)  \(answer.program.withoutControls)  \(item)\(end)\n")
        }
    }

    private func importItems(isDryRun: Bool, isJSON: Bool) throws(Failure) {
        let conversation = try conversation()
        guard let owner = try owner(conversation), !owner.isOurs else { throw texts.noSource }
        let source = OtherKeyring(conversation, texts)
        let copy = SecretImport(source: source, keeper: keeper, isDryRun: isDryRun, progress: progress(isJSON))
        try finish(try copy.run(), isJSON, texts.imported)
    }

    private func exportItems(isDryRun: Bool, isJSON: Bool) throws(Failure) {
        let conversation = try conversation()
        guard let owner = try owner(conversation), !owner.isOurs else { throw texts.noTarget }
        if !isJSON { note(texts.isForeign(owner) + "\n") }
        let target = OtherKeyring(conversation, texts)
        let copy = SecretExport(
            target: target, keeper: keeper, texts: texts, isDryRun: isDryRun, progress: progress(isJSON))
        try finish(try copy.run(), isJSON, texts.exported)
    }

    private func progress(_ isJSON: Bool) -> @Sendable (String, Int, Int) -> Void {
        { label, done, total in if !isJSON { note(texts.collection(label, done, total) + "\n") } }
    }

    private func finish(_ report: CopyReport, _ isJSON: Bool, _ text: (CopyReport) -> String) throws(Failure) {
        write(isJSON ? report.json.line + "\n" : text(report) + "\n")
        if let failure = report.failed.first {
            throw Failure(.itemNotFound, "\(report.failed.count) items were not copied, such as \(failure.label).")
        }
    }
}

/// What the person answered when a program asked for an item of another one.
struct StoredAnswer: Sendable {
    let item: String
    /// Nil if the item was deleted since.
    let itemLabel: String?
    let identifier: String
    let program: String
    let answer: String

    init(_ found: FoundItem) throws(Failure) {
        func text(_ code: AttributeCode) throws(Failure) -> String {
            guard case .text(let text)? = found.attributes?[code] else { throw .unexpectedReply }
            return text
        }
        // The collection of its row: @answers/ITEM.
        item = Files.name(of: try text(.collection))
        itemLabel = found.attributes?[.itemDescription] == nil ? nil : try text(.itemDescription)
        identifier = try text(.identifier)
        program = try text(.owner)
        answer = try text(.label)
    }
}
