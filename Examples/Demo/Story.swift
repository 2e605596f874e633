// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem
import LocalAuthentication
import Security

/// The steps of the demo; each checks what it shows.
struct Story {
    static let passcode = "2468"
    static let service = "demo.latchkey.example"
    static let account = "ada.lovelace"
    private let machine: DemoMachine

    init() throws { machine = try DemoMachine() }

    func tell() throws {
        let start = Date()
        defer { machine.remove() }
        say("Latchkey stores a secret that only a finger or a passcode releases.")
        say("This program is process \(getpid()), the daemon is process \(machine.daemon); both are real.")
        say("Only the sensor is simulated: you operate it with keys. Everything is in \(machine.folder).")

        step("A passcode is set (\(Story.passcode)) and a finger is enrolled.")
        try machine.control(Request.PasscodeChange.set(SecretBytes(Story.passcode.utf8)))
        try machine.control(Request.Simulate(.enroll))
        try check(LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil), "biometry works")

        step("A secret is stored for the fingers enrolled now (.biometryCurrentSet).")
        let secret = try ask("Type any secret: ")
        try store(secret, Story.account, .biometryCurrentSet)
        try store(secret, Story.account + ".any", .userPresence)
        done("stored; the file holds ciphertext only, as the last step shows")

        try fallbackAppears()
        try fingerReleases(secret)
        try missesLock()
        try passcodeUnlocks()
        try fingerIsReplaced(secret)
        if machine.chip != nil {
            try keyStaysInTheChip()
        } else {
            say("\nKeys in a TPM are not shown: the package swtpm is not installed.")
        }
        try nothingIsReadable(secret)
        let seconds = Int(Date().timeIntervalSince(start).rounded())
        Screen.write("\nThe demo is over: every step was checked (\(seconds) s).")
    }

    // MARK: - Steps

    private func fallbackAppears() throws {
        step("The fallback button appears after a finger that is not recognised.")
        try withPerson("Press x (another finger), then p (the button that appears).") { reason in
            let outcome = evaluate(.deviceOwnerAuthenticationWithBiometrics, reason)
            return outcome == .userFallback ? nil : "the button was not chosen (\(describe(outcome)))"
        }
        done("LAError.userFallback: the app offers its own login")
    }

    private func fingerReleases(_ secret: String) throws {
        step("The right finger releases the secret.")
        try withPerson("Press x (another finger), then m (the enrolled one).") { reason in
            let (status, data) = read(Story.account, reason)
            guard status == errSecSuccess else { return "the keychain answered \(status)" }
            return data == Data(secret.utf8) ? nil : "another secret came back"
        }
        done("SecItemCopyMatching returned: \(secret)")
    }

    private func missesLock() throws {
        step("Five misses lock the sensor, across evaluations.")
        try withPerson("Press x three times, and then, in the next prompt, x twice.") { reason in
            let first = evaluate(.deviceOwnerAuthenticationWithBiometrics, reason)
            guard first == .authenticationFailed else { return "the first evaluation: \(describe(first))" }
            let second = evaluate(.deviceOwnerAuthenticationWithBiometrics, reason)
            return second == .biometryLockout ? nil : "the second evaluation: \(describe(second))"
        }
        var error: NSError?
        let isPossible = LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error)
        try check(!isPossible && (error as? LAError)?.code == .biometryLockout, "biometry is locked")
        done("LAError.biometryLockout, for every app, until the passcode is entered")
    }

    private func passcodeUnlocks() throws {
        step("The passcode ends the lockout.")
        try withPerson("Type the passcode, \(Story.passcode), and Return.") { reason in
            let outcome = evaluate(.deviceOwnerAuthentication, reason)
            return outcome == nil ? nil : "the passcode was not accepted (\(describe(outcome)))"
        }
        try check(
            LAContext().canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil), "biometry works again")
        done("the sensor works again")
    }

    private func fingerIsReplaced(_ secret: String) throws {
        step("The enrolled finger is replaced with another one.")
        try machine.control(Request.Simulate(.replaceFinger))
        try check(read(Story.account).0 == errSecItemNotFound, "the bound item is gone")
        done("the item of .biometryCurrentSet is gone: errSecItemNotFound, without a prompt")
        try withPerson("The item of .userPresence stays. Press m (the new finger).") { reason in
            let (status, data) = read(Story.account + ".any", reason)
            return status == errSecSuccess && data == Data(secret.utf8) ? nil : "the keychain answered \(status)"
        }
        done("the item of .userPresence is still there")
    }

    private func nothingIsReadable(_ secret: String) throws {
        step("The files do not contain the secret.")
        let search = PlaintextSearch(words: [secret, Story.account, Story.service])
        let control = machine.folder + "/control.txt"
        try check(
            FileManager.default.createFile(atPath: control, contents: search.sample), "the control file is written")
        let known = try search.finds(in: [control])
        try check(
            known == search.patterns.count, "the search finds all \(search.patterns.count) patterns in the control file"
        )
        try FileManager.default.removeItem(atPath: control)
        let files = ["keychain.sqlite", "keychain.sqlite-wal", "keychain.sqlite-shm"].map { machine.folder + "/" + $0 }
        let found = try search.finds(in: files)
        try check(found == 0, "the store contains none of them, but \(found) were found")
        done(
            "\(search.patterns.count) patterns (UTF-8, UTF-16, base64, hex) found in a control file, none in the store")
    }

    // MARK: - The calls an app makes

    private func store(_ secret: String, _ account: String, _ flags: SecAccessControlCreateFlags) throws {
        var error: Unmanaged<CFError>?
        guard
            let rule = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, flags, &error)
        else { throw DemoFailure("the access control was refused") }
        let item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
            kSecAttrService as String: Story.service, kSecAttrAccessControl as String: rule,
            kSecValueData as String: Data(secret.utf8),
        ]
        let status = SecItemAdd(item as CFDictionary, nil)
        try check(status == errSecSuccess, "SecItemAdd answered \(status)")
    }

    private func read(_ account: String, _ reason: String = "read the demo's secret") -> (OSStatus, Data?) {
        let context = LAContext()
        context.localizedReason = reason
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
            kSecAttrService as String: Story.service, kSecReturnData as String: true,
            kSecUseAuthenticationContext as String: context,
        ]
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, result as? Data)
    }

    /// nil for success, else the error.
    private func evaluate(_ policy: LAPolicy, _ reason: String) -> LAError.Code? {
        final class Box: @unchecked Sendable {
            // Written before the semaphore is signalled, read after the wait.
            var code: LAError.Code?
        }
        let box = Box()
        let replied = DispatchSemaphore(value: 0)
        let context = LAContext()
        context.evaluatePolicy(policy, localizedReason: reason) { isProven, error in
            box.code = isProven ? nil : (error as? LAError)?.code ?? .notInteractive
            replied.signal()
        }
        replied.wait()
        return box.code
    }

    private func describe(_ code: LAError.Code?) -> String { code.map { "LAError.\($0)" } ?? "success" }
}
