// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import LatchkeyKit
internal import LocalAuthentication

/// The prompt of one call, whose words this module chooses.
struct SigningPrompt: Sendable {
    private let prompt: KeychainPrompt
    private let isOurs: Bool

    /// - Parameters:
    ///   - context: the context of the caller; nil for one of this call.
    ///   - reason: what the user is asked for. The name of the relying party is first, so that it is never the part that
    ///     a small prompt cuts off.
    init(_ context: LAContext?, reason: String) {
        isOurs = context == nil
        let context = context ?? LAContext()
        context.localizedReason = reason
        prompt = .context(context)
    }

    /// Signs, and suspends until the user has answered. Several signatures of one call prompt once.
    func sign(_ message: [UInt8], with key: SlottedKey) async throws(SignInError) -> Data {
        let data = Data(message)
        // The cancellation handler has no typed throws.
        let result: Result<Data, KeychainError> = await withTaskCancellationHandler {
            do throws(KeychainError) {
                return .success(try await key.pair.sign(data, prompt: prompt))
            } catch {
                return .failure(error)
            }
        } onCancel: {
            if isOurs { prompt.invalidate() }
        }
        do throws(KeychainError) {
            return try result.get()
        } catch {
            guard !Task.isCancelled else { throw SignInError(.cancelled, underlying: error) }
            throw await KeychainStore.inBackground { SignInError(signing: error, with: key) }
        }
    }

    /// Ends the proofs of a context of this call, so that nothing else can use them.
    func end() { if isOurs { prompt.invalidate() } }
}
