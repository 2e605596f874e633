// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyDesktop

/// What a program outside the package gets in place of the package's own values.
@Suite struct MappingTests {
    @Test func anEntryHasTheEventOfTheAuditLogAndItsTimeInSeconds() {
        for event in AuditEvent.allCases {
            let entry = ActivityEntry(AuditLine(sequence: 1, time: 1_700_000_000_999_999, event: event))
            #expect(entry.event == event)
            #expect(entry.seconds == 1_700_000_000)
        }
    }

    @Test func anAnswerNamesTheProgramWithWhatStartedItAndItsItem() throws {
        func answer(_ answer: String, _ label: String?) -> KeychainControl.ProgramAnswer? {
            var attributes: Attributes = [
                .collection: .text("@answers/0123"), .identifier: .text("4567"),
                .owner: .text("/usr/bin/sh ← /usr/bin/ma\u{1b}il"), .label: .text(answer),
            ]
            attributes[.itemDescription] = label.map { .text($0) }
            return KeychainControl.ProgramAnswer(FoundItem(itemClass: .secret, attributes: attributes))
        }
        let always = try #require(answer("always", "Mail"))
        #expect(always.programs.count == 2 && always.programs[0] == "/usr/bin/sh")
        #expect(!always.programs[1].contains("\u{1b}"))
        #expect(always.mayRead && always.item == "Mail")
        #expect(always.itemIdentifier == "0123" && always.identifier == "4567")
        let never = try #require(answer("never", nil))
        #expect(!never.mayRead && never.item == nil, "its item was deleted")
        #expect(!always.endsWithSession && !never.endsWithSession)
        let session = try #require(answer("session", "Mail"))
        #expect(session.mayRead && session.endsWithSession)
        #expect(answer("sometimes", "Mail") == nil && answer("once", "Mail") == nil)
    }

    @Test func anEntryThatCannotBeReadHasNeitherEventNorTime() {
        let entry = ActivityEntry(AuditLine(sequence: 7, time: 5_000_000))
        #expect(entry.event == nil && entry.seconds == 0 && entry.id == 7)
    }

    @Test(
        arguments: [
            ([], .nothing), ([.privateKeyUsage], .nothing), ([.userPresence, .privateKeyUsage], .presence),
            ([.biometryAny], .biometry), ([.biometryCurrentSet], .currentBiometry), ([.devicePasscode], .passcode),
            ([.biometryAny, .devicePasscode, .or], .presence), ([.biometryAny, .devicePasscode, .and], .other),
            ([.biometryCurrentSet, .devicePasscode, .or], .currentBiometry), ([.applicationPassword], .appPassword),
            ([.applicationPassword, .devicePasscode], .passcode), ([.companion, .biometryAny, .or], .other),
        ] as [(AccessConstraints, StoredItem.Rule)])
    func ruleNamesWhatTheConstraintsDemand(_ constraints: AccessConstraints, _ rule: StoredItem.Rule) {
        #expect(StoredItem.Rule(constraints) == rule)
        // No demand may look like an item that its app gets without a proof.
        #expect((rule == .nothing) == !AccessControl(constraints: constraints).isProtected)
    }

    @Test func theHalvesOfAKeyPairAreToldApart() {
        func kind(_ half: KeyHalf) -> StoredItem.Kind {
            let attributes = Attributes.ofKey(half, .ellipticCurve, bitCount: 256, isPermanent: true)
            return StoredItem(FoundItem(itemClass: .key, attributes: attributes), number: 0).kind
        }
        #expect(kind(.publicKey) == .publicKey && kind(.privateKey) == .privateKey)
    }

    @Test func itemHasTheNamesOfItsAttributesAndNoSecret() {
        let found = FoundItem(
            itemClass: .internetPassword,
            attributes: [.accessGroup: .text("mail"), .account: .text("anna"), .server: .text("mail.example")],
            accessControl: AccessControl(accessibility: .whenPasscodeSetThisDeviceOnly, constraints: .devicePasscode),
            secret: SecretBytes(Array("hidden".utf8)), persistentReference: [UInt8](0..<34), isLostWithPasscode: true)
        let item = StoredItem(found, number: 3)
        #expect(item.app == "mail" && item.name == "anna" && item.place == "mail.example")
        #expect(item.kind == .internetPassword && item.rule == .passcode && item.staysHere && item.needsPasscode)
        #expect(item.id == "02030405060708090a0b0c0d0e0f1011")
        #expect(!"\(item)".contains("hidden"))
    }

