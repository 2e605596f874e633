// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySystem
import StrictJSON

/// setup docker: `credsStore` in config.json. The rest of the file stays byte for byte.
enum DockerSetup {
    private static let helper = JSONValue.string("latchkey")

    static func run(_ options: Options) throws(CommandFailure) {
        var change = SetupChange(tool: .docker, place: "")
        let (file, before) = try failing { () throws(Failure) in
            let path = try SetupFile.folder(".docker", variable: "DOCKER_CONFIG") + "/config.json"
            // docker drops members that it does not know, so what was there is in a file of its own.
            return (try SetupFile(path), try SetupFile(path + ".before-latchkey"))
        }
        change = SetupChange(tool: .docker, place: file.path)
        let text = try failing { () throws(Failure) in try DockerConfiguration(file) }
        let old = text.value
        let new: JSONValue?
        var content: [UInt8]?
        if options.has(.undo) {
            guard old == helper else { return try change.make(options) {} }
            let known = before.content.flatMap { try? JSONReader.read($0) }
            new = known?.member(DockerConfiguration.key)
            content = try failing { () throws(Failure) in try text.setting(new) }
            if known?.member("existed") == .bool(false), content == Array("{}".utf8) { content = nil }
        } else {
            guard old != helper else { return try change.make(options) {} }
            try failing { () throws(Failure) in
                try SetupChange.checkHelper(of: .docker)
                if let old, !options.replaces { throw SetupChange.refusal(.docker, old.text ?? old.encoded) }
            }
            new = helper
            content = try failing { () throws(Failure) in try text.setting(new) }
        }
        change.removed = old.map { [DockerConfiguration.line($0)] } ?? []
        change.added = new.map { [DockerConfiguration.line($0)] } ?? []
        try change.make(options) { () throws(Failure) in
            if !options.has(.undo) {
                let member = old.map { [(name: DockerConfiguration.key, value: $0)] } ?? []
                let record = JSONValue.object([(name: "existed", value: .bool(file.content != nil))] + member)
                try before.replace(Array((record.encoded + "\n").utf8))
            }
            try file.replace(content)
            if options.has(.undo) { Files.remove(before.path) }
        }
    }
}

/// The text of docker's config.json, of which one member is changed in its place.
struct DockerConfiguration {
    static let key = "credsStore"

    private let bytes: [UInt8]
    private let root: JSONValue
    private let path: String

    init(_ file: SetupFile) throws(Failure) {
        path = file.path
        bytes = file.content ?? Array("{}".utf8)
        guard let root = try? JSONReader.read(bytes), case .object = root else {
            throw Failure(
                .invalidParameter, "\(path) is no object of JSON that can be changed.",
                hint: "It may be damaged, or have more than \(JSONReader.valueLimit) values.")
        }
        self.root = root
    }

    /// The member `credsStore`; nil without one.
    var value: JSONValue? { root.member(Self.key) }

    static func line(_ value: JSONValue) -> String { "\"\(key)\": \(value.encoded)" }

    /// The text with another value of the member, or without it.
    func setting(_ value: JSONValue?) throws(Failure) -> [UInt8] {
        let changed = edited(value)
        // Compared as a whole, so that nothing but the member can change.
        guard case .object(var members) = root, let result = try? JSONReader.read(changed) else { throw unclear }
        members.removeAll { $0.name == Self.key }
        guard case .object(var others) = result, result.member(Self.key) == value else { throw unclear }
        others.removeAll { $0.name == Self.key }
        guard JSONValue.object(members) == .object(others) else { throw unclear }
        return changed
    }

    private var unclear: Failure {
        Failure(
            .invalidParameter, "\(path) has \(Self.key) in a form that is not understood.", hint: "Change it by hand.")
    }

    private func edited(_ value: JSONValue?) -> [UInt8] {
        let member = value.map { Array(Self.line($0).utf8) }
        guard let place = place else {
            guard let member, let brace = bytes.firstIndex(of: UInt8(ascii: "{")) else { return bytes }
            let isEmpty = root == .object([])
            return bytes[...brace] + "\n\t".utf8 + member + (isEmpty ? "\n" : ",").utf8 + bytes[(brace + 1)...]
        }
        if let member { return bytes[..<place.lowerBound] + member + bytes[place.upperBound...] }
        // With the blanks before it and the comma behind it, which is what was inserted; without one, with that before it.
        var (start, end) = (place.lowerBound, place.upperBound)
        while start > 0, Self.isBlank(bytes[start - 1]) { start -= 1 }
        let next = bytes[end...].firstIndex { !Self.isBlank($0) } ?? end
        if next < bytes.count, bytes[next] == UInt8(ascii: ",") {
            end = next + 1
        } else if start > 0, bytes[start - 1] == UInt8(ascii: ",") {
            start -= 1
        } else if end < bytes.count, bytes[end] == 0x0a {
            end += 1
        }
        return Array(bytes[..<start] + bytes[end...])
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    /// Where the member is in the text, from its name to the end of its value, which is a string.
    private var place: Range<Int>? {
        let name = Array("\"\(Self.key)\"".utf8)
        var (depth, position) = (0, 0)
        var start: Int?
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let end = endOfString(position)
                if let start { return start..<end }
                let next = bytes[end...].first { !Self.isBlank($0) }
                if depth == 1, next == UInt8(ascii: ":"), bytes[position..<end].elementsEqual(name) { start = position }
                position = end
                continue
            default: break
            }
            position += 1
        }
        return nil
    }

    /// The position behind the string that begins at a quotation mark.
    private func endOfString(_ start: Int) -> Int {
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }
}
