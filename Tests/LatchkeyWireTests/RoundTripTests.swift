// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestSupport
import Testing

/// Every case of every request, reply and closed set is decoded to the value that was encoded.
@Suite struct RoundTripTests {
    private func expectRoundTrip(_ message: Message, _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        let encoded = message.encoded()
        let again = try Message(decoding: encoded)
        #expect(again == message, sourceLocation: sourceLocation)
        // `Failure` compares codes only, and strings compare canonically, so the bytes are compared too.
        #expect(again.encoded() == encoded, sourceLocation: sourceLocation)
        #expect(again.id == message.id, sourceLocation: sourceLocation)
    }

    @Test(arguments: Sample.all) func everySampleRoundTrips(_ sample: Sample) throws {
        try expectRoundTrip(sample.message)
    }

    // MARK: - Each case has a sample

    private enum Kind: Hashable {
        case request(Request.Operation)
        case passcode(PasscodeKind)
        case simulate(SimulatorKind)
        case enclave(EnclaveKind)
        case secrets(SecretsKind)
        case reply(ReplyKind)
        case cancel

        static let all = Set(
            Request.Operation.allCases.map { Kind.request($0) } + PasscodeKind.allCases.map { .passcode($0) }
                + SimulatorKind.allCases.map { .simulate($0) } + EnclaveKind.allCases.map { .enclave($0) }
                + SecretsKind.allCases.map { .secrets($0) }
                + ReplyKind.allCases.map { .reply($0) } + [.cancel])
    }

    private enum PasscodeKind: CaseIterable { case set, change, remove, setAtPrompt, changeAtPrompt, recoverAtPrompt }
    private enum EnclaveKind: CaseIterable { case sign, agree }

    private enum SecretsKind: CaseIterable {
        case store, search, read, change, delete, collections, createCollection, renameCollection, deleteCollection
        case answers, forgetAnswer, protectNew, protectItem, everyItem, unlock
    }

    private enum SimulatorKind: CaseIterable {
        case sensor, enroll, unenroll, replaceFinger, touch, look, answer, advance, reset, lock, unlock
        case background, permission, fail, acceptAnyPasscode, restart, cancel, fallback, enter
        case acknowledgeCode, enterCode, choose, reportCode, enterNewPasscode, guide, unplug
    }

    private enum ReplyKind: CaseIterable {
        case failure, done, welcome, report, context, items, policy, simulated, proven, environmentReport
        case facePermissionAnswers, transcriptLines, exported, imported, logPage, checkReport, enclaveKey
        case enclaveResult, enrolment, attestationMessage, ticket, migrated, groups, recovered, migrationWouldLeaveItems
    }

    private func kinds(of request: Request) -> [Kind] {
        let kind = Kind.request(request.operation)
        return switch request.contents {
        case let change as Request.PasscodeChange: [kind, .passcode(self.kind(of: change))]
        case let simulate as Request.Simulate: [kind, .simulate(self.kind(of: simulate.command))]
        case let use as Request.UseEnclaveKey:
            switch use.operation {
            case .sign: [kind, .enclave(.sign)]
            case .agree: [kind, .enclave(.agree)]
            }
        case let use as Request.UseSecrets: [kind, .secrets(self.kind(of: use.action))]
        default: [kind]
        }
    }

    // No `default` below: a new case does not compile until it is added here, and then needs a sample.
    private func kind(of change: Request.PasscodeChange) -> PasscodeKind {
        switch change {
        case .set: .set
        case .change: .change
        case .remove: .remove
        case .setAtPrompt: .setAtPrompt
        case .changeAtPrompt: .changeAtPrompt
        case .recoverAtPrompt: .recoverAtPrompt
        }
    }

    private func kind(of action: SecretAction) -> SecretsKind {
        switch action {
        case .store: .store
        case .search: .search
        case .read: .read
        case .change: .change
        case .delete: .delete
        case .collections: .collections
        case .createCollection: .createCollection
        case .renameCollection: .renameCollection
        case .deleteCollection: .deleteCollection
        case .answers: .answers
        case .forgetAnswer: .forgetAnswer
        case .protectNew: .protectNew
        case .protectItem: .protectItem
        case .everyItem: .everyItem
        case .unlock: .unlock
        }
    }

    private func kind(of command: SimulatorCommand) -> SimulatorKind {
        switch command {
        case .sensor: .sensor
        case .enroll: .enroll
        case .unenroll: .unenroll
        case .replaceFinger: .replaceFinger
        case .touch: .touch
        case .look: .look
        case .answer: .answer
        case .advance: .advance
        case .reset: .reset
        case .lock: .lock
        case .unlock: .unlock
        case .background: .background
        case .permission: .permission
        case .fail: .fail
        case .acceptAnyPasscode: .acceptAnyPasscode
        case .restart: .restart
        case .cancel: .cancel
        case .fallback: .fallback
        case .enter: .enter
        case .acknowledgeCode: .acknowledgeCode
        case .enterCode: .enterCode
        case .choose: .choose
        case .reportCode: .reportCode
        case .enterNewPasscode: .enterNewPasscode
        case .guide: .guide
        case .unplug: .unplug
        }
    }

