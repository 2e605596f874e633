// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMDriver
import TPMProtocol
import Testing

extension TwoServices {
    /// The first index that `fillTPM` defines.
    private static let firstFiller: UInt32 = 0x0180_0001

    /// Defines indices of a program that uses every byte, until TPM_RC_NV_SPACE.
    func fillTPM() throws {
        var handle = Self.firstFiller
        for size in [2048, 512, 64, 1] as [UInt16] {
            while true {
                // TPM2_NV_DefineSpace with the empty password of the owner; read and written by the owner and by its value.
                var command: [UInt8] = [0x80, 2, 0, 0, 0, 45, 0, 0, 1, 0x2a, 0x40, 0, 0, 1, 0, 0, 0, 9, 0x40, 0, 0, 9]
                command += [0, 0, 0, 0, 0, 0, 0, 0, 14]
                command += withUnsafeBytes(of: handle.bigEndian, Array.init) + [0, 0x0b, 0, 6, 0, 6, 0, 0]
                command += withUnsafeBytes(of: size.bigEndian, Array.init)
                let response = try #require(try chip?.carry(command, for: .passcode))
                handle += 1
                if response[6..<10] == [0, 0, 1, 0x4b] { break }
                try #require(response[6..<10] == [0, 0, 0, 0], "\(response)")
            }
        }
    }

    /// Removes the first index that `fillTPM` has defined.
    func makeRoom() throws { #expect(try removeIndex(Self.firstFiller)[6..<10] == [0, 0, 0, 0]) }

    /// TPM2_NV_UndefineSpace with the empty password of the owner; returns the response.
    func removeIndex(_ handle: UInt32) throws -> [UInt8] {
        var command: [UInt8] = [0x80, 2, 0, 0, 0, 31, 0, 0, 1, 0x22, 0x40, 0, 0, 1]
        command += withUnsafeBytes(of: handle.bigEndian, Array.init)
        command += [0, 0, 0, 9, 0x40, 0, 0, 9, 0, 0, 0, 0, 0]
        return try #require(try chip?.carry(command, for: .passcode))
    }

    /// The indices of passcodes that the TPM has.
    func passcodeIndices() throws -> Int {
        // TPM2_GetCapability of TPM_CAP_HANDLES, from the first handle of passcodes.
        let response = try #require(
            try chip?.carry(
                [0x80, 1, 0, 0, 0, 22, 0, 0, 1, 0x7a, 0, 0, 0, 1, 1, 0x81, 0x4d, 0, 0, 0, 1, 0], for: .passcode))
        return stride(from: 19, to: response.count, by: 4).filter { response[$0..<$0 + 3] == [1, 0x81, 0x4d] }.count
    }
}
