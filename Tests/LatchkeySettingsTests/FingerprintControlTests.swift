// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem
import TestSupport
import Testing

@testable import LatchkeyDesktop

/// The control with a script in place of `latchkey-fingerprint`.
@Suite struct FingerprintControlTests {
    private let folder: TemporaryFolder
    private let control: FingerprintControl

    init() throws {
        folder = try TemporaryFolder()
        // The arguments are kept one in a line: a name may have spaces.
        let script =
            """
            #!/bin/sh
            printf '%s\\n' "$@" >\(folder.path)/arguments
            case $1 in
            list) printf 'reader\\tA reader\\tpress\\t/0\\nfinger\\tleft-thumb\\nreader\\tA reader\\tswipe\\t/1\\n' ;;
            enroll) printf 'scan\\t0\\t5\\tbegin\\nscan\\t1\\t5\\tpassed\\n' ;;
            esac
            """
        try ScriptFile.write(script, to: folder.path + "/program")
        control = FingerprintControl(testOnlyProgram: folder.path + "/program")
    }

    private func arguments() throws -> [String] {
        let bytes = try #require(try Files.read(folder.path + "/arguments", limit: 4096)).copyBytes()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func readersAreListedWithTheirFingers() throws {
        let readers = try control.readers()
        #expect(readers.map(\.name) == ["A reader", "A reader"] && readers.map(\.isSwiped) == [false, true])
        #expect(readers.map(\.fingers) == [["left-thumb"], []])
    }

    @Test func theProgramGetsTheNameAndThePathOfTheReader() throws {
        let reader = try #require(try control.readers().last)
        try control.delete("left-thumb", on: reader)
        #expect(
            try arguments() == ["delete", "left-thumb", "--yes", "--plain", "--reader", "A reader", "--path", "/1"])
    }

    /// The list can be older than a print.
    @Test func aPrintIsReplacedOnlyAfterThePersonWasAsked() throws {
        let reader = try #require(try control.readers().first)
        for replaces in [false, true] {
            var progress: [FingerprintControl.Progress] = []
            try control.enroll("left-thumb", on: reader, replaces: replaces) { progress.append($0) }
            #expect(progress.map(\.advice) == [.begin, .passed] && progress.map(\.passed) == [0, 1])
            #expect(progress.map(\.total) == [5, 5])
            #expect(try arguments().contains("--replace") == replaces)
        }
    }
}
