// SPDX-License-Identifier: Apache-2.0

import CPAM
import LatchkeyWire
import Testing

/// The numbers of the protocol are those of the installed libpam.
@Suite struct PAMReturnValueTests {
    @Test(arguments: [
        (PAMReturnValue.success, PAM_SUCCESS), (.permissionDenied, PAM_PERM_DENIED),
        (.authenticationError, PAM_AUTH_ERR), (.informationUnavailable, PAM_AUTHINFO_UNAVAIL),
        (.userUnknown, PAM_USER_UNKNOWN), (.triesExceeded, PAM_MAXTRIES),
        (.newPasswordRequired, PAM_NEW_AUTHTOK_REQD), (.accountExpired, PAM_ACCT_EXPIRED),
        (.passwordExpired, PAM_AUTHTOK_EXPIRED),
    ])
    func everyNumberIsTheOneOfTheHeader(value: PAMReturnValue, number: Int32) {
        #expect(value.rawValue == UInt64(number))
    }

    @Test func theLimitsAreThoseOfTheHeader() {
        #expect(PAMMessage.textBytes == Int(PAM_MAX_MSG_SIZE))
        #expect(PAMMessage.answerBytes == Int(PAM_MAX_RESP_SIZE) - 1)
    }
}
