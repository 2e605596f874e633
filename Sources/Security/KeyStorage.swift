// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyKeys
import LatchkeyModel

/// Stores a key in the keychain, under the attributes that the app gave.
func storePermanently(_ key: SecKey, attributes: NSDictionary) throws(Failure) {
    throw Failure(.unimplemented, "This version of Latchkey keeps no keys in the keychain.")
}

/// Makes a P-256 key whose private half stays in the token, and stores it if that was decided.
///
/// - Parameters:
///   - privateAttributes: what the app said of the private half; `kSecAttrIsPermanent` is there, by default true.
///   - publicAttributes: what it said of the public half.
func createInToken(privateAttributes: NSDictionary, publicAttributes: NSDictionary) throws(Failure) -> SecKey {
    throw Failure(.unimplemented, "This version of Latchkey has no Secure Enclave.")
}
