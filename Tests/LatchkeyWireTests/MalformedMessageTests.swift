// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyWire
import TestPromises
import Testing

@testable import FuzzProperties

/// Payloads that are deterministic CBOR but not a message are refused.
@Suite struct MalformedMessageTests {
    @Test func anUnknownKindOfMessageIsRefused() throws {
        for kind: UInt64 in [3, 23, 24, 255, UInt64.max] {
            #expect(refusal(of: CBORItem.array([.unsigned(kind), 1, [2, [:]]]).encoded) == .unknownMessage, "\(kind)")
        }
    }

    @Test func aMessageThatIsNotAnArrayOfThreeItemsIsRefused() {
        #expect(refusal(of: CBORItem.array([0, 1]).encoded) == .invalidValue)
        #expect(refusal(of: CBORItem.array([0, 1, [2, [:]], 0]).encoded) == .invalidValue)
        #expect(refusal(of: ([:] as CBORItem).encoded) == .wrongType)
        #expect(refusal(of: []) == .truncated)
    }

    @Test(arguments: [0, 9, 18, 19, 27, 29, 32, 46, 255, 256, UInt64.max])
    func anUnknownOperationIsRefused(_ operation: UInt64) {
        #expect(refusal(of: request(operation, [:])) == .unknownMessage)
    }

    @Test(arguments: [3, 15, 23, 31, 41, 42, 45])
    func parametersOfAnOperationWithoutParametersAreRefused(_ operation: UInt64) {
        #expect(refusal(of: request(operation, [0: 0])) == .unknownKey(0))
        #expect(refusal(of: request(operation, 0)) == .wrongType)
        #expect(refusal(of: request(operation, [:])) == nil)
    }

    @Test(arguments: [14, 15, 255, 256, UInt64.max]) func anUnknownKindOfReplyIsRefused(_ kind: UInt64) {
        #expect(refusal(of: reply(kind, [:])) == .invalidValue)
    }

    @Test(arguments: [[2, 1], [1, 1], [0], [3], [1, 2, 2]] as [[UInt64]])
    func methodsOfAProofThatAreUnknownOrOutOfOrderAreRefused(_ methods: [UInt64]) {
        let items = methods.map { CBORItem.unsigned($0) }
        #expect(refusal(of: reply(12, .array(items))) != nil)
        #expect(refusal(of: reply(12, .array([.unsigned(1), .unsigned(2)]))) == nil)
    }

    @Test func aNegativeOrTextualIDIsRefused() {
        #expect(refusal(of: CBORItem.array([2, .negative(0), [:]]).encoded) == .wrongType)
        #expect(refusal(of: CBORItem.array([2, "1", [:]]).encoded) == .wrongType)
    }

    @Test(arguments: [1 << 2, 1 << 6, 1 << 13, 1 << 16, 1 << 29, 1 << 32, UInt64.max])
    func unknownConstraintsAreRefused(_ flags: UInt64) {
        let item: CBORItem = [0: 1, 1: [:], 2: [1, .unsigned(flags)], 4: 0, 5: [1: false, 2: [0: "", 3: true]]]
        #expect(refusal(of: request(10, item)) == .invalidValue)
    }

    @Test(arguments: [16, 32, 128, 255, 256, UInt64.max]) func unknownReturnFlagsAreRefused(_ flags: UInt64) {
        let item: CBORItem = [0: 1, 1: [:], 2: [1, 0], 4: .unsigned(flags), 5: [1: false, 2: [0: "", 3: true]]]
        #expect(refusal(of: request(10, item)) == .invalidValue)
    }

    @Test(arguments: [0, 3, 255, UInt64.max]) func anUnknownDeviceOfTheEnclaveIsRefused_abuse24(_ device: UInt64) {
        func status(_ device: UInt64) -> CBORItem {
            [
                0: 1, 1: 1, 2: "/", 3: 0, 4: 0, 5: false, 6: false, 7: false, 8: "notes", 10: false, 12: 2,
                15: .unsigned(device),
            ]
        }
        #expect(refusal(of: reply(3, status(device))) == .invalidValue)
        #expect(refusal(of: reply(3, status(2))) == nil)
    }

