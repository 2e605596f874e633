// SPDX-License-Identifier: Apache-2.0

import DaemonProcess
import Testing

/// What a daemon keeps open for its users.
@Suite struct OpenByUserTests {
    @Test func whatIsOpenForAUserIsReplacedWithoutMoreRoom() {
        let open = OpenByUser<String>(limit: 2)
        for user: UInt32 in [1, 2] { #expect(open.hasRoom(for: user) && open.keep("store \(user)", for: user)) }
        #expect(!open.hasRoom(for: 3))
        #expect(open.hasRoom(for: 1) && open.keep("another store", for: 1))
        #expect(open.value(of: 1) == "another store" && open.all.count == 2)
    }

    @Test func whatIsOpenedDuringTheStopIsNotKept() {
        let open = OpenByUser<String>(limit: 2)
        #expect(open.keep("store 1", for: 1) && !open.isStopped)
        #expect(open.stop() == ["store 1"])
        #expect(open.isStopped && !open.keep("store 2", for: 2))
        #expect(open.all == ["store 1"])
    }
}
