// SPDX-License-Identifier: Apache-2.0

import LatchkeyCrypto
package import LatchkeyModel

/// Names of entities (Part 1, section 16).
package enum TPMName {
    /// The name of an object or NV index with that public area.
    package static func of(_ publicArea: [UInt8]) throws(Failure) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(.sha256)
        writer.add(try DigestAlgorithm.sha256.hash(publicArea))
        return writer.bytes
    }

    /// Whether these bytes have the form of the name of an object: the number of SHA-256 and a digest.
    package static func hasValidForm(_ name: [UInt8]) -> Bool {
        name.count == 2 + TPMPublicArea.digestBytes && name.starts(with: [0, UInt8(TPMAlgorithm.sha256.rawValue)])
    }

    /// The name of a hierarchy or session: its handle.
    package static func of(_ handle: TPMHandle) -> [UInt8] {
        var writer = TPMWriter()
        writer.add(handle)
        return writer.bytes
    }
}
