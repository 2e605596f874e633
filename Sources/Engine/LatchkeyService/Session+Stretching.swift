// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams

// Passwords are stretched on the stretch queue, neither on the loop thread nor on the thread that writes.

extension Session {
    /// Maximum number of times that a request stretches its password again because the item was replaced meanwhile.
    static let stretchRounds = 8

    /// Returns the password state of a new request, without stretched keys.
    func appPassword(_ authentication: Authentication, _ keychain: Keychain) throws(Failure) -> AppPassword {
        try keychain.appPassword(isGiven: authentication.applicationPassword != nil)
    }

    /// Returns the password with the keys that are stretched with each of `parameters`, one turn of the queue each.
    func stretched(
        _ password: AppPassword, _ parameters: [StretchParameters], _ authentication: Authentication
    ) async throws(Failure) -> AppPassword {
        var password = password
        for each in parameters {
            guard let plain = authentication.applicationPassword else {
                throw Failure(.internalFailure, "There is no password to stretch.")
            }
            password.add(try await stretch { () throws(Failure) in try StretchedPassword(plain, each) })
        }
        return password
    }

    /// Runs `work` on the stretch queue in the turn of this session's program.
    func stretch<Value: Sendable>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let client = StretchClient.program(caller.program.isEmpty ? caller.label : caller.program)
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            do throws(Failure) {
                try service.parts.stretching.submit(client) { [self] in
                    continuation.resume(
                        returning: Result { () throws(Failure) in
                            guard !isClosed else { throw Refusal.connectionEnded }
                            return try work()
                        })
                }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// Throws `timedOut` if an item was replaced each time after its password had been stretched.
    func checkStretchRounds(_ round: Int) throws(Failure) {
        guard round <= Self.stretchRounds else {
            throw Failure(
                .timedOut, "The item was changed each time its password had been checked.", hint: "Try again.")
        }
    }
}
