// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

#if LATCHKEY_SDK  // where this module does not re-export it: CoreFoundationTypes.swift
package import Foundation
#else
import Foundation
#endif

/// Support for `SecureEnclaveKit`: keys of the Secure Enclave that the app stores itself, in sealed form.
extension SecKey {
    /// The sealed form of a Secure Enclave key that is not in the keychain; nil for any other key.
    package var detachedData: Data? {
        guard let enclave = backing as? EnclaveKeyBacking, case .detached(let sealed) = enclave.name else { return nil }
        return Data(sealed)
    }

    /// Restores a key from its `detachedData`.
    ///
    /// Throws an error of `NSOSStatusErrorDomain`: -50 for bytes that this Secure Enclave did not seal for this app.
    /// Blocks while the daemon answers; never prompts.
    package static func detached(_ data: Data, context: AnyObject?) throws -> SecKey {
        var query: [String: Any] = [:]
        if let context { query[kSecUseAuthenticationContext as String] = context }
        do throws(Failure) {
            guard data.count <= Limits.detachedKeyBytes else {
                throw Failure(.invalidParameter, "The data is not a key of the Secure Enclave.")
            }
            let access = try KeychainAccess(ParsedQuery(query as NSDictionary))
            let request = Request.DescribeEnclaveKey(.detached(Array(data)))
            return try SecKey(access.client().call(request), access)
        } catch {
            throw error.cfError
        }
    }

    /// Whether a Secure Enclave is available to this app; false when the daemon cannot be reached. Blocks while the
    /// daemon answers; never prompts.
    package static var hasEnclave: Bool {
        guard let report = try? AppIdentity.client().call(Request.Status()) else { return false }
        return report.enclave != nil
    }
}
