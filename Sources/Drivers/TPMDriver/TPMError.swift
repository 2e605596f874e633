// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import TPMProtocol

/// Why a command of a TPM has no result.
package enum TPMError: Error {
    /// The TPM refused the command and changed nothing.
    case refused(TPMResponseCode, TPMCommand)
    /// The command could not be built or sent, or its response could not be read or is not authentic.
    case failed(Failure)

    /// The code of a refusal, without the handle, session or parameter that it names; nil for other errors.
    package var kind: TPMResponseCode? { if case .refused(let code, _) = self { code.kind } else { nil } }

    /// The failure for callers that do not distinguish codes.
    package var failure: Failure {
        switch self {
        case .failed(let failure): failure
        case .refused(let code, let command):
            Failure(
                .enclaveUnavailable, "The TPM refused the command \(command) with code \(code).",
                hint: Self.hint(code.kind))
        }
    }

    private static func hint(_ kind: TPMResponseCode) -> Phrase {
        switch kind {
        case .badAuthorization, .authorizationFailed:
            "The endorsement hierarchy of the TPM has a password, which Latchkey does not have."
        case .objectMemory, .sessionMemory, .contextGap:
            "Other programs hold the memory of the TPM. End them, or restart the machine."
        case .lockout: "The TPM is locked after wrong passwords of another program. Try again later."
        default: "See: latchkey doctor"
        }
    }
}

/// Runs a body that throws `Failure`, as part of one that throws `TPMError`.
func failing<R>(_ body: () throws(Failure) -> R) throws(TPMError) -> R {
    do throws(Failure) { return try body() } catch { throw .failed(error) }
}