    private func kind(of reply: Reply) -> ReplyKind {
        switch reply {
        case .failure: .failure
        case .done: .done
        case .welcome: .welcome
        case .status: .report
        case .context: .context
        case .items: .items
        case .policy: .policy
        case .simulated: .simulated
        case .proven: .proven
        case .environment: .environmentReport
        case .facePermissions: .facePermissionAnswers
        case .transcript: .transcriptLines
        case .exported: .exported
        case .imported: .imported
        case .log: .logPage
        case .check: .checkReport
        case .enclaveKey: .enclaveKey
        case .enclaveResult: .enclaveResult
        case .enrolment: .enrolment
        case .attestationMessage: .attestationMessage
        case .ticket: .ticket
        case .migrated: .migrated
        case .groups: .groups
        case .recovered: .recovered
        case .migrationWouldLeaveItems: .migrationWouldLeaveItems
        }
    }

    @Test func everyCaseHasASample() {
        let found = Sample.all.flatMap { sample -> [Kind] in
            switch sample.message {
            case .request(_, let request): kinds(of: request)
            case .reply(_, let reply): [.reply(kind(of: reply))]
            case .cancel: [.cancel]
            }
        }
        #expect(Set(found) == Kind.all)
    }

    // MARK: - Closed sets

    @Test(arguments: Status.allCases) func everyStatusRoundTrips(_ status: Status) throws {
        try expectRoundTrip(.reply(id: 1, .failure(Failure(status, "message", hint: "hint"))))
    }

    @Test(arguments: AttributeCode.allCases) func everyAttributeRoundTrips(_ code: AttributeCode) throws {
        let values: [AttributeValue] =
            switch code.kind {
            case .text: ["", "\0", "e\u{301}", String(repeating: "x", count: Limits.attributeBytes)].map { .text($0) }
            case .data: [[], [0], [UInt8](repeating: 255, count: Limits.attributeBytes)].map { .data($0) }
            case .number: [.min, -1, 0, .max].map { .number($0) }
            case .boolean: [true, false].map { .boolean($0) }
            case .date: [.min, -1, 0, .max].map { .date($0) }
            }
        let foreign: [AttributeValue] = [
            .text(""), .text("not a number"), .data([0]), .number(.min), .number(.max), .boolean(true), .date(0),
        ]
        for value in values + foreign.filter({ $0.fits(code) }) {
            #expect(value.fits(code))
            try expectRoundTrip(
                .request(id: 1, .listItems(ItemQuery(itemClass: nil, attributes: [code: value]))))
        }
    }

    @Test(arguments: Accessibility.allCases) func everyAccessControlRoundTrips(_ accessibility: Accessibility) throws {
        let known = (0..<32).map { AccessConstraints(rawValue: 1 << $0) }.filter { $0.isSubset(of: .known) }
        for constraints in known + [[], .known] {
            let control = AccessControl(accessibility: accessibility, constraints: constraints)
            try expectRoundTrip(
                .reply(id: 1, .items([FoundItem(itemClass: .genericPassword, accessControl: control)], more: false)))
            try expectRoundTrip(
                .request(id: 1, .deleteItems(ItemQuery(itemClass: nil, accessibility: accessibility))))
        }
    }

    @Test(arguments: 0...15 as ClosedRange<UInt8>) func everyCombinationOfReturnsRoundTrips(_ raw: UInt8) throws {
        try expectRoundTrip(
            .request(
                id: 1,
                .copyItems(
                    Request.CopyItems(
                        query: ItemQuery(itemClass: .genericPassword), limit: .first(.max),
                        returns: Returns(rawValue: raw),
                        authentication: Authentication()))))
    }

    @Test func everyEventAndEveryKindOfFindingRoundTrips() throws {
        for event in AuditEvent.allCases {
            try expectRoundTrip(
                .reply(id: 1, .log(AuditPage(lines: [AuditLine(sequence: 1, event: event)], last: .max))))
        }
        for ground in (0...UInt8.max).compactMap(AuditGround.init(rawValue:)) {
            let line = AuditLine(sequence: 1, event: .used, ground: ground)
            try expectRoundTrip(.reply(id: 1, .log(AuditPage(lines: [line], last: .max))))
        }
        for kind in Finding.Kind.allCases {
            let finding = Finding(kind, number: .max, item: [UInt8](repeating: 255, count: 16), words: "words")
            try expectRoundTrip(.reply(id: 1, .log(AuditPage(lines: [], last: 0, finding: finding))))
            try expectRoundTrip(
                .reply(id: 1, .check(CheckReport(more: true, done: .max, total: .max, findings: [finding]))))
        }
    }

    @Test func everyTierSensorPolicyAndClassRoundTrips() throws {
        for tier in Tier.allCases { try expectRoundTrip(.reply(id: 1, .welcome(.init(tier: tier, processID: -1)))) }
        for kind in BiometryKind.allCases {
            try expectRoundTrip(.reply(id: 1, .policy(.init(refusal: nil, biometry: kind))))
            try expectRoundTrip(.request(id: 1, .simulate(.sensor(kind))))
        }
        for policy in Policy.allCases { try expectRoundTrip(.request(id: 1, .canEvaluate(policy))) }
        for answer in SecretAnswer.allCases { try expectRoundTrip(.request(id: 1, .simulate(.choose(answer)))) }
        for itemClass in ItemClass.allCases where itemClass != .secret {
            try expectRoundTrip(.request(id: 1, .listItems(ItemQuery(itemClass: itemClass))))
        }
    }
}