    private func item(_ more: Attributes, _ itemClass: ItemClass = .genericPassword) -> StoredItem {
        var attributes: Attributes = [.accessGroup: .text("notes"), .account: .text("d3e39ab8")]
        for (code, value) in more { attributes[code] = value }
        return StoredItem(FoundItem(itemClass: itemClass, attributes: attributes), number: 0)
    }

    @Test func whatAnAppSaysAboutAnItemIsShortAndCleanOrNotShown() {
        let note = item([.itemDescription: .text("encrypted note"), .comment: .text("Line one.\nLine two.\u{202e}")])
        #expect(note.appKind == "encrypted note" && note.appComment == "Line one.\u{fffd}Line two.\u{fffd}")
        #expect(note.isEncryptedByApp && !note.isOpen, "as its app says")
        #expect(item([:]).appKind.isEmpty && item([:]).appComment.isEmpty && item([:]).isOpen)
        for text in [String(repeating: "a", count: 121), "x”: needs the passcode “", "\"x\"", "„x"] {
            let item = item([.itemDescription: .text(text), .comment: .text(text)])
            #expect(item.appKind.isEmpty && item.appComment.isEmpty, "\(text)")
        }
        #expect(item([.itemDescription: .text("password")], .key).appKind.isEmpty, "a key has no such attribute")
    }

    @Test func namesThatAnAppChoseAreShownAsALine() {
        let hostile = item([.label: .text("a\nb\u{202e}fdp"), .service: .text("c\rd")])
        #expect(hostile.title == "a\u{fffd}b\u{fffd}fdp (c\u{fffd}d)" && hostile.label == "a\u{fffd}b\u{fffd}fdp")
        let long = item([.label: .text(String(repeating: "w", count: 10_000))])
        #expect(long.title == String(repeating: "w", count: 320) + "…")
        let marks = item([.label: .text("a" + String(repeating: "\u{301}", count: 10_000))])
        #expect(marks.title.utf8.count < 330, "one character of any number of bytes")
        #expect("mail\n\u{202e}x".asShownLine == "mail\u{fffd}\u{fffd}x" && "a".asShownLine == "a")
    }

    @Test func anItemThatIsStoredAgainHasTheKeyOfTheDeletedOne() {
        let first = item([.service: .text("mail"), .label: .text("one"), .creationDate: .date(1)])
        #expect(first.key == item([.service: .text("mail"), .label: .text("two")]).key)
        #expect(first.key != item([.service: .text("web")]).key)
        #expect(first.key != item([.service: .text("mail"), .account: .text("bob")]).key)
        #expect(first.key != item([.service: .text("mail"), .accessGroup: .text("bank")]).key)
        #expect(first.key != item([.service: .text("mail")], .internetPassword).key)
    }

    @Test func anItemThatABackupLeftOutHasTheNameOfTheLists() {
        func name(_ label: String, _ account: String) -> String {
            KeychainControl.LeftOut(
                SkippedItem(
                    itemClass: .genericPassword, group: "notes", account: account, service: "keys", label: label,
                    reason: .thisDeviceOnly)
            ).name
        }
        #expect(name("Key of all notes", "biometry-key") == "Key of all notes (keys)")
        #expect(name("", "biometry-key") == "biometry-key (keys)")
        let listed = item([.service: .text("keys"), .label: .text("Key of all notes")])
        #expect(listed.title == name("Key of all notes", "d3e39ab8"))
    }

    @Test(
        arguments: [
            (.genericPassword, .whenUnlocked, [], true, true),
            (.genericPassword, .whenUnlocked, .userPresence, false, true),
            (.genericPassword, .whenUnlockedThisDeviceOnly, [], true, false),
            (.genericPassword, .whenUnlocked, .biometryAny, false, false),
            (.genericPassword, .whenUnlocked, .applicationPassword, false, false),
            (.certificate, .whenUnlocked, [], false, true),
        ] as [(ItemClass, Accessibility, AccessConstraints, Bool, Bool)])
    func itemSaysWhetherItIsOpenAndInBackups(
        _ itemClass: ItemClass, _ accessibility: Accessibility, _ constraints: AccessConstraints, _ isOpen: Bool,
        _ isInBackups: Bool
    ) {
        let control = AccessControl(accessibility: accessibility, constraints: constraints)
        let item = StoredItem(FoundItem(itemClass: itemClass, attributes: [:], accessControl: control), number: 0)
        #expect(item.isOpen == isOpen && item.isInBackups == isInBackups)
    }

