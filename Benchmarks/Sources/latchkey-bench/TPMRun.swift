// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Measures signatures of a key in a software TPM, in alternating batches with the TPM's own commands alone.
enum TPMRun {
    private static let inBatch = 50
    private static let rounds = 200

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
        var error: Unmanaged<CFError>?
        guard let key = SecKeyCreateRandomKey(parameters as CFDictionary, &error) else {
            throw BenchFailure("No key in the TPM: \(String(describing: error?.takeRetainedValue())).")
        }
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
    }

    private static func row(_ name: String, _ samples: Samples, _ floor: Samples) {
        let text = String(
            format: "%8.1f µs median %8.1f µs p99 %6.2fx  ", samples.median, samples.percentile99,
            samples.median / floor.median)
        print(text + name, to: .standardOutput)
    }
}
