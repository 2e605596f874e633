// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SSHAgent

@Suite struct HostCandidateTests {
    @Test func namesOfACommandLineAreCandidates() {
        #expect(HostCandidates.names(in: ["ssh", "ada@a.example", "uptime"]) == ["a.example", "uptime"])
        #expect(HostCandidates.names(in: ["ssh", "-p", "2222", "a.example"]).contains("[a.example]:2222"))
        #expect(HostCandidates.names(in: ["ssh", "-p2222", "a.example"]).contains("[a.example]:2222"))
        #expect(HostCandidates.names(in: ["ssh", "ssh://ada@a.example:22/x"]) == ["[a.example]:22", "a.example"])
        #expect(HostCandidates.names(in: ["ssh", "@", "", ":", "ssh://", "-p"]).isEmpty)
        #expect(HostCandidates.names(in: []).isEmpty)
    }
}
