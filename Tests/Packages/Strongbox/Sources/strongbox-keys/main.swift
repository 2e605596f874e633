// SPDX-License-Identifier: Apache-2.0

import Foundation
import Strongbox

let box = Strongbox(service: CommandLine.arguments.dropFirst().first ?? "strongbox-keys")
do {
    for key in try box.keys() { print(key) }
} catch {
    print("error: \(error)")
    exit(EXIT_FAILURE)
}
