// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackagePlugin

/// Makes the names of Core Foundation and Security visible in every file of a target, as `import Foundation` does on
/// Apple systems. Two out of three files there that use the keychain import no other module.
///
/// One generated file of the target re-exports Foundation and those of the two API modules that the target depends on;
/// a re-export is effective in all files of its module. On Apple systems the generated file has no content.
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
