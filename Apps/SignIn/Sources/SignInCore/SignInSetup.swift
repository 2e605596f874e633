// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import LatchkeyKit
import LocalAuthentication

/// The dependencies and settings of the app, which tests replace.
public struct SignInSetup: Sendable {
    /// The service of the app's item in the keychain.
    public var service = "Sign In"
    /// The name of this device in the lists of the server, at most 64 bytes.
    public var deviceName: String
    /// The current date.
    public var now: @Sendable () -> Date = { Date() }
    /// Creates a context for each question about the sensor.
    public var makeContext: @Sendable () -> sending any BiometryEvaluating = { LAContext() }
    /// What the form for the registration contains at first.
    public var form = RegistrationForm()

    /// Creates the setup of the real app.
    public init() { deviceName = Self.hostName }

    /// The name of this machine; empty when it has none. Does not ask the network, as `ProcessInfo` would.
    private static var hostName: String {
        // Linux permits 64 bytes, as the server does; one more ends the text.
        var buffer = [CChar](repeating: 0, count: 65)
        guard gethostname(&buffer, buffer.count) == 0 else { return "" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Reads launch arguments.
    ///
    /// - Parameter arguments: the arguments of the process, without its name.
    /// - Returns: an error message for arguments that are not understood; nil when all are.
    public mutating func apply(arguments: [String]) -> String? {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { return "There is no option \(argument)." }
            switch parts[0] {
            case "--server": form.server = parts[1]
            case "--relying-party": form.relyingParty = parts[1]
            case "--user": form.user = parts[1]
            default: return "There is no option \(argument)."
            }
        }
        return nil
    }
}
