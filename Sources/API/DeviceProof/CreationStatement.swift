// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

/// A TPM's statement about the creation of a key (`TPMS_ATTEST` with `TPMS_CREATION_INFO`, TPM 2.0 Library, Part 2,
/// section 10.12).
struct CreationStatement {
    /// The nonce for which it was made (`extraData`).
    let nonce: [UInt8]
    let objectName: [UInt8]

    /// Decodes a statement; nil unless it is of this type and has exactly these parts.
    init?(_ bytes: [UInt8]) {
        do throws(Failure) {
            var reader = TPMReader(bytes)
            // The TPM signs no data from outside that begins with this number (TPM_GENERATED_VALUE), so a statement
            // cannot be forged by asking for a signature.
            try reader.expect(UInt32(0xff54_4347))
            // TPM_ST_ATTEST_CREATION.
            try reader.expect(UInt16(0x801a))
            // The qualified name of the attestation key, which depends on the storage root key.
            _ = try reader.sized(limit: 68)
            nonce = try reader.sized(limit: 64)
            // Clock, resets, restarts, whether the clock is certain, firmware. They are not checked: a nonce is used
            // once, so the statement is as new as the nonce.
            _ = try reader.bytes(8 + 4 + 4 + 1 + 8)
            objectName = try reader.sized(limit: 68)
            // The digest of the creation data, which the TPM compared with its ticket.
            _ = try reader.sized(limit: 64)
            try reader.checkEnd()
        } catch {
            return nil
        }
    }
}
