// SPDX-License-Identifier: Apache-2.0

import LatchkeySimulator
import LocalAuthentication
import Security
import Testing

/// Items with an application password, which the app passes to the context (LA-40, AC-05).
@Suite struct ApplicationPasswordTests {
    private let simulator: Simulator

    init() throws { simulator = try Simulator() }

    private func context(_ password: String) -> LAContext {
        let context = LAContext()
        #expect(context.setCredential(Data(password.utf8), type: .applicationPassword))
        return context
    }

    private func item(_ password: String?, _ account: String = "account") -> Query {
        guard let password else { return .password(account) }
        return Query.password(account).with(kSecUseAuthenticationContext, context(password))
    }

    @Test func onlyTheRightPasswordReadsTheItem_LA40() {
        simulator.run {
            #expect(add(item("open sesame").secret().under(.applicationPassword)) == errSecSuccess)
            #expect(secret(item("open sesame")) == "secret")
            #expect(find(item("open barley").data).status == errSecAuthFailed)
            #expect(find(item("").data).status == errSecAuthFailed)
            #expect(find(item(nil).data).status == errSecInteractionNotAllowed)
        }
    }

    @Test func addingNeedsThePassword_AC05() {
        simulator.run {
            #expect(add(item(nil).secret().under(.applicationPassword)) == errSecInteractionNotAllowed)
            #expect(exists(item(nil)) == errSecItemNotFound)
            #expect(add(item("p").under(.applicationPassword)) == errSecParam, "there is no secret to protect")
        }
    }

    @Test func theExistenceOfAnItemIsReportedOnlyWithThePassword_AC06() {
        simulator.run {
            #expect(add(item("p").secret().under(.applicationPassword)) == errSecSuccess)
            #expect(exists(item(nil)) == errSecInteractionNotAllowed)
            #expect(exists(item("q")) == errSecAuthFailed)
            #expect(exists(item("p")) == errSecSuccess)
            #expect(find(item("q").attributes).status == errSecAuthFailed)
        }
    }

    @Test func removingTheCredentialMakesTheItemUnreadable_LA40() {
        simulator.run {
            let context = context("p")
            let query = Query.password("account").with(kSecUseAuthenticationContext, context)
            #expect(add(query.secret().under(.applicationPassword)) == errSecSuccess)
            #expect(context.setCredential(nil, type: .applicationPassword))
            #expect(find(query.data).status == errSecInteractionNotAllowed)
        }
    }

    @Test func updatingTheItemNeedsThePasswordAndPreservesIt_AC11() {
        simulator.run {
            #expect(add(item("p").secret().under(.applicationPassword)) == errSecSuccess)
            let new: Query = [kSecValueData as String: Data("new".utf8)]
            #expect(update(item(nil), new) == errSecInteractionNotAllowed)
            #expect(update(item("q"), new) == errSecAuthFailed)
            #expect(update(item("p"), new) == errSecSuccess)
            #expect(secret(item("p")) == "new")
            #expect(delete(.password("account")) == errSecSuccess)
        }
    }

    @Test func biometryIsRequiredInAdditionToThePassword_AC02() {
        simulator.run {
            #expect(add(item("p").secret().under([.userPresence, .applicationPassword])) == errSecSuccess)
            simulator.touch(matching: true)
            #expect(secret(item("p")) == "secret")
            simulator.touch(matching: true)
            #expect(find(item("q").data).status == errSecAuthFailed)
            #expect(simulator.transcript.lines.filter { $0.contains("granted by biometry") }.count == 2)
        }
    }

    @Test func aPasswordWithTrailingZerosDiffersFromTheOneWithout() {
        simulator.run {
            #expect(add(item("p").secret().under(.applicationPassword)) == errSecSuccess)
            #expect(find(item("p\0").data).status == errSecAuthFailed)
        }
    }

    @Test func aCredentialOfMoreThanOneKibibyteIsRefused() {
        simulator.run {
            let context = LAContext()
            #expect(!context.setCredential(Data(repeating: 1, count: 1025), type: .applicationPassword))
            #expect(!context.isCredentialSet(.applicationPassword))
        }
    }

    @Test func nothingSatisfiesTheCompanionConstraint() {
        simulator.run {
            #expect(add(item(nil).secret().under(.companion)) == errSecSuccess)
            #expect(find(item(nil).data).status == errSecAuthFailed, "no device is paired")
        }
    }
}
