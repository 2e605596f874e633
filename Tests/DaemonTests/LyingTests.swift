// SPDX-License-Identifier: Apache-2.0

import TestPromises
import Testing

/// Code that forges replies within the app's process (abuse case 9): it can forge a Boolean, but not a secret.
@Suite struct LyingTests {
    @Test(.promise("attacker.forged-result", "abuse.9"))
    func preloadedLibraryThatForgesSuccessReadsNoProtectedItem_abuse09() throws {
        let daemon = try TestDaemon.withProtectedItem(["--service", ""])

        let honest = try daemon.run("latchkey-test-client", ["lie"])
        #expect(honest.output.contains("evaluated false"), "\(honest.output)")
        #expect(honest.output.contains("read -25308 nothing"), "\(honest.output)")

        let library = try daemon.library("forge")
        let forged = try daemon.run(
            "latchkey-test-client", ["lie"], environment: ["LD_PRELOAD=\(library)"])
        #expect(forged.output.contains("evaluated true"), "the replies are forged: \(forged.output)\(forged.errors)")
        #expect(!forged.output.contains("value"), "\(forged.output)")
        #expect(forged.output.contains("nothing"), "\(forged.output)")
    }
}
