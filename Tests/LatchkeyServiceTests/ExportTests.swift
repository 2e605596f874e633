// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeyService
import LatchkeyWire
import SimulatedDriver
import Synchronization
import TestPromises
import TestSupport
import Testing

/// Export and import over frames: which authorisation they require, and what the caller never receives.
@Suite struct ExportTests {
    /// A connection that also stores the bytes of received frames.
    private final class Connection: Sendable {
        let replies = Replies()
        private let bytes = Recorder<[UInt8]>()
        private let nextID = Mutex<UInt64>(10)
        private let host = Mutex<HostSession?>(nil)

        init(_ machine: SimulatedService, _ application: String) {
            let handler = machine.handler(Request.Hello(application: application))
            let made = HostSession(greeted: handler) { [replies, weak self] payload in
                replies.add(payload)
                self?.bytes.add(payload.copyBytes())
            }
            host.withLock { $0 = made }
        }

        /// Sends a request.
        ///
        /// - Returns: a function that returns its last reply so far.
        @discardableResult
        func call(_ request: Request) -> () -> Reply? {
            let id = nextID.withLock { id in
                id += 1
                return id
            }
            host.withLock { $0 }?.receive(Message.request(id: id, request).encoded())
            return { [replies] in replies.of(id).last }
        }

        func close() { host.withLock { $0 }?.close() }

        /// Returns whether a received frame contains the text.
        func holds(_ text: String) -> Bool {
            let needle = Array(text.utf8)
            return bytes.all.contains { frame in
                frame.indices.contains { frame[$0...].starts(with: needle) }
            }
        }
    }

    private let machine: SimulatedService
    private let app: Connection
    private let other: Connection
    private var world: SimulatedWorld { machine.world }
    private static let passcode = SecretBytes("1234".utf8)

    init() throws {
        machine = try SimulatedService { parts, world in parts.sessions = world }
        (app, other) = (Connection(machine, "app"), Connection(machine, "other"))
    }

