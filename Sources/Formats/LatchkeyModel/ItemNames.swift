// SPDX-License-Identifier: Apache-2.0

/// The names of an item. An app that stores it chooses all of them, so a text that shows one cleans and quotes it.
extension Attributes {
    /// The attribute as text, or in hexadecimal if it is not UTF-8; empty if it is absent or of another kind.
    package func text(_ code: AttributeCode) -> String {
        switch self[code] {
        case .text(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self) ?? Hexadecimal.encode(bytes)
        default: ""
        }
    }

    /// The name by which an app finds an item of that class: the account, the tag of a key, or else the label.
    package func name(in itemClass: ItemClass) -> String {
        let names = [text(.account), itemClass == .key ? text(.applicationTag) : "", text(.label)]
        return names.first { !$0.isEmpty } ?? ""
    }

    /// The service, or the server of an internet password.
    package func place(in itemClass: ItemClass) -> String {
        itemClass == .internetPassword ? text(.server) : text(.service)
    }

    /// The name by which a person knows an item, the same in every list, prompt and message: its label, or else its name for
    /// apps, with its service or server, such as "login (bank.example)". Empty if it has none of them.
    package func title(in itemClass: ItemClass) -> String {
        let label = text(.label)
        let place = String.itemPlace(place(in: itemClass), ofApp: text(.accessGroup))
        return String(itemNamed: label.isEmpty ? name(in: itemClass) : label, at: place)
    }
}

extension FoundItem {
    /// `Attributes.title(in:)`; empty without attributes.
    package var title: String { attributes?.title(in: itemClass) ?? "" }
}

extension String {
    /// The service or server in the title of an item: the command's default service, and the app itself, say nothing.
    package static func itemPlace(_ place: String, ofApp app: String) -> String {
        place.hasBytes(of: app) || place.hasBytes(of: "latchkey") ? "" : place
    }
}