    @Test(.promise("version.operation")) func numbersOutsideOfTheirClosedSetAreRefused() {
        #expect(refusal(of: request(5, [0: 0])) == .invalidValue, "policy 0")
        #expect(refusal(of: request(5, [0: 6])) == .invalidValue, "policy 6")
        #expect(refusal(of: request(14, [0: 0, 1: [:]])) == .invalidValue, "item class 0")
        #expect(refusal(of: request(14, [0: 5, 1: [:]])) == .invalidValue, "item class 5")
        #expect(refusal(of: request(14, [1: [:], 2: 0])) == .invalidValue, "accessibility 0")
        #expect(refusal(of: request(14, [1: [:], 2: 8])) == .invalidValue, "accessibility 8")
        #expect(refusal(of: request(30, .array([1, 3]))) == .invalidValue, "sensor 3")
        #expect(refusal(of: request(30, .array([1, 256]))) == .invalidValue, "sensor 256")
        #expect(refusal(of: reply(2, [0: 0, 1: 1])) == .invalidValue, "tier 0")
        #expect(refusal(of: reply(2, [0: 5, 1: 1])) == .invalidValue, "tier 5")
        #expect(refusal(of: reply(2, [0: 1, 1: 2_147_483_648])) == .invalidValue, "process 2^31")
        #expect(refusal(of: reply(0, [0: 0, 1: "", 2: ""])) == .invalidValue, "status 0")
        #expect(refusal(of: reply(0, [0: 65_536, 1: "", 2: ""])) == .invalidValue, "status 65536")
    }

    @Test func attributesAcceptOnlyValuesOfTheirKindOrOfAPermittedSubstitute_KC21() throws {
        let values: [(AttributeKind, CBORItem)] = [
            (.text, "x"), (.data, .bytes([1])), (.number, 7), (.boolean, true), (.date, 7),
        ]
        for code in AttributeCode.allCases {
            for (kind, value) in values {
                let item: CBORItem = [1: .map([.init(key: .unsigned(UInt64(code.rawValue)), value: value)])]
                let kinds = Set([kind, code.kind])
                let sameOnTheWire =
                    kinds.count == 1 || kinds == [.number, .date] || (kinds == [.text, .data] && code != .accessGroup)
                    || ([.number, .date].contains(kind) && code.takesNumbers) || (kind == .text && code.storesText)
                #expect(refusal(of: request(14, item)) == (sameOnTheWire ? nil : .wrongType), "\(code) \(kind)")
            }
        }
    }

