// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import SSHAgent

/// Compares the limits in `docs/use/ssh.md` with the code.
@Suite struct LimitsPageTests {
    @Test func pageHasTheLimitsOfTheCode() throws {
        let page = try String(contentsOf: Repository.document("use", "ssh.md"), encoding: .utf8)
        let limits = [
            SSHAgentLimits.messageBytes, SSHAgentLimits.bindings, SSHAgentLimits.knownHostsBytes,
            SSHAgentLimits.passphraseBytes, Int(SSHAgentLimits.idleSeconds), Int(SSHAgentLimits.messageSeconds),
        ].map { "| \(Self.grouped($0)) |" }
        for limit in limits { #expect(page.contains(limit), "\(limit)") }
        let connections = [
            SSHAgentLimits.connections, SSHAgentLimits.connectionsOfProgram, SSHAgentLimits.connectionsOfProcess,
        ]
        #expect(page.contains("| " + connections.map(String.init).joined(separator: "; ") + " |"))
        #expect(page.contains("(at most \(SSHAgentLimits.reuseSeconds))"))
        #expect(page.contains("up to \(SSHAgentLimits.unlockSeconds)\nseconds"))
    }

    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number).reversed())
        let groups = stride(from: 0, to: digits.count, by: 3).map { digits[$0..<min($0 + 3, digits.count)] }
        return String(groups.joined(separator: ",").reversed())
    }
}
