// SPDX-License-Identifier: Apache-2.0

import AuthorityDaemon
import SystemDriver

@main
enum Main {
    static func main() { AuthorityProcess.main { _, _ in .success(AbsentReader()) } }
}
