// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeySystem

/// What SwiftPM built together with the running tests, with either of its build systems. They place it differently:
///
/// | | `native` | `swiftbuild` |
/// | --- | --- | --- |
/// | programs | beside the test bundle | beside the program that runs the tests |
/// | modules | in `Modules`, in that folder | in that folder |
/// | objects | in `MODULE.build`, in that folder | in `TARGET.build`, below `Intermediates.noindex` |
package enum BuiltProducts {
    /// The folder of the built programs.
    package static let folder: String = {
        let program = Environment.executable ?? ""
        guard !program.hasSuffix(".xctest") else { return Files.folder(of: program) }
        // `swift test` with `native` runs a program of the toolchain, and the bundle is one of its arguments.
        return Files.folder(of: CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? program)
    }()

    /// The folders in which the compiler finds the modules.
    static var moduleFolders: [String] { [folder + "/Modules", folder] }

    /// The object files of a module.
    ///
    /// - Throws: if there are none, because a test that looks for something in no file would pass.
    package static func objects(of module: String) throws -> [String] {
        var folders = ["\(folder)/\(module).build"]
        // A target of another name than its module has hyphens.
        let (configuration, products) = (Files.name(of: folder), Files.folder(of: folder))
        let parts = "\(Files.folder(of: products))/Intermediates.noindex/latchkey.build/\(configuration)"
        for target in [module, module.replacing("_", with: "-")] {
            let objects = "\(parts)/\(target).build/Objects-normal"
            let architectures = (try? FileManager.default.contentsOfDirectory(atPath: objects)) ?? []
            folders += architectures.map { "\(objects)/\($0)" }
        }
        for folder in folders {
            let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
            let objects = files.filter { $0.hasSuffix(".o") }.map { "\(folder)/\($0)" }
            if !objects.isEmpty { return objects }
        }
        throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: folders[0]])
    }
}
