// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyTesting
import Testing

@testable import LatchkeySignIn

/// Tests of a device with one enrolled finger, which the simulator of the test plays.
protocol DeviceTests {}

extension DeviceTests {
    func machine() throws -> Simulator { try #require(Simulator.current) }

    func prompts() throws -> [String] {
        try machine().transcript.lines.filter { $0.contains("tries left: 3") }
    }

    func server(_ url: URL) throws -> RelyingPartyServer {
        try RelyingPartyServer(url: url, relyingPartyID: "localhost", timeout: .seconds(10))
    }

    func registered(_ url: URL) async throws -> DeviceCredential {
        try machine().touch(matching: true)
        return try await DeviceCredential.register(user: "ada", with: server(url), enrollmentCode: "CODE-1234")
    }

    /// The key that the device has for ada.
    func existing(_ url: URL) throws -> DeviceCredential? {
        try DeviceCredential.existing(user: "ada", for: server(url))
    }

    func kind(_ body: () async throws(SignInError) -> Void) async -> SignInError.Kind? {
        do throws(SignInError) {
            try await body()
            return nil
        } catch {
            return error.kind
        }
    }
}
