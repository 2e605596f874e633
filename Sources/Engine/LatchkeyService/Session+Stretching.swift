// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel
import LatchkeySeams

// Application passwords are stretched on the stretch queue, neither on the loop thread nor on the thread that writes.

extension Session {
    /// Maximum number of times that a request stretches its password again because the item was replaced meanwhile.
    static let stretchRounds = 8

    /// The client under which this session's key stretching is queued.
    var stretchClient: StretchClient {
        let caller = caller
        return .program(caller.program.isEmpty ? caller.label : caller.program)
    }

    /// Returns the password state of a new request, without stretched keys.
    func appPassword(_ authentication: Authentication, _ keychain: Keychain) throws(Failure) -> AppPassword {
        try keychain.appPassword(isGiven: authentication.applicationPassword != nil)
    }

    /// Stretches the request's password with each of `parameters`, one turn of the queue each, then calls `next` on
    /// the thread of the last turn; directly if `parameters` is empty. A failure of `next` ends the request.
    func stretch(
        _ authentication: Authentication, _ parameters: [StretchParameters], _ password: AppPassword,
        _ answer: @escaping Answer, next: @escaping @Sendable (AppPassword) throws(Failure) -> Void
    ) throws(Failure) {
        guard let first = parameters.first else { return try next(password) }
        guard let plain = authentication.applicationPassword else {
            throw Failure(.internalFailure, "There is no password to stretch.")
        }
        try service.parts.stretching.submit(stretchClient) { [self] in
            // If the connection ended meanwhile, no reply is needed.
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

    /// Throws `timedOut` if an item was replaced each time after its password had been stretched.
    func checkStretchRounds(_ round: Int) throws(Failure) {
        guard round <= Self.stretchRounds else {
            throw Failure(
                .timedOut, "The item was changed each time its password had been checked.", hint: "Try again.")
        }
    }
}
