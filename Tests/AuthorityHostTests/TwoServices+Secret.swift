// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import Testing

@testable import LatchkeyKeychain
@testable import LatchkeyService

extension TwoServices {
    private static let secretName: Attributes = [.account: .text("a"), .service: .text("s")]

    /// Adds an item that is lost with the passcode.
    func addSecret() throws {
        let caller = Caller(
            groups: Self.identity.groups, label: Self.identity.label, program: "", processID: 77,
            userID: Self.userID)
        _ = try keychain.add(
            Request.AddItem(
                itemClass: .genericPassword, attributes: Self.secretName,
                accessControl: AccessControl(accessibility: .whenPasscodeSetThisDeviceOnly),
                secret: SecretBytes("secret".utf8), returns: [], authentication: Authentication()),
            caller: caller)
    }

    /// Sets the passcode "first passcode", enters it, adds an item that needs one, and returns the recovery code.
    func prepareSecret() throws -> String {
        #expect(setPasscode("first passcode") == [.done])
        let code = shownCode
        #expect(enter("first passcode") == [.proven([.passcode])])
        try addSecret()
        return code
    }

    /// What the added item has; nil if it is not released.
    func secret() throws -> [UInt8]? {
        let request = Request.CopyItems(
            query: ItemQuery(itemClass: .genericPassword, attributes: Self.secretName), limit: .all, returns: .data,
            authentication: Authentication())
        guard case .items(let items, _)? = answers(session(), .copyItems(request))().last else { return nil }
        return items.first?.secret?.copyBytes()
    }

    /// Enters the recovery code, a new passcode, and the end of the new code.
    func recover(_ code: String, _ passcode: String) -> [Reply] {
        let replies = answers(session(), .passcode(.recoverAtPrompt))
        if replies().isEmpty { world.perform(.recoveryCode(SecretBytes(code.utf8))) }
        guard replies().isEmpty, seen.shown?.step == .newPasscodeAsked else {
            world.perform(.cancel)
            return replies()
        }
        enterNew(passcode)
        if replies().isEmpty { noteCode() }
        return replies()
    }
}
