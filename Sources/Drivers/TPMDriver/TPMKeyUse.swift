// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams
import TPMProtocol

// The commands that use keys; `TPMCreation.swift` has the one that creates them.

extension EnclaveOperation {
    var command: TPMCommand {
        switch self {
        case .sign: .sign
        case .agree: .sharedSecret
        }
    }

    /// The parameters of that command; throws `invalidParameter` for input that the TPM cannot take.
    func parameters() throws(Failure) -> [UInt8] {
        var parameters = TPMWriter()
        switch self {
        case .sign(let digest):
            try parameters.add(sized: digest.resized)
            parameters.add(.ecdsa)
            parameters.add(.sha256)
            // No ticket: the key is not restricted (`TPMT_TK_HASHCHECK`).
            parameters.add(UInt16(0x8024))
            parameters.add(TPMHandle.none)
            try parameters.add(sized: [])
        case .agree(let external):
            var coordinates = TPMWriter()
            // A malformed point is refused when the use is finished, like one that is not on the curve.
            if let point = TPMPoint(external) {
                try coordinates.add(sized: point.x)
                try coordinates.add(sized: point.y)
            }
            try parameters.add(sized: coordinates.bytes)
        }
        return parameters.bytes
    }
}

extension KeyApproval {
    /// Whether this is the kind of approval that a key needs. The TPM decides whether it is a valid one.
    fileprivate func fits(_ demand: PasscodeDemand?) -> Bool {
        let isSigned = signature.count == 64
        guard isSigned || signature.isEmpty else { return false }
        return switch demand?.part {
        case nil: isSigned && !isPasscodeProven
        case .alone?: !isSigned && isPasscodeProven
        case .either?: isSigned != isPasscodeProven
        case .both?: isSigned && isPasscodeProven
        }
    }
}

extension [UInt8] {
    /// The digest as 32 bytes with the same ECDSA signature: P-256 uses the first 32 bytes of a longer one, and a
    /// shorter one is a smaller number. The TPM takes a digest of the length of its hash only.
    fileprivate var resized: [UInt8] {
        count >= 32 ? Array(prefix(32)) : [UInt8](repeating: 0, count: 32 - count) + self
    }
}

extension TPMMemory {
    /// Carries out a begun use: the approval, the password if the key has one, and the command.
    mutating func carryOut(
        _ use: TPMEnclave.Use, _ approval: KeyApproval?, _ password: SecretBytes?, in session: inout TPMSession,
        _ client: inout TPMClient
    ) throws(TPMError) -> SecretBytes {
        if case .agree(let point) = use.operation, TPMPoint(point) == nil { throw Self.notOnCurve }
        guard let approval, approval.expirySeconds > 0, approval.fits(use.key.blob.binding.passcode) else {
            throw Self.refused("The approval of the key's use is missing.")
        }
        let needsPassword = use.key.blob.needsPassword
        guard !needsPassword || password != nil else { throw Self.refused("The password of the key is missing.") }
        do throws(TPMError) {
            if !approval.signature.isEmpty {
                let current = session
                try withAuthority(of: use.key, &client) { (authority, client) throws(TPMError) in
                    try client.approve(use.subject, approval, by: authority, in: current)
                }
            }
            if let choice = use.key.choice { _ = try client.send(.policyOR, [TPMEntity(session.handle)], choice) }
            // Last: `TPM2_PolicyOR` after it would not find the digest of a branch.
            if needsPassword {
                _ = try client.send(.policyAuthValue, [TPMEntity(session.handle)])
                session.password = password
            }
            let command = use.operation.command
            // The shared secret is encrypted on its way; a signature is not secret.
            let answer = try withKey(use.key, &client) { (key, client) throws(TPMError) in
                try client.send(
                    command, [key], use.subject.parameters, in: &session, encryptsResponse: command == .sharedSecret)
            }
            return try failing { () throws(Failure) in
                if let secret = answer.secret { return try Self.coordinate(of: secret) }
                return try Self.signature(answer.response.parameters)
            }
        } catch {
            switch error {
            case .refused(let code, _) where code.isGone: throw Self.gone(error)
            case .refused(let code, _) where code.kind == .pointNotOnCurve: throw Self.notOnCurve
            // Without the approval or the passcode that is said to be proven, the session is in no branch of the policy.
            case .refused(_, .policyOR): throw Self.notAccepted(error)
            case .refused(let code, _) where Self.refusals.contains(code.kind): throw Self.notAccepted(error)
            default: throw error
            }
        }
    }

    /// An approval is for one session, so that the use has to begin again.
    private static func gone(_ cause: TPMError) -> TPMError {
        .failed(
            Failure(
                .timedOut, "Another program removed the key or its session from the TPM while it was used.",
                hint: "Try again.", cause: cause))
    }

    private static let notOnCurve = TPMError.failed(
        Failure(.invalidParameter, "The public key is not a point on P-256."))

    /// How a TPM refuses a use whose approval, passcode or password is not right.
    private static let refusals: Set<TPMResponseCode> = [
        .signatureWrong, .nonce, .expired, .policyFailed, .badAuthorization, .authorizationFailed,
    ]

    private static func notAccepted(_ cause: TPMError) -> TPMError {
        refused("The TPM did not accept the approval, the passcode or the password of the key.", cause)
    }

    private static func refused(_ message: Phrase, _ cause: TPMError? = nil) -> TPMError {
        .failed(Failure(.itemAuthenticationFailed, message, cause: cause))
    }

    /// r and s of `TPMT_SIGNATURE`, 32 bytes each.
    private static func signature(_ parameters: [UInt8]) throws(Failure) -> SecretBytes {
        var reader = TPMReader(parameters)
        let signature = try reader.rawSignature()
        try reader.checkEnd()
        return SecretBytes(signature)
    }

    /// The X coordinate of `TPMS_ECC_POINT`, 32 bytes.
    private static func coordinate(of point: SecretBytes) throws(Failure) -> SecretBytes {
        let secret: SecretBytes? = point.withBytes { bytes in
            guard bytes.count >= 2 else { return nil }
            let count = Int(bytes[0]) << 8 | Int(bytes[1])
            guard count <= 32, bytes.count >= 2 + count else { return nil }
            return SecretBytes(count: 32) { target in
                for index in 0..<32 { target[index] = 0 }
                UnsafeMutableRawBufferPointer(rebasing: target[(32 - count)...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[2..<2 + count]))
            }
        }
        guard let secret else { throw TPMReader.malformed }
        return secret
    }
}

extension TPMClient {
    /// Sends the approval (`TPM2_PolicySigned`).
    fileprivate mutating func approve(
        _ subject: ApprovalSubject, _ approval: KeyApproval, by authority: TPMEntity, in session: TPMSession
    ) throws(TPMError) {
        let parameters = try failing { () throws(Failure) in
            var parameters = TPMWriter()
            try parameters.add(sized: session.nonce)
            try parameters.add(
                sized: CommandDigest.command(
                    number: subject.command, names: [subject.keyName], parameters: subject.parameters))
            try parameters.add(sized: subject.policyReference)
            parameters.add(approval.expirySeconds)
            try parameters.add(signature: approval.signature)
            return parameters.bytes
        }
        _ = try send(.policySigned, [authority, TPMEntity(session.handle)], parameters)
    }
}
