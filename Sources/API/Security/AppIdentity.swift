// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
package import LatchkeyModel

#if LATCHKEY_SDK  // where this module does not re-export it: CoreFoundationTypes.swift
package import Foundation
#else
import Foundation
#endif

/// The app's name and access groups, as the app declares them in the environment or in an `Info.plist`.
package struct AppIdentity: Equatable, Sendable {
    /// The name that prompts show; the user's answer to the Face ID permission prompt is stored under it.
    package var name: String
    /// The app's access groups; new items get the first one by default (behaviour KC-23).
    package var groups: [String]

    /// Determines the name and the groups.
    ///
    /// The names in `LATCHKEY_APP_ID` are the groups, if the variable is set. Otherwise the groups are
    /// `keychain-access-groups`, the identifier and the app groups of the `Info.plist`, in that order; the identifier
    /// is `CFBundleIdentifier`, or the executable's name when that is missing. The name is the first name of the
    /// variable, or the identifier.
    ///
    /// - Parameters:
    ///   - names: the names listed in `LATCHKEY_APP_ID`; empty when the variable is not set.
    ///   - information: the contents of the `Info.plist`.
    ///   - executable: the executable's name, without its folder.
    package init(names: [String], information: [String: Any], executable: String) {
        guard names.isEmpty else {
            (name, groups) = (names[0], names)
            return
        }
        let identifier = information[kCFBundleIdentifierKey as String] as? String ?? ""
        let own = identifier.isEmpty ? executable : identifier
        let before = information["keychain-access-groups"] as? [String] ?? []
        let after = information["com.apple.security.application-groups"] as? [String] ?? []
        var groups: [String] = []
        for group in before + [own] + after where !group.isEmpty && !groups.containsBytes(of: group) {
            groups.append(group)
        }
        (name, self.groups) = (own, groups)
    }

    // MARK: - This app

    /// The client that this app's calls use: the simulator in scope, else the connection to the daemon.
    package static func client() throws(Failure) -> Client { try ClientScope.current(orElse: daemon) }

    private static let daemon: Client = {
        let identity = AppIdentity(
            names: Client.declaredNames, information: Bundle.main.infoDictionary ?? [:],
            executable: Client.executableName)
        return Client(ofDaemonFor: identity.name, groups: identity.groups, faceUsage: faceUsage)
    }()

    // MARK: - Face ID usage description

    private static let faceUsageKey = "NSFaceIDUsageDescription"

    /// The app's `NSFaceIDUsageDescription` (behaviour LA-07): from the main bundle, else from a resource bundle that
    /// SwiftPM built.
    private static var faceUsage: String? {
        if let text = Bundle.main.object(forInfoDictionaryKey: faceUsageKey) as? String { return text }
        return Bundle.main.executableURL.flatMap { faceUsage(besideExecutable: $0) }
    }

    /// `NSFaceIDUsageDescription` from the first `Info.plist` in a resource folder beside the executable that has it.
    package static func faceUsage(besideExecutable executable: URL) -> String? {
        for file in informationFiles(besideExecutable: executable) {
            guard let bytes = try? Data(contentsOf: file),
                let list = try? PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any],
                let text = list[faceUsageKey] as? String
            else { continue }
            return text
        }
        return nil
    }

    /// Possible paths of an `Info.plist`: in the folders `<Target>.resources` and `<Package>_<Target>.resources` beside
    /// the executable, and in their direct subfolders. SwiftPM creates the folder `<Package>_<Target>.resources` and
    /// rejects an `Info.plist` at its top level.
    private static func informationFiles(besideExecutable executable: URL) -> [URL] {
        let target = executable.deletingPathExtension().lastPathComponent
        return folders(in: executable.deletingLastPathComponent())
            .filter { $0.lastPathComponent == "\(target).resources" || $0.path.hasSuffix("_\(target).resources") }
            .flatMap { [$0] + folders(in: $0) }
            .map { $0.appendingPathComponent("Info.plist") }
    }

    private static func folders(in folder: URL) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appendingPathComponent($0, isDirectory: true) }
            .filter {
                (try? FileManager.default.attributesOfItem(atPath: $0.path)[.type]) as? FileAttributeType
                    == .typeDirectory
            }
    }

    /// A sentence that tells the developer where `NSFaceIDUsageDescription` can be declared.
    package static var placeOfFaceUsage: String {
        let executable = Bundle.main.executableURL
        let folder = executable?.deletingLastPathComponent().path ?? "the executable's folder"
        let target = executable?.deletingPathExtension().lastPathComponent ?? "<Target>"
        return "\(faceUsageKey) belongs in \(folder)/Info.plist, or in a folder that the manifest copies to "
            + "\(folder)/<Package>_\(target).resources."
    }
}
