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
        for handle in try usedCounterHandles() {
            guard let area = try readIndex(handle) else { continue }
            // Only the attribute that the TPM sets itself may differ; any other index is left alone.
            var unwritten = area
            unwritten.attributes.remove(.written)
            if unwritten == .counter(at: handle, policy: policy) { return area }
        }
        return nil
    }

    /// Creates a counter at a free handle; it has no number until it is incremented (`TPM2_NV_DefineSpace`).
    mutating func defineCounter(_ policy: [UInt8], in root: StorageRoot) throws(TPMError) -> TPMIndexArea {
        let used = try usedCounterHandles()
        let free = TPMCounterIndex.handles.lazy.map { TPMHandle($0) }.first { !used.contains($0) }
        guard let free else { throw .refused(.indexMemory, .nvDefineSpace) }
        let area = TPMIndexArea.counter(at: free, policy: policy)
        let parameters = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            // The empty password.
            try parameters.add(sized: [])
            try parameters.add(sized: area.encoded())
            return parameters.bytes
        }
        _ = try inSession(.hmac, of: root) { (client, session) throws(TPMError) in
            try client.send(.nvDefineSpace, [TPMEntity(.owner)], parameters, in: &session).response
        }
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

    private func entity(_ area: TPMIndexArea) throws(TPMError) -> TPMEntity {
        TPMEntity(area.handle, name: try failing { () throws(Failure) in try area.name() })
    }

    /// Returns the handles of Latchkey's range that an index has (`TPM2_GetCapability` of `TPM_CAP_HANDLES`).
    private mutating func usedCounterHandles() throws(TPMError) -> [TPMHandle] {
        var used: [TPMHandle] = []
        var next = TPMCounterIndex.handles.lowerBound
        while true {
            var parameters = TPMWriter()
            parameters.add(UInt32(1))
            parameters.add(next)
            parameters.add(UInt32(TPMCounterIndex.handles.count))
            let response = try send(.getCapability, [], parameters.bytes)
            let (found, hasMore) = try failing { () throws(Failure) in
                var reader = TPMReader(response.parameters)
                let hasMore = try reader.uint8() != 0
                try reader.expect(UInt32(1))
                let count = try reader.uint32()
                guard count <= 1024 else { throw TPMReader.malformed }
                var found: [UInt32] = []
                for _ in 0..<count { found.append(try reader.uint32()) }
                try reader.checkEnd()
                return (found, hasMore)
            }
            used += found.filter(TPMCounterIndex.handles.contains).map { TPMHandle($0) }
            // A TPM may return fewer handles at once than were asked for.
            guard hasMore, let last = found.last, last >= next, TPMCounterIndex.handles.contains(last + 1) else {
                return used
            }
            next = last + 1
        }
    }

    /// Returns the public area of an index (`TPM2_NV_ReadPublic`); nil for one of a form that Latchkey does not use.
    private mutating func readIndex(_ handle: TPMHandle) throws(TPMError) -> TPMIndexArea? {
        let response = try send(.nvReadPublic, [TPMEntity(handle)])
        let encoded = try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let encoded = try reader.sized(limit: 256)
            _ = try reader.sized(limit: 128)
            try reader.checkEnd()
            return encoded
        }
        do throws(Failure) {
            return try TPMIndexArea(decoding: encoded)
        } catch {
            return nil
        }
    }
}
