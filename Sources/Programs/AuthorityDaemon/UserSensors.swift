// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import SystemDriver

/// `latchkey-authd --user`: speaks to fprintd and logind for the `latchkeyd` of tier `user` that started it, over descriptor 3.
/// It makes no decision about an authentication (docs/design/decisions/033-sensors-of-tier-user.md).
enum UserSensors {
    /// The descriptor of the connection.
    private static let descriptor: CInt = 3

    /// Serves until the connection ends.
    static func serve(_ options: AuthorityOptions, _ makeDrivers: AuthorityProcess.MakeDrivers) throws(Failure) {
        do throws(SystemError) {
            // Programs of the user could otherwise read what is scanned, or report a match in this process's name, which
            // they still can with another latchkeyd.
            try ProcessProtection.enable()
            // The process of root's own keychain needs no privilege either.
            if geteuid() == 0 { try Capability.dropAll() }
        } catch {
            throw Failure(error, "latchkey-authd --user cannot protect its process")
        }
        guard fcntl(descriptor, F_GETFD) >= 0 else {
            let text = Array("error: latchkey-authd --user is started by latchkeyd\nhint: See latchkey-authd(8)\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            ProgramEnd.now(64)
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let host: SensorHost
        do throws(SystemError) {
            host = try SensorHost(Descriptor(owning: descriptor), user: geteuid())
        } catch {
            throw Failure(error, "Descriptor 3 is not a connection to latchkeyd")
        }
        let configuration = options.hardware
        // A file that cannot be trusted allows nothing. latchkeyd, which writes the log of this process, reads the file too
        // and logs why.
        let isAllowed = (try? HardwareConfiguration.allowsVirtual(configuration)) ?? false
        let virtual = AuthorityProcess.VirtualHardware(isAllowed: isAllowed, configuration: configuration)
        let drivers = try makeDrivers(options, virtual, SystemClock(), host.log).get()
        host.observe(drivers.reader, drivers.sessions)
        host.serve(drivers.reader, drivers.sessions)
    }
}
