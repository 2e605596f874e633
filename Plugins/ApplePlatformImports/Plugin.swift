// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackagePlugin

/// Gives every file of a target what `import Foundation` gives it on Apple systems: the names of Core Foundation and of
/// Security. Two out of three files there that use the keychain import nothing else.
///
/// One generated file of the target re-exports Foundation and those of our API modules that the target depends on;
/// a re-export holds in all files of its module. On Apple systems the file is empty.
@main struct ApplePlatformImports: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? SwiftSourceModuleTarget else { return [] }
        let reachable = Set(
            target.recursiveTargetDependencies.compactMap { ($0 as? SwiftSourceModuleTarget)?.moduleName })
        let ours = ["Security", "LocalAuthentication"].filter(reachable.contains)
        guard !ours.isEmpty else {
            Diagnostics.error(
                "The target \(target.name) uses the plugin ApplePlatformImports and depends on neither Security nor "
                    + "LocalAuthentication. Add .product(name: \"Security\", package: \"latchkey\") to its dependencies."
            )
            return []
        }
        let lines =
            ["// Written by the plugin ApplePlatformImports of Latchkey.", "#if os(Linux)"]
            + (["Foundation"] + ours).map { "@_exported public import \($0)" } + ["#endif"]
        let file = context.pluginWorkDirectoryURL.appending(path: "ApplePlatformImports.swift")
        return [
            .buildCommand(
                displayName: "Writing the imports of \(target.name)", executable: URL(filePath: "/bin/sh"),
                arguments: ["-c", "printf '%s\\n' \"$@\" >\"$0\"", file.path] + lines, outputFiles: [file])
        ]
    }
}