    /// Attributes that decide about access have exactly one form.
    @Test func groupsTokensAndPublicKeysAcceptNoNumbers_KC21() {
        for code in [AttributeCode.accessGroup, .tokenID, .publicKey] {
            #expect(!code.takesNumbers && !code.storesText)
        }
        for code in [AttributeCode.synchronizable, .keyClass, .keyType, .isPermanent] { #expect(!code.storesText) }
    }

    @Test func simulatorCommandsWithAMissingOrUnexpectedArgumentAreRefused() {
        func simulate(_ command: CBORItem, _ argument: CBORItem) -> [UInt8] {
            request(30, .array([command, argument]))
        }
        for command: UInt64 in [1, 5, 6, 9, 14, 16, 17, 18, 22, 24, 26, 27, 29, 30, 31] {
            #expect(refusal(of: simulate(.unsigned(command), [:])) == .wrongType, "\(command)")
        }
        for command: UInt64 in [2, 3, 4, 7, 8, 19, 20, 21, 23, 25, 28] {
            #expect(refusal(of: simulate(.unsigned(command), [:])) == nil, "\(command)")
            #expect(refusal(of: simulate(.unsigned(command), 0)) == .wrongType, "\(command)")
            #expect(refusal(of: simulate(.unsigned(command), [0: 0])) != nil, "\(command)")
        }
        for command: UInt64 in [0, 10, 11, 12, 13, 15, 32] {
            #expect(refusal(of: simulate(.unsigned(command), [:])) == .invalidValue, "\(command)")
        }
        #expect(refusal(of: simulate(1, 3)) == .invalidValue, "sensor 3")
        #expect(refusal(of: simulate(5, 1)) == .wrongType)
        #expect(refusal(of: simulate(16, 2)) == .wrongType)
        #expect(refusal(of: simulate(17, 4)) == .invalidValue)
        #expect(refusal(of: simulate(22, 1)) == .wrongType)
        for text: CBORItem in ["", "Always", "always ", "yes"] {
            #expect(refusal(of: simulate(31, text)) == .invalidValue)
        }
    }

    @Test func unknownNamesAndOperationsOfEnclaveKeysAreRefused() {
        let authentication: CBORItem = [1: false, 2: [0: "", 3: true]]
        let digest = CBORItem.bytes([UInt8](repeating: 0, count: 64))
        let stored: CBORItem = .array([0, .bytes([1])])
        func use(_ name: CBORItem, _ operation: CBORItem) -> [UInt8] {
            request(51, [0: name, 1: operation, 2: authentication])
        }
        #expect(refusal(of: use(stored, .array([0, digest]))) == nil)
        #expect(refusal(of: use(.array([2, .bytes([1])]), .array([0, digest]))) == .invalidValue, "name 2")
        #expect(refusal(of: use(stored, .array([2, digest]))) == .invalidValue, "operation 2")
        for (operation, limit) in [(CBORItem.unsigned(0), 64), (1, 65)] {
            let long = CBORItem.bytes([UInt8](repeating: 0, count: limit + 1))
            #expect(refusal(of: use(stored, .array([operation, long]))) != nil, "\(limit + 1) bytes")
        }
        let sealed = CBORItem.bytes([UInt8](repeating: 0, count: Limits.detachedKeyBytes + 1))
        #expect(refusal(of: request(52, .array([1, sealed]))) != nil)
        #expect(refusal(of: request(50, [0: [:], 1: [1, 0], 2: 1, 3: authentication])) == .wrongType, "permanent 1")
        #expect(refusal(of: request(50, [0: [:], 1: [1, 0], 3: authentication])) == .missingKey(2))
    }

    @Test func aPasscodeChangeWithoutItsMandatoryFieldsIsRefused() {
        #expect(refusal(of: request(20, [:])) == .missingKey(0))
        #expect(refusal(of: request(20, [0: 1])) == .missingKey(1))
        #expect(refusal(of: request(20, [0: 2])) == .missingKey(1))
        #expect(refusal(of: request(20, [0: 0])) == .invalidValue)
        #expect(refusal(of: request(20, [0: 7])) == .invalidValue)
        let passcode = CBORItem.bytes([0x61])
        for change in 3...6 as ClosedRange<UInt64> {
            #expect(refusal(of: request(20, [0: .unsigned(change), 1: passcode])) == .invalidValue)
        }
    }

    /// The daemon asks for the current passcode in its own prompt, so no request contains it.
    @Test func aPasscodeRequestWithTheOldPasscodeIsRefused() {
        #expect(refusal(of: request(20, [0: 3, 1: .zeros(4)])) == .invalidValue)
        #expect(refusal(of: request(20, [0: 2, 1: .zeros(4), 2: .zeros(4)])) == .unknownKey(2))
    }

    /// The absence of the key represents false, so a frame that contains false would be a second encoding.
    @Test func aFieldWithItsOmittedDefaultIsRefused() {
        #expect(refusal(of: request(14, [1: [:], 3: true])) == nil)
        #expect(refusal(of: request(14, [1: [:], 3: false])) == .notCanonical)
    }
}
