// SPDX-License-Identifier: Apache-2.0

package import LatchkeyClient
package import LatchkeyModel

#if LATCHKEY_SDK  // where this module does not re-export it: CoreFoundationTypes.swift
package import Foundation
#else
import Foundation
#endif

/// The app as it declares itself: in the environment, or in an `Info.plist` beside its executable.
package struct AppIdentity: Equatable, Sendable {
    /// Its name: what prompts call it and what it was told about faces is kept under.
    package var name: String
    /// Its access groups, the one of its new items first (behaviour KC-23).
    package var groups: [String]

    /// The names of `LATCHKEY_APP_ID`; else `keychain-access-groups`, `CFBundleIdentifier` and the app groups of its
    /// `Info.plist`, in that order; else the executable's name.
    ///
    /// - Parameters:
    ///   - names: what `LATCHKEY_APP_ID` holds.
    ///   - information: what the `Info.plist` holds.
    ///   - executable: the executable's name.
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
        for group in before + [own] + after where !group.isEmpty && !groups.contains(group) { groups.append(group) }
        (name, self.groups) = (own, groups)
    }

    // MARK: - This app

    /// The engine that this app's calls go to.
    package static func client() throws(Failure) -> Client { try ClientScope.current(orElse: daemon) }

    private static let daemon: Client = {
        let identity = AppIdentity(
            names: Client.declaredNames, information: Bundle.main.infoDictionary ?? [:],
            executable: Client.executableName)
        return Client(ofDaemonFor: identity.name, groups: identity.groups, faceUsage: faceUsage)
    }()

    // MARK: - Faces

    private static let faceUsageKey = "NSFaceIDUsageDescription"

    /// `NSFaceIDUsageDescription` (behaviour LA-07), also from the resource bundle that SwiftPM makes.
    private static var faceUsage: String? {
        if let text = Bundle.main.object(forInfoDictionaryKey: faceUsageKey) as? String { return text }
        return Bundle.main.executableURL.flatMap { faceUsage(besideExecutable: $0) }
    }

    /// The same from the folders of resources beside an executable.
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

    /// The files named `Info.plist` in the folders `<Target>.resources` and `<Package>_<Target>.resources` beside an
    /// executable, and in the folders of those. SwiftPM makes the second kind, and refuses an `Info.plist` at its top.
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

    /// Where this app can say what it looks at faces for, in words.
    package static var placeOfFaceUsage: String {
        let executable = Bundle.main.executableURL
        let folder = executable?.deletingLastPathComponent().path ?? "the executable's folder"
        let target = executable?.deletingPathExtension().lastPathComponent ?? "<Target>"
        return "\(faceUsageKey) belongs in \(folder)/Info.plist, or in a folder that the manifest copies to "
            + "\(folder)/<Package>_\(target).resources."
    }
}
