// SPDX-License-Identifier: Apache-2.0

import AuthorityDaemon
import BusDrivers
import LatchkeyModel
import LatchkeySystem

@main
enum Main {
    static func main() {
        AuthorityProcess.main { options, virtual, _, log in
            Result { () throws(Failure) in
                do throws(SystemError) {
                    let bus = try SystemBus()
                    return AuthorityProcess.Drivers(
                        reader: FprintReader(
                            bus, templates: options.fingerprints, allowsVirtual: virtual.isAllowed,
                            configuration: virtual.configuration, log: log),
                        sessions: LogindSessions(bus, log: log))
                } catch {
                    throw Failure(error, "The thread of the system's message bus cannot be started")
                }
            }
        }
    }
}
