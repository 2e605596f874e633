// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeyPolicy
import TestSupport
import Testing

@testable import LatchkeyKeychain

/// What the lists say about the removal of the passcode is what the removal does, for items of every access control, added
/// before the passcode was set, before the enrolment set changed, and after that.
@Suite struct PasscodeRemovalTests {
    private enum Age: String, CaseIterable {
        case olderThanThePasscode, olderThanTheSet, new
    }

    private static let flags: [AccessConstraints] = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .applicationPassword,
    ]
    /// Every combination that an access control can have.
    private static let combinations: [AccessConstraints] = (0..<1 << flags.count).map { number in
        AccessConstraints(flags.enumerated().filter { number & 1 << $0.offset != 0 }.map(\.element))
    }.filter { rule(.whenUnlocked, $0).isValid }
    private static let passcode = SecretBytes("first".utf8)
    private static let sets = [1, 2].map { EnrolmentSet([UInt8](repeating: $0, count: 16)) }

    private let keychain: Keychain
    private let password: AppPassword
    /// A proof by every method.
    private let proof = Authorisation.testOnly(
        [.passcode, .biometry], enrolment: sets[1], by: StoreOnDisk.caller)

    init() throws {
        keychain = try Keychain.inMemory()
        password = try keychain.appPassword(
            SecretBytes("word".utf8), toAdd: rule(.whenUnlocked, .applicationPassword))
        _ = try keychain.apply(Self.sets[0])
        try addItems(of: .olderThanThePasscode)
        try keychain.setPasscode(Self.passcode)
        try keychain.sealForPasscode()
        try addItems(of: .olderThanTheSet)
        _ = try keychain.apply(Self.sets[1])
        try addItems(of: .new)
        #expect(try keychain.unlock(Self.passcode))
    }

    private func addItems(of age: Age) throws {
        let classes: [Accessibility] =
            age == .olderThanThePasscode ? [.whenUnlocked] : [.whenUnlocked, .whenPasscodeSetThisDeviceOnly]
        for accessibility in classes {
            for constraints in Self.combinations {
                let control = rule(accessibility, constraints)
                let name = "\(age) \(accessibility) \(constraints.rawValue)"
                _ = try keychain.add(
                    Request.AddItem(attributes: named(name), accessControl: control, secret: SecretBytes(name.utf8)),
                    caller: StoreOnDisk.caller, password: password)
                for demandsPasscode in [false, true] {
                    try addKey(name, rule(accessibility, constraints.union(.privateKeyUsage)), demandsPasscode)
                }
            }
        }
    }

    /// Adds a private key of the enclave.
    private func addKey(_ name: String, _ control: AccessControl, _ demandsPasscode: Bool) throws {
        let label = AttributeValue.text("\(demandsPasscode) \(name)")
        _ = try keychain.addKey(
            Request.CreateEnclaveKey(
                attributes: [.label: label, .applicationTag: label], accessControl: control, isPermanent: true,
                authentication: Authentication()),
            blob: SecretBytes([1]), publicKey: [4], caller: StoreOnDisk.caller, enrolment: keychain.anchor.set,
            password: password, demandsPasscode: demandsPasscode)
    }

    /// The names of the listed items, as `latchkey passcode remove` asks for them.
    private func names(where isListed: (FoundItem) -> Bool = { _ in true }) throws -> [String] {
        var cursor = SearchCursor()
        var found: [FoundItem] = []
        var result = SearchResult.more
        while result == .more {
            if keychain.isPasscodeSet {
                result = try keychain.listNames(
                    caller: StoreOnDisk.caller, proof: .ofPasscode, from: &cursor, emit: { found.append($0) })
            } else {
                result = try keychain.listEverything(from: &cursor) { found.append($0) }
            }
        }
        return found.filter(isListed).map { item in
            let code: AttributeCode = item.itemClass == .key ? .label : .account
            guard case .text(let name)? = item.attributes?[code] else { return "" }
            return "\(item.itemClass) \(name)"
        }
    }

    private func remove() throws {
        try keychain.removePasscode(caller: StoreOnDisk.caller, proof: .ofPasscode)
    }

    @Test func whatIsListedAsDeletedIsWhatIsGone() throws {
        let (all, doomed) = (try names(), try names { $0.isLostWithPasscode })
        try remove()
        let left = Set(try names())
        #expect(all.filter { !left.contains($0) } == doomed)
        #expect(!doomed.isEmpty && !left.isEmpty)
        #expect(!doomed.contains { $0.contains("\(Age.olderThanThePasscode)") })
        #expect(try names { $0.isLostWithPasscode }.isEmpty)
    }

    @Test func whatIsLeftIsReadableAgainWithTheNextPasscode() throws {
        try remove()
        try keychain.setPasscode(SecretBytes("second".utf8))
        try keychain.sealForPasscode()
        #expect(try keychain.unlock(SecretBytes("second".utf8)))
        for listed in try names() where listed.hasPrefix("\(ItemClass.genericPassword) ") {
            let name = String(listed.dropFirst("\(ItemClass.genericPassword) ".count))
            // Nothing proves that a companion confirmed.
            let isOpen = !AccessControl(constraints: try constraints(in: name)).plan.stages.contains([])
            #expect(try secret(of: name, proof) == (isOpen ? SecretBytes(name.utf8) : nil), "\(name)")
        }
    }

    /// Takes neither the engine's word for what needs a person nor that of the list.
    @Test(.promise("passcode.forgotten")) func aForgottenPasscodeTakesAlongWhatAPersonOpensAndNothingElse() throws {
        let person: AccessConstraints = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
        ]
        let (all, listed) = (try names(), try names { $0.accessControl?.isDiscardedWithPasscode ?? false })
        let doomed = try all.filter { name in
            try name.contains("\(Accessibility.whenPasscodeSetThisDeviceOnly)")
                || !constraints(in: name).isDisjoint(with: person)
        }
        #expect(listed == doomed)
        try keychain.discardForgotten(caller: StoreOnDisk.caller)
        let left = try names()
        #expect(left == all.filter { !doomed.contains($0) })
        #expect(try left.contains { try constraints(in: $0).contains(.applicationPassword) })
        #expect(!doomed.isEmpty)
    }

    @Test(.promise("passcode.forgotten")) func onlyItsPasswordOpensWhatOutlivesAForgottenPasscode() throws {
        let constraints = AccessConstraints.applicationPassword
        let name = "\(Age.olderThanTheSet) \(Accessibility.whenUnlocked) \(constraints.rawValue)"
        let before = try secretColumn(of: name)
        try keychain.discardForgotten(caller: StoreOnDisk.caller)
        func check() throws {
            #expect(try secret(of: name, .none) == SecretBytes(name.utf8))
            for proof in [Authorisation.none, proof] {
                #expect(status { _ = try secret(of: name, proof, word: "another") } == .itemAuthenticationFailed)
                #expect(status { _ = try secret(of: name, proof, word: nil) } == .interactionNotAllowed)
            }
            // What a thief of the files has to guess against is what it was.
            #expect(try secretColumn(of: name) == before)
        }
        try check()
        try keychain.setPasscode(SecretBytes("second".utf8))
        try keychain.sealForPasscode()
        #expect(try keychain.unlock(SecretBytes("second".utf8)))
        try check()
    }

    // MARK: - Parts

    private func constraints(in name: String) throws -> AccessConstraints {
        AccessConstraints(rawValue: try #require(name.split(separator: " ").last.flatMap { UInt32($0) }))
    }

    /// Reads a password as its app does, which supplies its own password where the item asks for one.
    private func secret(of name: String, _ proof: Authorisation, word: String? = "word") throws -> SecretBytes? {
        let request = Request.CopyItems(.account(name))
        var cursor = SearchCursor()
        var secret: SecretBytes?
        var opening = try keychain.appPassword(isGiven: word != nil)
        for _ in 0..<2 {
            let result = try keychain.search(
                request, caller: StoreOnDisk.caller, proof: proof, password: opening, from: &cursor,
                used: { _ in }, emit: { secret = $0.secret })
            guard case .stretch(let parameters) = result, let word else { break }
            for each in parameters { opening.add(try StretchedPassword(SecretBytes(word.utf8), each)) }
        }
        return secret
    }

    private func secretColumn(of name: String) throws -> [UInt8] {
        var found: [UInt8]?
        try keychain.store.read { (store) throws(Failure) in
            try store.forEachRow(.all, columns: .all) { (row) throws(Failure) in
                guard case .text(let account)? = try keychain.envelopes.openAttributes(row).attributes[.account] else {
                    return true
                }
                if account.hasBytes(of: name) { found = row.secret }
                return true
            }
        }
        return try #require(found)
    }
}
