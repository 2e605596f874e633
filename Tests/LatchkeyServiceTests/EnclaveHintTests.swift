// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import Testing

@testable import LatchkeyService

/// Without an enclave the hint names the file that is read in this tier, and what has to read it again.
@Suite struct EnclaveHintTests {
    private func hint(_ tier: Tier) -> String {
        Session.enclaveUnavailable(tier, storePath: "/home/a/store").hint.description
    }

    @Test(arguments: [Tier.user, .simulated]) func aDaemonOfTheUserReadsTheFileInTheStore(_ tier: Tier) {
        #expect(hint(tier).contains("/home/a/store/latchkeyd.conf"))
        #expect(hint(tier).hasSuffix("latchkey restart"))
    }

    @Test(arguments: [Tier.file, .tpm]) func theServiceOfASystemReadsTheFileOfRoot(_ tier: Tier) {
        #expect(hint(tier).contains("/etc/latchkey/latchkeyd.conf"))
        #expect(hint(tier).contains("systemctl restart latchkeyd"))
        // The folder of the user's store has no configuration, and only root ends the service.
        #expect(!hint(tier).contains("/home/a/store") && !hint(tier).contains("latchkey restart"))
    }
}
