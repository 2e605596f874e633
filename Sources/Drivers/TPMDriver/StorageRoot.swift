// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

/// The storage root key: the TPM encrypts all other keys with it. It is created from a seed in the TPM, so that the same
/// template gives the same key again as long as the TPM is not cleared.
struct StorageRoot: Sendable {
    let entity: TPMEntity
    /// The public key, for which the salts of sessions are encrypted.
    let point: TPMPoint

    /// Where the TCG provisions the key ("TCG TPM v2.0 Provisioning Guidance", section 7.5.1). Other programs use it
    /// there, too.
    static let sharedHandle = TPMHandle(0x8100_0001)
    /// Where Latchkey stores the key if another one is at the shared handle.
    static let ownHandles = (0..<8).map { TPMHandle(0x8100_4c4b + $0) }
}

extension TPMClient {
    /// Finds the storage root key, or creates and stores it.
    ///
    /// - Parameter expected: the name of the key that is needed; nil for any with our template.
    /// - Throws: `tpmReplaced` if this TPM makes another key, which means that it was cleared or is another one.
    mutating func storageRoot(named expected: [UInt8]?) throws(TPMError) -> StorageRoot {
        for handle in [StorageRoot.sharedHandle] + StorageRoot.ownHandles {
            do throws(TPMError) {
                guard let (area, name) = try readPublic(handle), let point = area.point,
                    area.hasForm(of: .storageRoot), expected == nil || name == expected
                else { continue }
                return StorageRoot(entity: TPMEntity(handle, name: name), point: point)
            } catch {
                switch error {
                case .refused(let code, _) where code.kind == .handleGone || code.kind == .value:
                    return try makeStorageRoot(at: handle, named: expected)
                default: throw error
                }
            }
        }
        throw .failed(
            Failure(
                .enclaveUnavailable, "No handle of the TPM is free for the storage root key.",
                hint: "Remove a key that nothing uses: tpm2_getcap handles-persistent"))
    }

    /// Creates the key and stores it at a free handle.
    private mutating func makeStorageRoot(
        at handle: TPMHandle, named expected: [UInt8]?
    ) throws(TPMError) -> StorageRoot {
        let template = try failing { () throws(Failure) in try TPMPublicArea.storageRoot.encoded() }
        let parameters = try TPMCreation.parameters(template)
        let made = try sendAsOwner(.createPrimary, [], parameters, salted: nil)
        guard let transient = made.handle else { throw .failed(TPMReader.malformed) }
        guard let (area, name) = try readPublic(transient), let point = area.point, area.hasForm(of: .storageRoot)
        else {
            throw .failed(TPMReader.malformed)
        }
        guard expected == nil || name == expected else {
            try flush(transient)
            throw .failed(Self.replaced)
        }
        var target = TPMWriter()
        target.add(handle)
        do throws(TPMError) {
            let entity = TPMEntity(transient, name: name)
            // Without a password nothing is worth a session.
            let salt = ownerPassword.map { _ in StorageRoot(entity: entity, point: point) }
            _ = try sendAsOwner(.evictControl, [entity], target.bytes, salted: salt)
        } catch {
            try flush(transient)
            throw error
        }
        try flush(transient)
        return StorageRoot(entity: TPMEntity(handle, name: name), point: point)
    }

    static let replaced = Failure(
        .tpmReplaced, "The key was made by another TPM, or this TPM was cleared since then.",
        hint: "The key is lost if the TPM was cleared. Delete it, and register a new one where the old one was used.")
}