    @Test func aPublicKeyIsNotOpenAndAPrivateKeyOfATokenIsInNoBackup() {
        func key(_ half: KeyHalf, token: String? = nil) -> StoredItem {
            var attributes = Attributes.ofKey(half, .ellipticCurve, bitCount: 256, isPermanent: true)
            attributes[.tokenID] = token.map { .text($0) }
            return StoredItem(FoundItem(itemClass: .key, attributes: attributes), number: 0)
        }
        #expect(!key(.publicKey).isOpen && key(.privateKey).isOpen)
        #expect(key(.privateKey).isInBackups && !key(.privateKey, token: "com.apple.setoken").isInBackups)
    }

    @Test func onlyASecretOfAProgramCanBeProtected() {
        let attributes: Attributes = [.identifier: .text("0123"), .label: .text("token")]
        let secret = StoredItem(FoundItem(itemClass: .secret, attributes: attributes), number: 0)
        #expect(secret.canBeProtected && secret.secretIdentifier == "0123")
        #expect(secret.asking(true).rule == .presence && secret.asking(true).asking(false) == secret)
        #expect(!StoredItem(FoundItem(itemClass: .secret, attributes: [:]), number: 0).canBeProtected)
        let password = StoredItem(FoundItem(itemClass: .genericPassword, attributes: attributes), number: 0)
        #expect(!password.canBeProtected)
        #expect(throws: SettingsFailure.self) { try KeychainControl().protect(password, asks: true) }
    }

    private func overview(_ tier: Tier, _ kind: PasscodeKind?, isPasscodeSet: Bool = true) -> KeychainOverview {
        KeychainOverview(
            StatusReport(
                tier: tier, processID: 1, storePath: "", itemCount: 3, biometry: .none, isEnrolled: false,
                isPasscodeSet: isPasscodeSet, isBiometryLocked: false, accessGroup: "", problem: nil, passcodeKind: kind
            ))
    }

    @Test func overviewSaysWhatThePasscodeIsAndHowLongANewOneMustBe() {
        #expect(overview(.file, .account).passcode == .account && overview(.file, .own).passcode == .own)
        #expect(overview(.file, nil).passcode == nil)
        #expect(overview(.user, .own).passcodeCharacters == 4 && overview(.file, .own).passcodeCharacters == 4)
        #expect(overview(.tpm, .own).passcodeCharacters == 6)
    }

    @Test func onlyAKeychainOnATPMHasARecoveryCodeAndOnlyWithAPasscode() {
        #expect(overview(.tpm, .own).hasRecoveryCode && !overview(.tpm, .own, isPasscodeSet: false).hasRecoveryCode)
        for tier in [Tier.user, .simulated, .file] { #expect(!overview(tier, .own).hasRecoveryCode) }
    }

    @Test(
        arguments: [
            (.userCancel, .cancelled), (.systemCancel, .cancelled), (.daemonUnavailable, .unavailable),
            (.storeRolledBack, .storeUnusable), (.notInteractive, .noPrompt), (.interactionNotAllowed, .locked),
            (.passcodeNotSet, .passcodeNotSet), (.authenticationFailed, .notAuthenticated),
            (.itemAuthenticationFailed, .notOpened), (.passcodeDelayed, .delayed), (.promptDelayed, .delayed),
            (.duplicateItem, .exists), (.itemNotFound, .notFound), (.biometryDisconnected, .noReader),
            (.diskFull, .other),
        ] as [(Status, SettingsFailure.Code)])
    func failureHasTheCodeThatAWindowTellsApart(_ status: Status, _ code: SettingsFailure.Code) {
        let failure = SettingsFailure(Failure(status, "What happened.", hint: "What helps."))
        #expect(failure.code == code && failure.message == "What happened." && failure.hint == "What helps.")
        #expect(!SettingsFailure(Failure(status)).message.isEmpty)
    }

    @Test func fixesOfTheDoctorBecomeActionsWhereTheWindowHasThem() {
        func fix(_ name: String, _ command: String, needsRoot: Bool = false) -> Health.Row.Fix? {
            Health.Row(DoctorRow(name, .attention, "found", .init(command, needsRoot: needsRoot))).fix
        }
        #expect(fix("passcode", "latchkey passcode set") == .setPasscode)
        #expect(fix("sensor", "latchkey passcode check") == .checkPasscode)
        #expect(fix("sensor", "latchkey fingerprint enroll") == .enrollFinger)
        #expect(fix("service", "latchkey status") == .startDaemon)
        #expect(fix("agent", "setsid -f /usr/libexec/latchkey-agent") == .startAgent)
        #expect(
            fix("PAM", "chmod go-w /etc/pam.d", needsRoot: true) == .command("chmod go-w /etc/pam.d", needsRoot: true))
        #expect(Health.Row(DoctorRow("TPM", .absent, "none")).fix == nil)
        #expect(Health.Row(DoctorRow("sensor", .attention, "virtual", isWeak: true)).isWeak)
    }
}
