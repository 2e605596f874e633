// SPDX-License-Identifier: Apache-2.0

/// A property that a fuzzer checks, by the name of its file and of its folder of inputs.
package enum FuzzProperty: String, CaseIterable, Sendable {
    case passkey, server

    /// Reads one input and describes how it violates the property; nil when it does not. Every rejection is correct.
    package func complaint(about bytes: [UInt8]) -> String? {
        switch self {
        case .passkey: FuzzedPasskey.complaint(about: bytes)
        case .server: FuzzedServer.shared.complaint(about: bytes)
        }
    }
}
