// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel
package import LatchkeyPolicy
import LatchkeySeams

// What happens to the store as a whole. The trail tells of it in the same transaction: neither is there without the
// other, whatever fails.

extension Keychain {
    /// Makes a first passcode.
    package func setPasscode(_ passcode: SecretBytes, caller: Caller) throws(Failure) {
        try settling { () throws(Failure) in
            try tree.setPasscode(passcode) { (store) throws(Failure) in
                try audit.append(.passcodeSet, caller: caller, to: store)
            }
        }
    }

    /// Puts another passcode before the same key; `proof` is of the old one.
    package func changePasscode(
        to passcode: SecretBytes, caller: Caller, proof: Authorisation
    ) throws(Failure) {
        try checkPasscode(proof, of: caller)
        try settling { () throws(Failure) in
            try tree.changePasscode(to: passcode) { (store) throws(Failure) in
                try audit.append(.passcodeChanged, caller: caller, to: store)
            }
        }
    }

    /// Takes up what the sensor has enrolled now.
    /// - Returns: whether it is another set, so that items bound to the old one are dead.
    package func follow(_ set: EnrolmentSet?) throws(Failure) -> Bool {
        try settling { () throws(Failure) in
            try enrolments.follow(set) { (store) throws(Failure) in
                try audit.append(.enrolmentChanged, caller: nil, to: store)
            }
        }
    }

    /// Takes a database that is older than its keys as it is: the passcode was seen.
    package func acceptRollback() throws(Failure) {
        try settling { () throws(Failure) in
            try enrolments.acceptAfterPasscode { (store) throws(Failure) in
                try audit.append(.rollbackAccepted, caller: nil, to: store)
            }
        }
    }
}
