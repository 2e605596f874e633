// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeySystem
import Testing

@Suite struct SocketsTests {
    /// The usual umask 022 removes the permission to write, without which no other user can connect.
    @Test(arguments: [0o600, 0o660, 0o666] as [mode_t]) func socketHasItsModeDespiteTheUmask(mode: mode_t) throws {
        let path = "/tmp/latchkey-test-\(getpid())-\(mode).sock"
        defer { Files.remove(path) }
        let listener = try Sockets.listen(path, mode: mode)
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == mode)
        withExtendedLifetime(listener) {}
    }
}
