// SPDX-License-Identifier: Apache-2.0

import Foundation

// A key of the floor that demands an index which counts wrong values, as keys of tier `tpm` demand the passcode.

extension TPMFloor {
    /// A key, and the index whose value its policy demands.
    struct PasscodeKey {
        fileprivate let key: UInt32
        fileprivate let session: UInt32
    }

    private static let index: UInt32 = 0x0181_4e00
    private static let value = [UInt8](repeating: 5, count: 32)

    /// Makes an index with a value (`TPM_NT_PIN_FAIL`) and a key whose policy is `TPM2_PolicySecret` of that index.
    func makePasscodeKey() throws(BenchFailure) -> PasscodeKey {
        // Written by the owner, read with the value; outside of the lockout, as such an index must be.
        let attributes: UInt32 = 1 << 1 | 8 << 4 | 1 << 18 | 1 << 25
        let area = Self.bytes(Self.index) + Self.bytes(0x000b as UInt16) + Self.bytes(attributes) + Self.sized([])
        let size = Self.bytes(8 as UInt16)
        _ = try send(0x12a, [0x4000_0001], Self.sized(Self.value) + Self.sized(area + size), auth: Self.password)
        let counts: [UInt8] = Self.bytes(0 as UInt32) + Self.bytes(20 as UInt32)
        _ = try send(
            0x137, [0x4000_0001, Self.index], Self.sized(counts) + Self.bytes(0 as UInt16), auth: Self.password)
        let written = Self.bytes(Self.index) + Self.bytes(0x000b as UInt16) + Self.bytes(attributes | 1 << 29)
        let name = Self.name(written + Self.sized([]) + size)
        let step = Self.hash([UInt8](repeating: 0, count: 32) + Self.bytes(0x151 as UInt32) + name)
        let policy = Self.hash(step)
        return PasscodeKey(key: try makeKey(policy: policy), session: try startPolicy().handle)
    }

    /// One signature after the proof of the value; the proof is part of the time.
    func sign(_ key: PasscodeKey, _ samples: inout Samples) throws(BenchFailure) {
        _ = try samples.time { () throws(BenchFailure) -> [UInt8] in
            // No nonce, no digest of a command and no reference: the fewest bytes that the TPM accepts.
            let empty = Self.sized([]) + Self.sized([]) + Self.sized([]) + Self.bytes(0 as UInt32)
            _ = try send(0x151, [Self.index, key.session], empty, auth: Self.password, value: Self.value)
            return try send(0x15d, [key.key], Self.signing, auth: key.session)
        }
    }
}
