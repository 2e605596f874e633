// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

#if LATCHKEY_SDK  // where this module does not re-export it: CoreFoundationTypes.swift
package import Foundation
#else
import Foundation
#endif

/// What `SecureEnclaveKit` builds on: keys of the Secure Enclave that an app keeps itself.
extension SecKey {
    /// The form in which the daemon sealed a key that is not in the keychain; nil for any other key.
    package var detachedData: Data? {
        guard let enclave = backing as? EnclaveKeyBacking, case .detached(let sealed) = enclave.name else { return nil }
        return Data(sealed)
    }

    /// Takes up such a form again. Throws an error of `NSOSStatusErrorDomain`: -50 for bytes that this Secure Enclave did
    /// not make for this app. Asks the daemon, and no person.
    package static func detached(_ data: Data, context: AnyObject?) throws -> SecKey {
        var query: [String: Any] = [:]
        if let context { query[kSecUseAuthenticationContext as String] = context }
        do throws(Failure) {
            guard data.count <= Limits.detachedKeyBytes else {
                throw Failure(.invalidParameter, "The bytes are no key of the Secure Enclave.")
            }
            let access = try KeychainAccess(ParsedQuery(query as NSDictionary))
            let request = Request.describeEnclaveKey(.detached(Array(data)))
            guard case .enclaveKey(let key) = try access.client().call(request) else {
                throw Failure(.internalFailure, "The daemon's answer is of another kind.")
            }
            return try SecKey(key, access)
        } catch {
            throw error.cfError
        }
    }

    /// Whether there is a Secure Enclave for the calling app. Asks the daemon, and no person; false without one.
    package static var hasEnclave: Bool {
        guard let client = try? AppIdentity.client(), case .status(let report) = try? client.call(.status) else {
            return false
        }
        return report.enclave != nil
    }
}
