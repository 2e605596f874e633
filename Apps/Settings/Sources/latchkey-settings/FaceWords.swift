// SPDX-License-Identifier: Apache-2.0

/// The texts of the page about face permissions.
enum FaceWords {
    static let description = words(
        "Apps that asked to recognise your face. If you turn one on again, it asks you at its next use.")
    static let emptyTitle = words("No App Has Asked")
    static let empty = words(
        "When an app wants to recognise your face, Latchkey asks you first. Your answers appear here.")
    static let allowed = words("May use your face")
    static let refused = words("May not use your face")
    static let changing = words("Changing the permission…")

    static func name(_ app: String) -> String { words("\(app) may use your face") }
    static func done(_ app: String, mayAskAgain: Bool) -> String {
        mayAskAgain ? words("\(app) asks again at its next use.") : words("\(app) may no longer use your face.")
    }
}
