// SPDX-License-Identifier: Apache-2.0

/// The return values of libpam that have a meaning here, with the numbers of Linux-PAM (`_pam_types.h`); every other one
/// is a failure. A test of the package System compares them with the header.
package enum PAMReturnValue: UInt64, CaseIterable, Sendable {
    case success = 0
    case permissionDenied = 6
    case authenticationError = 7
    case informationUnavailable = 9
    case userUnknown = 10
    case triesExceeded = 11
    case newPasswordRequired = 12
    case accountExpired = 13
    case passwordExpired = 27
}
