// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyCrypto
import LatchkeyModel
import LatchkeySystem
import TPMProtocol

/// A root key as a store on a TPM has it in `root.key` (`docs/reference/store-format.md`, section "A root key on a
/// TPM").
struct SealedRootKey: Equatable, Sendable {
    /// The name of the storage root key below which the root key is sealed.
    let parent: [UInt8]
    let area: TPMSealedArea
    /// The private part, encrypted by the TPM.
    let privatePart: [UInt8]
    /// The root key, encrypted under the recovery code; empty if there is no code.
    let recovery: [UInt8]

    private static let mark = FileMark.sealedRootKey.bytes

    init(parent: [UInt8], area: TPMSealedArea, privatePart: [UInt8], recovery: [UInt8]) {
        (self.parent, self.area, self.privatePart, self.recovery) = (parent, area, privatePart, recovery)
    }

    /// Decodes a file. Throws `TPMReader.malformed` unless it has exactly this form.
    init(decoding bytes: [UInt8]) throws(Failure) {
        guard bytes.starts(with: Self.mark) else { throw TPMReader.malformed }
        var reader = TPMReader(bytes[Self.mark.count...])
        parent = try reader.sized(limit: 34)
        area = try TPMSealedArea(decoding: try reader.sized(limit: 128))
        privatePart = try reader.sized(limit: 1024)
        recovery = try reader.sized(limit: 64)
        try reader.checkEnd()
    }

    func encoded() throws(Failure) -> SecretBytes {
        var writer = TPMWriter()
        writer.add(Self.mark)
        for field in [parent, try area.encoded(), privatePart, recovery] { try writer.add(sized: field) }
        return SecretBytes(writer.bytes)
    }
}

extension SealedRootKey {
    /// Reads the file at `path`; nil if there is none.
    static func read(_ path: String) throws(Failure) -> SealedRootKey? {
        guard let file = try bytes(path) else { return nil }
        guard !file.withBytes({ $0.starts(with: FileMark.rootKey.bytes) }) else {
            throw Failure(
                .storeOfAnotherTier, "\(path) is a root key in clear: the store was made without a TPM.",
                hint: "Start the service with the tier that the store was made with.")
        }
        do throws(Failure) {
            // Nothing in it is secret in clear: the TPM and the recovery code encrypt the key.
            return try SealedRootKey(decoding: file.copyBytes())
        } catch {
            throw damaged(path, error)
        }
    }

    /// A file that is no sealed root key, or that the TPM that sealed it does not load.
    static func damaged(_ path: String, _ cause: any Error) -> Failure {
        Failure(
            .storeUnreadable, "\(path) is not a root key that a TPM has sealed, or it was changed.",
            hint: "Restore root.key from a backup.", cause: cause)
    }

    private static func bytes(_ path: String) throws(Failure) -> SecretBytes? {
        do throws(SystemError) {
            return try Files.read(path, limit: 4096)
        } catch {
            let cause = Failure(error, "\(path) cannot be read")
            // A file that is too large, or a link, was put there by another program; reading it again cannot succeed.
            if error.code == EFBIG || error.code == ELOOP { throw cause }
            throw Failure(
                .vaultUnavailable, cause.message, hint: "Make it a readable file of the store's owner.", cause: error)
        }
    }
}
