// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams

// An app's own passwords are stretched on the stretching queue, neither on the loop thread nor on the one that writes.

extension Session {
    /// How often one request stretches anew because the item was replaced meanwhile.
    static let stretchRounds = 8

    /// The client that the stretches of this session count for.
    var stretchClient: StretchClient {
        let caller = caller
        return .program(caller.program.isEmpty ? caller.label : caller.program)
    }

    /// What a request begins with: nothing of its password is stretched yet.
    func appPassword(_ authentication: Authentication, _ keychain: Keychain) throws(Failure) -> AppPassword {
        try keychain.appPassword(isGiven: authentication.applicationPassword != nil)
    }

    /// Stretches the request's password in each of these ways, a turn of the queue each, then goes on with the result on
    /// the thread of the last turn; at once when there is nothing to stretch. What `next` throws ends the request.
    func stretch(
        _ authentication: Authentication, _ parameters: [StretchParameters], _ password: AppPassword,
        _ answer: @escaping Answer, next: @escaping @Sendable (AppPassword) throws(Failure) -> Void
    ) throws(Failure) {
        guard let first = parameters.first else { return try next(password) }
        guard let plain = authentication.applicationPassword else {
            throw Failure(.internalFailure, "There is no password to stretch.")
        }
        try service.parts.stretching.submit(stretchClient) { [self] in
            // The connection ended while this waited: the answer would go nowhere.
            guard !isClosed else { return }
            do throws(Failure) {
                var password = password
                password.add(try StretchedPassword(plain, first))
                try stretch(authentication, Array(parameters.dropFirst()), password, answer, next: next)
            } catch {
                end(error, answer)
            }
        }
    }

    /// Throws when an item was replaced each time its password had been stretched.
    func checkStretchRounds(_ round: Int) throws(Failure) {
        guard round <= Self.stretchRounds else {
            throw Failure(
                .timedOut, "The item was changed each time its password had been checked.", hint: "Try again.")
        }
    }
}
