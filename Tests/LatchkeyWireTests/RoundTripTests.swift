// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
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

    private enum Kind: CaseIterable {
        case hello, status, createContext, invalidateContext, canEvaluate, evaluate, addItem, copyItems, updateItems
        case deleteItems, listItems, listEverything, listNames, discardForgotten, passcodeSet, passcodeChange,
            passcodeRemove,
            passcodeSetAtPrompt, passcodeChangeAtPrompt, passcodeRecoverAtPrompt,
            sensor, enrol, unenrol, replaceFinger
        case touch, look, answer, advance, reset, lock, unlock, background
        case evaluateRule, environment, facePermissions, changeFacePermission, permission, facePermissionAnswers
        case exportItems, importItems, exported, imported, lockKeychain, unlockKeychain, fail, acceptAnyPasscode,
            restart,
            cancelPrompt, fallback, enter, acknowledgeCode, enterCode, tellCode, enterNewPasscode, guide, unplug,
            transcript,
            transcriptLines, log, check, restoreRows, acceptStore, discardProtected, logPage,
            checkReport
        case beginMigration, receiveItems, mapGroups, migrate, ticket, migrated, groups, recovered, migrationWouldKeep
        case createEnclaveKey, signWithEnclaveKey, agreeWithEnclaveKey, describeEnclaveKey, enclaveKey, enclaveResult
        case beginEnrolment, answerEnrolment, proveKey, enrolment, attestationMessage
        case failure, done, welcome, report, context, items, policy, simulated, proven, environmentReport, cancel
    }

    // No `default`: a new case does not compile until it is added here, and then needs a sample.
    private func kind(of request: Request) -> Kind {
        switch request {
        case .hello: .hello
        case .status: .status
        case .createContext: .createContext
        case .invalidateContext: .invalidateContext
        case .canEvaluate: .canEvaluate
        case .evaluate: .evaluate
        case .addItem: .addItem
        case .copyItems: .copyItems
        case .updateItems: .updateItems
        case .deleteItems: .deleteItems
        case .listItems: .listItems
        case .listEverything: .listEverything
        case .listNames: .listNames
        case .passcode(.set): .passcodeSet
        case .passcode(.change): .passcodeChange
        case .passcode(.remove): .passcodeRemove
        case .passcode(.setAtPrompt): .passcodeSetAtPrompt
        case .passcode(.changeAtPrompt): .passcodeChangeAtPrompt
        case .passcode(.recoverAtPrompt): .passcodeRecoverAtPrompt
        case .simulate(.sensor): .sensor
        case .simulate(.enrol): .enrol
        case .simulate(.unenrol): .unenrol
        case .simulate(.replaceFinger): .replaceFinger
        case .simulate(.touch): .touch
        case .simulate(.look): .look
        case .simulate(.answer): .answer
        case .simulate(.advance): .advance
        case .simulate(.reset): .reset
        case .simulate(.lock): .lock
        case .simulate(.unlock): .unlock
        case .simulate(.background): .background
        case .evaluateRule: .evaluateRule
        case .environment: .environment
        case .facePermissions: .facePermissions
        case .changeFacePermission: .changeFacePermission
        case .simulate(.permission): .permission
        case .simulate(.fail): .fail
        case .simulate(.acceptAnyPasscode): .acceptAnyPasscode
        case .simulate(.restart): .restart
        case .simulate(.cancel): .cancelPrompt
        case .simulate(.fallback): .fallback
        case .simulate(.enter): .enter
        case .simulate(.acknowledgeCode): .acknowledgeCode
        case .simulate(.enterCode): .enterCode
        case .simulate(.tellCode): .tellCode
        case .simulate(.guide): .guide
        case .simulate(.unplug): .unplug
        case .simulate(.enterNewPasscode): .enterNewPasscode
        case .transcript: .transcript
        case .lock: .lockKeychain
        case .unlock: .unlockKeychain
        case .exportItems: .exportItems
        case .importItems: .importItems
        case .log: .log
        case .check: .check
        case .restoreRows: .restoreRows
        case .acceptStore: .acceptStore
        case .discardProtected: .discardProtected
        case .discardForgotten: .discardForgotten
        case .createEnclaveKey: .createEnclaveKey
        case .useEnclaveKey(let use):
            switch use.operation {
            case .sign: .signWithEnclaveKey
            case .agree: .agreeWithEnclaveKey
            }
        case .describeEnclaveKey: .describeEnclaveKey
        case .beginEnrolment: .beginEnrolment
        case .answerEnrolment: .answerEnrolment
        case .proveKey: .proveKey
        case .beginMigration: .beginMigration
        case .receiveItems: .receiveItems
        case .mapGroups: .mapGroups
        case .migrate: .migrate
        }
    }

    private func kind(of reply: Reply) -> Kind {
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
        case .migrationWouldKeep: .migrationWouldKeep
        }
    }

    @Test func everyCaseHasASample() {
        let kinds = Sample.all.map { sample -> Kind in
            switch sample.message {
            case .request(_, let request): kind(of: request)
            case .reply(_, let reply): kind(of: reply)
            case .cancel: .cancel
            }
        }
        #expect(Set(kinds) == Set(Kind.allCases))
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
        for itemClass in ItemClass.allCases {
            try expectRoundTrip(.request(id: 1, .listItems(ItemQuery(itemClass: itemClass))))
        }
    }
}
