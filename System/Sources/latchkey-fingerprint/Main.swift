// SPDX-License-Identifier: Apache-2.0

import FingerprintCommand

@main
enum Main {
    static func main() { FingerprintProcess.main() }
}
