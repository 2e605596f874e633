// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import TPMProtocol

// Commands that the owner hierarchy authorizes. Its password is empty unless somebody has set one, which root gives the
// services in a file then. It is never sent, but a part of the key of an HMAC.

extension TPMClient {
    /// Sends a command whose first handle is the owner hierarchy.
    ///
    /// - Parameter root: the key that salts the session; nil if none is stored yet. A key that the TPM makes for this
    ///   session is in its place then, so that what passes the bus does not allow guesses of a short password.
    mutating func sendAsOwner(
        _ command: TPMCommand, _ others: [TPMEntity], _ parameters: [UInt8], salted root: StorageRoot?
    ) throws(TPMError) -> TPMResponse {
        let entities = [TPMEntity(.owner)] + others
        do throws(TPMError) {
            if let root {
                return try inSession(.hmac, of: root) { (client, session) throws(TPMError) in
                    session.password = client.ownerPassword
                    return try client.send(command, entities, parameters, in: &session).response
                }
            }
            guard ownerPassword != nil else { return try send(command, entities, parameters, emptyPassword: true) }
            var session = try startSessionSaltedOnce()
            session.password = ownerPassword
            let result = Result { () throws(TPMError) in
                try send(command, entities, parameters, in: &session).response
            }
            // A session that cannot be removed now is removed with the connection.
            try? flush(session.handle)
            return try result.get()
        } catch {
            guard error.kind == .badAuthorization || error.kind == .authorizationFailed else { throw error }
            throw .failed(ownerRefusal(error))
        }
    }

    /// Checks the password of the owner hierarchy with `TPM2_ClockRateAdjust` by `TPM_CLOCK_NO_CHANGE`, which changes nothing.
    /// A wrong password of a hierarchy is no try that the lockout of the TPM counts (Part 1, section 19.8).
    mutating func checkOwner() throws(TPMError) { _ = try sendAsOwner(.clockRateAdjust, [], [0], salted: nil) }

    /// Starts a session with a salt for a key of the hierarchy without an owner (`TPM_RH_NULL`), whose password is always
    /// empty. The key is removed at once, because the TPM needs it for the start of the session only.
    private mutating func startSessionSaltedOnce() throws(TPMError) -> TPMSession {
        let template = try failing { () throws(Failure) in try TPMPublicArea.storageRoot.encoded() }
        let parameters = try TPMCreation.parameters(template)
        let made = try send(.createPrimary, [TPMEntity(.none)], parameters, emptyPassword: true)
        guard let handle = made.handle else { throw .failed(TPMReader.malformed) }
        let session = Result { () throws(TPMError) in
            guard let (area, name) = try readPublic(handle), let point = area.point, area.hasForm(of: .storageRoot)
            else {
                throw .failed(TPMReader.malformed)
            }
            return try startSession(.hmac, salted: StorageRoot(entity: TPMEntity(handle, name: name), point: point))
        }
        try flush(handle)
        return try session.get()
    }

    private func ownerRefusal(_ cause: TPMError) -> Failure {
        ownerPassword == nil
            ? Failure(
                .enclaveUnavailable,
                "The owner hierarchy of the TPM has a password, which Latchkey does not have, so that it can make "
                    + "neither a counter nor the storage root key.",
                hint: "Root writes the password into a file for the services, and names it in "
                    + "/etc/latchkey/latchkeyd.conf: owner_auth_file = PATH", cause: cause)
            : Failure(
                .enclaveUnavailable,
                "The password in the owner_auth_file is not the one of the owner hierarchy of the TPM.",
                hint: "Root corrects the file, and restarts both services: systemctl restart latchkey-authd latchkeyd",
                cause: cause)
    }
}
