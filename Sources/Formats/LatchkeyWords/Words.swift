// SPDX-License-Identifier: Apache-2.0

public import LatchkeyModel

/// The texts of one language.
///
/// Without a catalogue, or for a text that the catalogue does not have, the text is the English one of the source.
public struct Words: Equatable, Sendable {
    /// The code of the language, such as `de` or `pt_BR`; `en` without a catalogue.
    public let language: String
    /// Whether texts are isolated whose direction could reorder the sentence around them.
    private let isolates: Bool
    private let catalogue: Catalogue?

    /// English, as in the source.
    package static let english = Words(language: "en", catalogue: nil, isolates: true)
    /// English, byte for byte the text of the source, for output that other programs read.
    package static let plainEnglish = Words(language: "en", catalogue: nil, isolates: false)

    /// Creates the texts of a catalogue.
    ///
    /// - Parameter isolates: whether to put a value into a bidirectional isolate where it could reorder the sentence
    ///   (Unicode Standard Annex 9, section 2.4): prompts do so, since a program chooses its name and its reason.
    package init(language: String, catalogue: Catalogue?, isolates: Bool) {
        (self.language, self.catalogue, self.isolates) = (language, catalogue, isolates)
    }

    /// Whether both are texts of the same catalogue, composed in the same way.
    public static func == (left: Words, right: Words) -> Bool {
        left.language == right.language && left.isolates == right.isolates && left.catalogue === right.catalogue
    }

    /// Whether the language is written from right to left.
    public var isRightToLeft: Bool { Direction.isRightToLeft(language: language) }

    /// The text of a phrase in this language; the English one if the catalogue does not have it.
    ///
    /// - Parameters:
    ///   - phrase: the English text, as a literal of the source.
    ///   - context: distinguishes texts that are equal in English and differ in other languages.
    public func callAsFunction(_ phrase: Phrase, context: String? = nil) -> String {
        guard let catalogue else { return made(phrase) }
        return filled(catalogue.text(phrase.template, context: context), phrase) ?? made(phrase)
    }

    /// The text of a phrase that contains a number of things, in the plural form that the language has for the number.
    ///
    /// - Parameters:
    ///   - number: how many things there are.
    ///   - one: the English text for 1; its values are the first ones of `other`.
    ///   - other: the English text for every other number.
    public func count(_ number: Int, _ one: Phrase, _ other: Phrase) -> String {
        let phrase = number == 1 ? one : other
        guard let catalogue else { return made(phrase) }
        // The values of the plural include the number, which English may not need for 1.
        return filled(catalogue.text(one.template, other.template, number), other) ?? made(phrase)
    }

    private func filled(_ translation: String?, _ phrase: Phrase) -> String? {
        translation.flatMap { Template($0).filled(phrase.arguments.map(isolated)) }
    }

    private func made(_ phrase: Phrase) -> String { filled(phrase.template, phrase) ?? phrase.description }

    private func isolated(_ value: String) -> String {
        guard isolates, isRightToLeft || Direction.hasRightToLeft(value) else { return value }
        return Direction.isolated(value)
    }
}
