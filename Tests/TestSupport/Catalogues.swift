// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The catalogues of the project, compiled by `scripts/words` into a temporary folder, which is removed with this object.
package final class Catalogues: Sendable {
    /// The folder, with the layout of `share/locale`.
    package let folder: String

    /// Compiles the languages of the project; with `pseudo` instead two for tests of the layout: `qps` has longer texts
    /// than English, and `he` texts that are written from right to left.
    package init(pseudo: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-words.\(UUID().uuidString)").path
        let script = Process()
        script.executableURL = URL(filePath: Repository.script("words"))
        script.arguments = [pseudo ? "pseudo" : "build", folder]
        try script.run()
        script.waitUntilExit()
        guard script.terminationStatus == 0 else { throw CocoaError(.executableRuntimeMismatch) }
    }

    deinit {
        // A folder that stays is in the system's folder for temporary files.
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The bytes of a compiled catalogue.
    package func bytes(_ language: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(folder)/\(language)/LC_MESSAGES/latchkey.mo")))
    }
}
