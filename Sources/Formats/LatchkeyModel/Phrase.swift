// SPDX-License-Identifier: Apache-2.0

/// A text for people, as the English literal in the source: `"“\(name)” asks for your face"`.
///
/// A text is composed where something happens and is translated where it is shown, often in another process. It is
/// therefore passed on as its two parts: the literal with numbered placeholders in place of its values,
/// `“%1$s” asks for your face`, which is the key of the text in a catalogue, and the values. `scripts/words` finds the
/// literals in the sources.
public struct Phrase: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable {
    /// The literal with placeholders. That of a peer can be any text; it is looked up, or filled and shown.
    package private(set) var template: String
    /// The values, in the order of the literal.
    package private(set) var arguments: [String]

    /// Creates the phrase that a peer has sent.
    package init(template: String, arguments: [String]) {
        self.template = template
        self.arguments = arguments
    }

    /// Creates a phrase without values.
    ///
    /// - Parameter value: the English text.
    public init(stringLiteral value: String) { self.init(template: value, arguments: []) }

    /// Creates a phrase from a literal with values.
    ///
    /// - Parameter stringInterpolation: the parts of the literal.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.phrase }

    /// The text in English.
    public var description: String { Template(template).filled(arguments) ?? template }

    package var isEmpty: Bool { description.isEmpty }

    /// Joins the parts of a literal that is too long for one line.
    package static func + (left: Phrase, right: Phrase) -> Phrase {
        var phrase = left
        for part in Template(right.template).parts {
            switch part {
            case .argument(let number) where right.arguments.indices.contains(number - 1):
                phrase.append(right.arguments[number - 1])
            case .argument(let number): phrase.template += Template.placeholder(number)
            case .text(let literal): phrase.template += literal
            }
        }
        return phrase
    }

    private mutating func append(_ value: String) {
        // A placeholder has one digit. `scripts/words` refuses a literal with more values.
        guard arguments.count < Limits.phraseArguments else {
            template += value
            return
        }
        arguments.append(value)
        template += Template.placeholder(arguments.count)
    }

    /// Collects the parts of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var phrase: Phrase = ""

        /// Begins a literal.
        ///
        /// - Parameters:
        ///   - literalCapacity: an estimate of the compiler, which is not used.
        ///   - interpolationCount: the same.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Adds text of the source.
        ///
        /// - Parameter literal: the text, in UTF-8.
        public mutating func appendLiteral(_ literal: String) { phrase.template += literal }

        /// Adds a value, which has a numbered placeholder in the catalogue.
        ///
        /// - Parameter value: its description is shown; at most nine values are possible.
        public mutating func appendInterpolation<Value>(_ value: Value) { phrase.append("\(value)") }

        /// Refuses an optional value, which a person would read as `nil` or `Optional`.
        ///
        /// - Parameter value: an optional value.
        @available(*, unavailable, message: "unwrap the value")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}
    }
}

extension Phrase: Equatable {
    /// Whether both texts are equal in English.
    public static func == (left: Phrase, right: Phrase) -> Bool { left.description == right.description }
}
