// SPDX-License-Identifier: Apache-2.0

/// A text for people, as the English literal in the source: `"“\(name)” asks for your face"`.
///
/// The literal with numbered placeholders in place of its values, `“%1$s” asks for your face`, is the key of the text in
/// a catalogue. `scripts/words` finds the literals in the sources.
public struct Phrase: ExpressibleByStringInterpolation, Sendable {
    package let template: String
    /// The values, in the order of the literal.
    package let arguments: [String]
    /// The text in English. It is made without the template, so that no catalogue and no placeholder can change it.
    package let english: String

    /// Creates a phrase without values.
    ///
    /// - Parameter value: the English text.
    public init(stringLiteral value: String) {
        template = value
        english = value
        arguments = []
    }

    /// Creates a phrase from a literal with values.
    ///
    /// - Parameter stringInterpolation: the parts of the literal.
    public init(stringInterpolation: StringInterpolation) {
        template = stringInterpolation.template
        english = stringInterpolation.english
        arguments = stringInterpolation.arguments
    }

    /// Collects the parts of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var template = ""
        fileprivate var english = ""
        fileprivate var arguments: [String] = []

        /// Begins a literal.
        ///
        /// - Parameters:
        ///   - literalCapacity: an estimate of the compiler, which is not used.
        ///   - interpolationCount: the same.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Adds text of the source.
        ///
        /// - Parameter literal: the text, in UTF-8.
        public mutating func appendLiteral(_ literal: String) {
            template += literal
            english += literal
        }

        /// Adds a value, which has a numbered placeholder in the catalogue.
        ///
        /// - Parameter value: its description is shown; at most nine values are possible.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            arguments.append(value.description)
            template += Template.placeholder(arguments.count)
            english += value.description
        }
    }
}
