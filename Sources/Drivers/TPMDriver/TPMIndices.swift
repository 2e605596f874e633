// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

// Indices of the non-volatile memory: which exist, their definition and their removal.

extension TPMClient {
    func entity(_ area: TPMIndexArea) throws(TPMError) -> TPMEntity {
        TPMEntity(area.handle, name: try failing { () throws(Failure) in try area.name() })
    }

    /// Returns the handles of a range that an index has (`TPM2_GetCapability` of `TPM_CAP_HANDLES`).
    mutating func usedIndices(in range: Range<UInt32>) throws(TPMError) -> [TPMHandle] {
        var used: [TPMHandle] = []
        var next = range.lowerBound
        while true {
            var parameters = TPMWriter()
            parameters.add(UInt32(1))
            parameters.add(next)
            parameters.add(UInt32(range.count))
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
            used += found.filter(range.contains).map { TPMHandle($0) }
            // A TPM may return fewer handles at once than were asked for.
            guard hasMore, let last = found.last, last >= next, range.contains(last + 1) else { return used }
            next = last + 1
        }
    }

    /// Returns the first handle of a range that no index has. Throws `TPM_RC_NV_SPACE` if there is none.
    mutating func freeIndex(in range: Range<UInt32>) throws(TPMError) -> TPMHandle {
        let used = try usedIndices(in: range)
        let free = range.lazy.map { TPMHandle($0) }.first { !used.contains($0) }
        guard let free else { throw .refused(.indexMemory, .nvDefineSpace) }
        return free
    }

    /// Returns the public area of an index (`TPM2_NV_ReadPublic`); nil for one of a form that Latchkey does not use.
    mutating func readIndex(_ handle: TPMHandle) throws(TPMError) -> TPMIndexArea? {
        let response = try send(.nvReadPublic, [TPMEntity(handle)])
        let encoded = try failing { () throws(Failure) in
            var reader = TPMReader(response.parameters)
            let encoded = try reader.sized(limit: 256)
            _ = try reader.sized(limit: 128)
            try reader.checkEnd()
            return encoded
        }
        do throws(Failure) { return try TPMIndexArea(decoding: encoded) } catch { return nil }
    }

    /// Creates an index with the empty password (`TPM2_NV_DefineSpace`).
    mutating func define(_ area: TPMIndexArea, in root: StorageRoot) throws(TPMError) {
        let parameters = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            try parameters.add(sized: [])
            try parameters.add(sized: area.encoded())
            return parameters.bytes
        }
        _ = try sendAsOwner(.nvDefineSpace, [], parameters, salted: root)
    }

    /// Removes an index, before or after its first write (`TPM2_NV_UndefineSpace`). Does nothing if it does not exist, or
    /// if another index has its handle.
    mutating func undefine(_ area: TPMIndexArea, in root: StorageRoot) throws(TPMError) {
        let found: TPMIndexArea?
        do throws(TPMError) {
            found = try readIndex(area.handle)
        } catch {
            guard error.kind == .handleGone || error.kind == .value else { throw error }
            return
        }
        guard let found, found.isSame(as: area) else { return }
        _ = try sendAsOwner(.nvUndefineSpace, [entity(found)], [], salted: root)
    }
}
