// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySystem

/// The values of `--type`.
enum KeyChoice: String, CaseIterable {
    case p256, p384, p521, rsa2048, rsa3072, rsa4096

    /// All values, for help and hints.
    static let list = allCases.map(\.rawValue).joined(separator: ", ")

    init(_ name: String?) throws(CommandFailure) {
        guard let choice = KeyChoice(rawValue: name ?? "p256") else {
            throw .usage("unknown type \(name ?? "")", "Use \(KeyChoice.list).")
        }
        self = choice
    }

    /// Makes a random key. An RSA key takes seconds; on a terminal a line shows progress.
    func makeKey() throws(Failure) -> PrivateKey {
        switch self {
        case .p256: return try PrivateKey.generate(.p256)
        case .p384: return try PrivateKey.generate(.p384)
        case .p521: return try PrivateKey.generate(.p521)
        case .rsa2048: return try KeyChoice.makeRSAKey(2048)
        case .rsa3072: return try KeyChoice.makeRSAKey(3072)
        case .rsa4096: return try KeyChoice.makeRSAKey(4096)
        }
    }

    private static func makeRSAKey(_ bitCount: Int) throws(Failure) -> PrivateKey {
        guard StandardStream.error.isTerminal else { return try PrivateKey.generateRSA(bitCount: bitCount) }
        Output.writeError(localized("Searching for two primes") + " ")
        // Clears the line, also after a failure.
        defer { Output.control(.clearLine) }
        var next = Uptime.nanoseconds
        return try PrivateKey.generateRSA(bitCount: bitCount) {
            guard Uptime.nanoseconds >= next else { return true }
            next = Uptime.nanoseconds + 200_000_000
            Output.writeError(".")
            return true
        }
    }
}
