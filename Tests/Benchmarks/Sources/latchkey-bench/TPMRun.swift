// SPDX-License-Identifier: Apache-2.0

import CBenchOpenSSL
import Foundation
import LocalAuthentication
import Security

/// Measures signatures of a key in a software TPM, in alternating batches with the TPM's own commands alone.
enum TPMRun {
    private static let inBatch = 50
    private static let rounds = 200
    /// Signatures of the key with an application password, whose stretching takes about a millisecond in tier simulated.
    private static let withPassword = 200

    /// Runs with a store and two TPMs of its own, and prints a table.
    static func measure(_ options: Options) throws(BenchFailure) {
        guard let program = TPMProcess.program else {
            print("keys in a TPM: not measured, swtpm is not installed: apt-get install swtpm", to: .standardOutput)
            return
        }
        try options.cores.settleSelf()
        let place = try Workspace(in: options.folder)
        defer { place.remove() }
        let (ours, floors) = (
            try TPMProcess(program, folder: place.folder("tpm")), try TPMProcess(program, folder: place.folder("floor"))
        )
        // Tier simulated uses a TPM that is a program without root's consent; the key needs no prompt.
        try place.configure("tier = simulated\nenclave = tpm\ntpm = \(ours.path)\n")
        let daemon = DaemonProcess(store: place.store)
        defer { daemon.stopQuietly() }
        let floor = try TPMFloor(floors.path)
        let parameters: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave,
        ]
        let key = try makeKey(parameters)
        let digest = Data(repeating: 7, count: 32) as CFData
        var (through, plain, approved, untimed) = (Samples(), Samples(), Samples(), Samples())
        try floor.signApproved(&untimed)
        for _ in 0..<rounds {
            for _ in 0..<inBatch {
                let made = through.time { SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, digest, nil) }
                if made == nil { throw BenchFailure("The key could not sign.") }
            }
            for _ in 0..<inBatch { try floor.signPlain(&plain) }
            for _ in 0..<inBatch { try floor.signApproved(&approved) }
        }
        print("\nkeys in a TPM (swtpm), \(through.count) signatures each", to: .standardOutput)
        row("through the daemon, approved", through, plain)
        row("floor: approval and signature, the same two commands", approved, plain)
        row("floor: signature for a password, one command", plain, plain)
        let ratio = String(format: "%.2f", through.median / approved.median)
        let raw = String(format: "%.2f", through.median / plain.median)
        print("\(ratio)x the same commands (goal 1.10x), \(raw)x one command (goal 2.20x)", to: .standardOutput)
        try measurePassword(parameters, digest, through, place)
        try daemon.stop()
        try ours.expectNothingHeld(after: "\(through.count + withPassword) signatures")
        try PasscodeRun.measure(place)
    }

    static func makeKey(_ parameters: [String: Any]) throws(BenchFailure) -> SecKey {
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
            throw BenchFailure("No key in the TPM: \(String(describing: error?.takeRetainedValue())).")
        }
        return key
    }

    /// The same signature with an application password in addition, which is to cost its stretching, and the audit entry
    /// that each use of a protected key commits before its reply. A key without a constraint has no such entry.
    private static func measurePassword(
        _ parameters: [String: Any], _ digest: CFData, _ without: Samples, _ place: Workspace
    ) throws(BenchFailure) {
        let word = Data("the password of the app".utf8)
        let context = LAContext()
        guard context.setCredential(word, type: .applicationPassword),
            let control = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .applicationPassword], nil)
        else { throw BenchFailure("No access control with an application password.") }
        var parameters = parameters
        parameters[kSecPrivateKeyAttrs as String] = [kSecAttrAccessControl as String: control]
        parameters[kSecUseAuthenticationContext as String] = context
        let key = try makeKey(parameters)
        let database = try SQLiteFloor(at: place.folder("entries.sqlite"))
        var (through, stretch, entry) = (Samples(), Samples(), Samples())
        for number in 0..<withPassword {
            let made = through.time { SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, digest, nil) }
            if made == nil { throw BenchFailure("The key with a password could not sign.") }
            try stretch.time { () throws(BenchFailure) in try scrypt(Array(word)) }
            try database.insert([Item(number: number)], &entry)
        }
        print("\na key in the TPM with an application password, \(withPassword) signatures", to: .standardOutput)
        row("through the daemon, with an application password", through, stretch)
        row("floor: scrypt of the password", stretch, stretch)
        row("floor: one durable insert, as an audit entry needs", entry, stretch)
        let more = String(format: "%.1f", through.median - stretch.median - entry.median)
        let plain = String(format: "%.1f", without.median)
        print(
            "\(more) µs beside the stretch and the entry; without a password \(plain) µs (goal: the same)",
            to: .standardOutput)
    }

    /// What the daemon does with an application password in tier simulated: N = 2^10, and 2^16 in the others.
    private static func scrypt(_ password: [UInt8]) throws(BenchFailure) {
        var key = [UInt8](repeating: 0, count: 32)
        let salt = [UInt8](repeating: 7, count: 16)
        let bytes = password.map { CChar(bitPattern: $0) }
        guard EVP_PBE_scrypt(bytes, bytes.count, salt, salt.count, 1 << 10, 8, 1, 32 << 20, &key, key.count) == 1
        else { throw BenchFailure("libcrypto does not stretch a password.") }
    }

    private static func row(_ name: String, _ samples: Samples, _ floor: Samples) {
        print(text(name, samples, floor), to: .standardOutput)
    }

    /// A row of a table.
    static func text(_ name: String, _ samples: Samples, _ floor: Samples) -> String {
        String(
            format: "%8.1f µs median %8.1f µs p99 %6.2fx  ", samples.median, samples.percentile99,
            samples.median / floor.median) + name
    }
}
