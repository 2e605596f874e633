// SPDX-License-Identifier: Apache-2.0

import AuthorityDaemon
import FprintDriver
import LatchkeyModel
import LatchkeySystem
import SystemBus

@main
enum Main {
    static func main() {
        AuthorityProcess.main { options, _, log in
            Result { () throws(Failure) in
                do throws(SystemError) {
                    return FprintReader(try SystemBus(), templates: options.fingerprints, log: log)
                } catch {
                    throw Failure(error, "The thread of the system's message bus cannot be started")
                }
            }
        }
    }
}
