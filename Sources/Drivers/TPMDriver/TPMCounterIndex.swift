// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

/// Where counters are, and which one belongs to a store.
enum TPMCounterIndex {
    /// The handles that Latchkey uses for counters, in the range that the TCG leaves to the owner of a TPM ("Registry of
    /// Reserved TPM 2.0 Handles and Localities", section 2.2).
    static let handles = UInt32(0x0181_4c00)..<UInt32(0x0181_4d00)
}

extension TPMClient {
    /// Returns the public area of the counter with that policy; nil if there is none.
    mutating func counterIndex(_ policy: [UInt8]) throws(TPMError) -> TPMIndexArea? {
        for handle in try usedIndices(in: TPMCounterIndex.handles) {
            guard let area = try readIndex(handle) else { continue }
            // Any other index is left alone.
            if area.isSame(as: .counter(at: handle, policy: policy)) { return area }
        }
        return nil
    }

    /// Creates a counter at a free handle; it has no number until it is incremented.
    mutating func defineCounter(_ policy: [UInt8], in root: StorageRoot) throws(TPMError) -> TPMIndexArea {
        let area = TPMIndexArea.counter(at: try freeIndex(in: TPMCounterIndex.handles), policy: policy)
        try define(area, in: root)
        return area
    }

    /// Adds one to a counter (`TPM2_NV_Increment`); returns its public area afterwards.
    mutating func increment(_ area: TPMIndexArea, in root: StorageRoot) throws(TPMError) -> TPMIndexArea {
        let index = try entity(area)
        _ = try inSession(.hmac, of: root) { (client, session) throws(TPMError) in
            try client.send(.nvIncrement, [index, index], [], in: &session).response
        }
        var written = area
        written.attributes.insert(.written)
        return written
    }

    /// Returns the number of a counter that was incremented at least once (`TPM2_NV_Read`). The session authenticates
    /// the response, so that a number from another place than this TPM is not accepted.
    mutating func number(of area: TPMIndexArea, in root: StorageRoot) throws(TPMError) -> UInt64 {
        let index = try entity(area)
        var parameters = TPMWriter()
        parameters.add(area.size)
        // From the first byte.
        parameters.add(UInt16(0))
        let response = try inSession(.hmac, of: root) { (client, session) throws(TPMError) in
            try client.send(.nvRead, [index, index], parameters.bytes, in: &session).response
        }
        return try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let bytes = try reader.sized(limit: 8)
            try reader.checkEnd()
            guard bytes.count == 8 else { throw TPMReader.malformed }
            return bytes.reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
}