    private func setPasscode() { #expect(app.call(.passcode(.set(Self.passcode)))() == .done) }

    private func add(
        _ account: String, _ rule: AccessControl = AccessControl(), by connection: Connection? = nil,
        filler: Int = 0
    ) {
        var attributes: Attributes = [.account: .text(account)]
        if filler > 0 { attributes[.generic] = .data([UInt8](repeating: 7, count: filler)) }
        let request = Request.AddItem(
            attributes: attributes, accessControl: rule, secret: SecretBytes("plaintext of \(account)".utf8))
        #expect((connection ?? app).call(.addItem(request))() == .done)
    }

    private func events() throws -> [AuditEvent?] {
        try machine.keychain.log(Request.Log(after: 0, limit: 1000, verifies: false)).lines.map(\.event)
    }

    private func status(_ reply: Reply?) -> Status? {
        if case .failure(let failure)? = reply { failure.status } else { nil }
    }

    /// Enters the passcode if one is requested, then confirms the recovery code.
    private func allow(passcode: Bool) {
        if passcode { world.perform(.passcode(Self.passcode)) }
        world.perform(.codeAcknowledged)
    }

    private struct Whole {
        var bytes: [UInt8] = []
        var count: UInt64 = 0
        var skipped: [SkippedItem] = []
    }

    /// Exports all items; the simulated user authorises it.
    private func export(_ connection: Connection, passcode: Bool) throws -> Whole {
        var whole = Whole()
        var answer = connection.call(.exportItems(Request.ExportItems(cursor: nil)))
        allow(passcode: passcode)
        while true {
            guard case .exported(let page)? = answer() else { throw try #require(failure(answer())) }
            whole.bytes += page.bytes
            whole.count = page.count
            whole.skipped += page.skipped.named
            guard let cursor = page.cursor else { return whole }
            answer = connection.call(.exportItems(Request.ExportItems(cursor: cursor)))
        }
    }

    private func failure(_ reply: Reply?) -> Failure? {
        if case .failure(let failure)? = reply { failure } else { nil }
    }

    /// Imports a backup in pieces of `size` bytes; the simulated user authorises it and enters `code`.
    private func `import`(
        _ bytes: [UInt8], _ connection: Connection, code: SecretBytes, passcode: Bool, size: Int = 1000
    ) throws -> (added: UInt64, present: UInt64, skipped: [SkippedItem]) {
        var (start, cursor, skipped): (Int, [UInt8]?, [SkippedItem]) = (0, nil, [])
        while true {
            let end = min(start + size, bytes.count)
            let request = Request.ImportItems(
                cursor: cursor, bytes: Array(bytes[start..<end]), isLast: end == bytes.count)
            let answer = connection.call(.importItems(request))
            if cursor == nil {
                if passcode { world.perform(.passcode(Self.passcode)) }
                world.perform(.recoveryCode(code))
            }
            guard case .imported(let part)? = answer() else { throw try #require(failure(answer())) }
            skipped += part.skipped.named
            guard let next = part.cursor else { return (part.added, part.present, skipped) }
            cursor = next
            start = part.wantsStart ? 0 : end
        }
    }

    // MARK: - Authorisation

    @Test(.promise("backup.passcode")) func exportRequiresThePasscodeAndIgnoresProofsOfContexts() throws {
        setPasscode()
        add("theirs", AccessControl(constraints: .devicePasscode))
        guard case .context(let context)? = other.call(.createContext)() else { throw Failure(.internalFailure) }
        world.perform(.touch(matching: true))
        let proven = other.call(
            .evaluate(
                Request.Evaluate(
                    context: context, policy: .deviceOwnerAuthentication,
                    prompting: Prompting(reason: "show the forecast"))))
        #expect(proven() == .proven([.biometry]))
        let answer = other.call(.exportItems(Request.ExportItems(cursor: nil)))
        #expect(answer() == nil, "the passcode is requested")
        world.perform(.touch(matching: true))
        #expect(answer() == nil, "biometry is not accepted")
        #expect(app.call(.simulate(.reset))() == .done)
        world.perform(.cancel)
        #expect(status(answer()) == .userCancel)
        #expect(try !events().contains(.exported))
    }

    @Test(.promise("backup.passcode")) func reusedUnlockDoesNotAuthoriseAnExport_LA33() throws {
        setPasscode()
        add("mine")
        #expect(app.call(.simulate(.lock))() == .done)
        #expect(app.call(.simulate(.unlock(byBiometry: true)))() == .done)
        let answer = app.call(.exportItems(Request.ExportItems(cursor: nil)))
        #expect(answer() == nil, "the passcode is requested")
    }

    @Test func everyExportRequiresAuthentication() throws {
        setPasscode()
        add("mine")
        _ = try export(app, passcode: true)
        let again = app.call(.exportItems(Request.ExportItems(cursor: nil)))
        #expect(again() == nil)
    }

    @Test(.promise("backup.audited")) func everyExportAndImportIsAuditedBeforeItsFirstByte() throws {
        add("mine")
        let answer = app.call(.exportItems(Request.ExportItems(cursor: nil)))
        #expect(try !events().contains(.exported), "nothing was authorised yet")
        world.perform(.codeAcknowledged)
        guard case .exported? = answer() else { throw Failure(.internalFailure) }
        #expect(try events().filter { $0 == .exported }.count == 1)
        let whole = try export(other, passcode: false)
        #expect(try events().filter { $0 == .exported }.count == 2)
        _ = try `import`(whole.bytes, other, code: #require(world.shownRecoveryCode), passcode: false)
        #expect(try events().filter { $0 == .imported }.count == 1)
    }

    @Test func lockedKeychainIsNotExported() {
        setPasscode()
        #expect(app.call(.lock)() == .done)
        #expect(status(app.call(.exportItems(Request.ExportItems(cursor: nil)))()) == .interactionNotAllowed)
    }

    // MARK: - Cursors

    @Test func foreignRepeatedOrUnknownCursorIsRefused() throws {
        for number in 0..<12 { add("\(number)", filler: 60_000) }
        let first = app.call(.exportItems(Request.ExportItems(cursor: nil)))
        world.perform(.codeAcknowledged)
        guard case .exported(let page)? = first(), let cursor = page.cursor else { throw Failure(.internalFailure) }
        #expect(cursor.count == 16)
        func next(_ connection: Connection, _ cursor: [UInt8]) -> Status? {
            status(connection.call(.exportItems(Request.ExportItems(cursor: cursor)))())
        }
        #expect(next(other, cursor) == .invalidContext)
        #expect(next(app, [UInt8](repeating: 0, count: 16)) == .invalidContext)
        #expect(next(app, cursor) == nil)
        #expect(next(app, cursor) == .invalidContext, "a cursor is accepted once")
    }

    @Test func lockEndsAnExport() throws {
        setPasscode()
        for number in 0..<12 { add("\(number)", filler: 60_000) }
        let first = app.call(.exportItems(Request.ExportItems(cursor: nil)))
        allow(passcode: true)
        guard case .exported(let page)? = first(), let cursor = page.cursor else { throw Failure(.internalFailure) }
        #expect(app.call(.lock)() == .done)
        #expect(status(app.call(.exportItems(Request.ExportItems(cursor: cursor)))()) == .invalidContext)
    }

    @Test func tenIdleMinutesEndAnExport() throws {
        for number in 0..<12 { add("\(number)", filler: 60_000) }
        let first = app.call(.exportItems(Request.ExportItems(cursor: nil)))
        world.perform(.codeAcknowledged)
        guard case .exported(let page)? = first(), let cursor = page.cursor else { throw Failure(.internalFailure) }
        #expect(app.call(.simulate(.advance(seconds: 600)))() == .done)
        #expect(status(app.call(.exportItems(Request.ExportItems(cursor: cursor)))()) == .invalidContext)
    }

    @Test func exportsAreLimitedToOnePerConnectionAndFourPerDaemon() throws {
        var connections: [Connection] = []
        for number in 0..<12 { add("\(number)", filler: 60_000) }
        for _ in 0..<Limits.backups {
            let connection = Connection(machine, "app")
            connections.append(connection)
            let answer = connection.call(.exportItems(Request.ExportItems(cursor: nil)))
            world.perform(.codeAcknowledged)
            guard case .exported(let page)? = answer(), page.cursor != nil else { throw Failure(.internalFailure) }
        }
        #expect(status(connections[0].call(.exportItems(Request.ExportItems(cursor: nil)))()) == .limitExceeded)
        #expect(status(app.call(.exportItems(Request.ExportItems(cursor: nil)))()) == .limitExceeded)
        connections[0].close()
        let answer = app.call(.exportItems(Request.ExportItems(cursor: nil)))
        #expect(answer() == nil, "an export may begin again")
    }

    // MARK: - Exported items

    @Test(.promise("backup.code")) func noSecretIsInAnyFrameOfTheCaller() throws {
        setPasscode()
        add("mine")
        add("theirs", AccessControl(constraints: .devicePasscode), by: other)
        let whole = try export(app, passcode: true)
        #expect(whole.count == 2)
        #expect(!app.holds("plaintext of"))
        let code = try #require(world.shownRecoveryCode).withBytes { String(decoding: $0, as: UTF8.self) }
        #expect(!app.holds(code) && !app.holds(code.replacing("-", with: "")))
    }

    @Test(.promise("backup.scope")) func exportWithoutAPasscodeContainsOnlyTheCallersItems() throws {
        add("mine")
        add("theirs", by: other)
        let whole = try export(app, passcode: false)
        #expect(whole.count == 1 && whole.skipped.isEmpty)
        #expect(!app.holds("theirs"))
    }

    @Test func itemsLeftOutOfAnExportAreReportedWithTheirReason() throws {
        setPasscode()
        add("free")
        add("bound", AccessControl(accessibility: .whenUnlockedThisDeviceOnly))
        add("set", AccessControl(constraints: .biometryCurrentSet))
        add("both", AccessControl(constraints: [.biometryAny, .devicePasscode, .and]))
        let whole = try export(other, passcode: true)
        #expect(whole.count == 1)
        #expect(whole.skipped.map(\.account) == ["bound", "set", "both"])
        #expect(whole.skipped.map(\.reason) == [.thisDeviceOnly, .boundRule, .boundRule])
        #expect(whole.skipped.allSatisfy { $0.group == "app" })
    }

    @Test func largeItemsAreExportedAndImported() throws {
        for number in 0..<40 { add("\(number)", filler: 60_000) }
        let large = Request.AddItem(
            attributes: [
                .account: .text("large"), .generic: .data([UInt8](repeating: 1, count: Limits.attributeBytes)),
                .label: .text(String(repeating: "l", count: Limits.attributeBytes)),
                .comment: .text(String(repeating: "c", count: Limits.attributeBytes)),
            ], secret: SecretBytes([UInt8](repeating: 9, count: Limits.secretBytes)))
        #expect(app.call(.addItem(large))() == .done)
        let whole = try export(app, passcode: false)
        #expect(whole.count == 41)
        let target = try SimulatedService()
        let back = try ExportTests(target).import(
            whole.bytes, Connection(target, "app"), code: #require(world.shownRecoveryCode), passcode: false,
            size: Limits.importedBytes)
        #expect(back.added == 41 && back.skipped.isEmpty)
    }

    private init(_ machine: SimulatedService) {
        self.machine = machine
        (app, other) = (Connection(machine, "app"), Connection(machine, "other"))
    }

    // MARK: - Import

    @Test(.promise("backup.passcode")) func importIntoForeignGroupsRequiresThePasscode() throws {
        setPasscode()
        add("mine")
        add("theirs", by: other)
        let whole = try export(app, passcode: true)
        let code = try #require(world.shownRecoveryCode)
        let bare = try SimulatedService()
        let without = try ExportTests(bare).import(whole.bytes, Connection(bare, "app"), code: code, passcode: false)
        #expect(without.added == 1)
        #expect(without.skipped.map(\.account) == ["theirs"] && without.skipped.map(\.reason) == [.foreignGroup])
        let owned = try SimulatedService()
        let tests = ExportTests(owned)
        tests.setPasscode()
        let with = try tests.import(whole.bytes, tests.app, code: code, passcode: true)
        #expect(with.added == 2 && with.skipped.isEmpty)
        let again = try tests.import(whole.bytes, tests.app, code: code, passcode: true)
        #expect(again.added == 0 && again.present == 2)
    }

    @Test(.promise("backup.verified")) func backupThatFailsVerificationImportsNothing() throws {
        for number in 0..<3 { add("\(number)") }
        let whole = try export(app, passcode: false)
        let code = try #require(world.shownRecoveryCode)
        var flipped = whole.bytes
        flipped[flipped.count - 1] ^= 1
        for bad in [Array(whole.bytes.dropLast()), Array(whole.bytes.dropLast(60)), whole.bytes + [0], flipped] {
            let bare = try SimulatedService()
            let tests = ExportTests(bare)
            #expect(throws: Failure(.storeUnreadable)) {
                try tests.import(bad, tests.app, code: code, passcode: false)
            }
            #expect(try bare.keychain.itemCount() == 0)
        }
    }

    @Test func secondPassWithAnotherBackupImportsNothing() throws {
        add("mine")
        let whole = try export(app, passcode: false)
        let code = try #require(world.shownRecoveryCode)
        let second = try export(app, passcode: false)
        let bare = try SimulatedService()
        let tests = ExportTests(bare)
        let first = tests.app.call(
            .importItems(Request.ImportItems(cursor: nil, bytes: whole.bytes, isLast: true)))
        tests.world.perform(.recoveryCode(code))
        guard case .imported(let part)? = first(), part.wantsStart else { throw Failure(.internalFailure) }
        let answer = tests.app.call(
            .importItems(Request.ImportItems(cursor: part.cursor, bytes: second.bytes, isLast: true)))
        #expect(status(answer()) == .storeUnreadable)
        #expect(try bare.keychain.itemCount() == 0)
    }

    @Test func wrongRecoveryCodeImportsNothing() throws {
        add("mine")
        let whole = try export(app, passcode: false)
        let bare = try SimulatedService()
        let tests = ExportTests(bare)
        let code = String(repeating: "0", count: 26)
        #expect(throws: Failure(.itemAuthenticationFailed)) {
            try tests.import(whole.bytes, tests.app, code: SecretBytes(code.utf8), passcode: false)
        }
        #expect(try bare.keychain.itemCount() == 0)
    }

    /// The check character says that it is a typing error, which is no try.
    @Test func aMistypedRecoveryCodeIsAskedForAgain() throws {
        add("mine")
        let whole = try export(app, passcode: false)
        let bare = try SimulatedService()
        let tests = ExportTests(bare)
        let request = Request.ImportItems(cursor: nil, bytes: whole.bytes, isLast: true)
        let answer = tests.app.call(.importItems(request))
        let right = try #require(world.shownRecoveryCode)
        var mistyped = right.copyBytes()
        mistyped[0] = mistyped[0] == 0x31 ? 0x32 : 0x31
        for code in [SecretBytes("ABCDE".utf8), SecretBytes(mistyped)] {
            bare.world.perform(.recoveryCode(code))
            #expect(answer() == nil)
        }
        bare.world.perform(.recoveryCode(right))
        guard case .imported? = answer() else { throw try #require(failure(answer())) }
    }
}
