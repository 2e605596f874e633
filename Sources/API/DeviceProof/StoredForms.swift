// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
import TPMProtocol

// Bytes as which `latchkey proof` stores an enrolment between its commands, and a relying party between its processes.
// Their form may change with each release.

extension EnrolledDevice {
    private static let version: UInt8 = 1

    /// The device as bytes: version, kind, maker and model, attestation key, name of the endorsement key.
    package func storedForm() throws(DeviceProofError) -> [UInt8] {
        let (number, maker, model) =
            switch kind {
            case .virtual: (0 as UInt8, "", "")
            case .hardware(let manufacturer, let model): (1, manufacturer, model)
            }
        return try computing { () throws(Failure) in
            var writer = TPMWriter()
            writer.add(Self.version)
            writer.add(number)
            for part in [Array(maker.utf8), Array(model.utf8), attestationKey, endorsementKeyName] {
                try writer.add(sized: part)
            }
            return writer.bytes
        }
    }

    /// Reads the output of `storedForm`; throws `malformed` for any other bytes.
    package init(storedForm bytes: [UInt8]) throws(DeviceProofError) {
        self = try reading(.malformed, "The file is not one of an enrolled device.") { () throws(Failure) in
            var reader = TPMReader(bytes)
            try reader.expect(Self.version)
            let number = try reader.uint8()
            let names = [try reader.sized(limit: 4096), try reader.sized(limit: 4096)].compactMap {
                String(validating: $0, as: UTF8.self)
            }
            let attestationKey = try reader.sized(limit: EndorsementKey.areaBytes)
            let name = try reader.sized(limit: 64)
            try reader.checkEnd()
            guard names.count == 2, number <= 1, number == 1 || names == ["", ""] else { throw TPMReader.malformed }
            return EnrolledDevice(
                attestationKey: attestationKey,
                kind: number == 1 ? .hardware(manufacturer: names[0], model: names[1]) : .virtual,
                endorsementKeyName: name)
        }
    }
}

extension PendingEnrollment {
    /// The enrolment as bytes: the secret, and then the device. With them the challenge can be answered without the TPM.
    package func storedForm() throws(DeviceProofError) -> SecretBytes {
        let rest = try device.storedForm()
        return SecretBytes(count: secret.count + rest.count) { target in
            secret.withBytes { target.copyMemory(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: target[secret.count...]).copyBytes(from: rest)
        }
    }

    /// Checks the last message of an enrolment that was stored; see `finish`.
    package static func finish(_ answer: [UInt8], storedForm: SecretBytes) throws(DeviceProofError) -> EnrolledDevice {
        guard storedForm.count > secretBytes else {
            throw DeviceProofError(.malformed, "The file is not one of an enrolment that has begun.")
        }
        let (secret, rest) = storedForm.withBytes { bytes in
            (
                SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<secretBytes])),
                Array(bytes[secretBytes...])
            )
        }
        return try check(answer, secret, EnrolledDevice(storedForm: rest))
    }
}

extension PendingEnrollment {
    /// Calls a function with the enrolment as bytes, so that another process of the relying party can finish it.
    ///
    /// Never prompts, and blocks only if the function does.
    ///
    /// They contain the secret of the challenge: a device that has them enrols without its TPM. Encrypt and authenticate
    /// them if they leave the relying party, together with the user to whom they belong and a time of expiry. Their form
    /// may change with each release.
    ///
    /// - Parameter body: the function. The pointer is valid until it returns, and the bytes are overwritten then.
    /// - Returns: what the function returns.
    /// - Throws: what the function throws; a `DeviceProofError` with the code `internalFailure` if memory allocation fails.
    public func withStoredForm<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        let form: SecretBytes = try storedForm()
        return try form.withBytes { (bytes: UnsafeRawBufferPointer) throws in try body(bytes) }
    }

    /// Check 2 for an enrolment that was stored with ``withStoredForm(_:)``; see ``finish(_:)``.
    ///
    /// Computes only: it neither blocks nor prompts.
    ///
    /// - Parameters:
    ///   - answer: the last message of the enrolment.
    ///   - storedForm: the bytes of the enrolment. They are copied to memory that is overwritten afterwards.
    /// - Returns: the device.
    /// - Throws: `malformed` or `wrongSecret` for an answer that is not accepted; `malformed` for other bytes.
    public static func finish(
        _ answer: [UInt8], storedForm: UnsafeRawBufferPointer
    ) throws(DeviceProofError) -> EnrolledDevice {
        try finish(answer, storedForm: SecretBytes(copying: storedForm))
    }
}
