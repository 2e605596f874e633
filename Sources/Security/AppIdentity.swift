// SPDX-License-Identifier: Apache-2.0

import Foundation
package import LatchkeyClient
package import LatchkeyModel

/// The app as it declares itself: in the environment, or in an `Info.plist` beside its executable.
package enum AppIdentity {
    /// The engine that this app's calls go to.
    package static func client() throws(Failure) -> Client { try ClientScope.current(orElse: daemon) }

    private static let daemon = Client(ofDaemonFor: name, faceUsage: faceUsage)

    /// `LATCHKEY_APP_ID`, else `CFBundleIdentifier`, else the executable's name: the app's own access group.
    private static var name: String {
        guard ProcessInfo.processInfo.environment["LATCHKEY_APP_ID"] == nil, let bundle = Bundle.main.bundleIdentifier
        else { return Client.applicationName }
        return bundle
    }

    /// `NSFaceIDUsageDescription` (behaviour LA-07), also from the resource bundle that SwiftPM makes.
    private static var faceUsage: String? {
        let key = "NSFaceIDUsageDescription"
        if let text = Bundle.main.object(forInfoDictionaryKey: key) as? String { return text }
        guard let executable = Bundle.main.executableURL else { return nil }
        let file = executable.deletingPathExtension().appendingPathExtension("resources")
            .appendingPathComponent("Info.plist")
        guard let bytes = try? Data(contentsOf: file),
            let list = try? PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any]
        else { return nil }
        return list[key] as? String
    }
}
