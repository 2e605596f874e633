// SPDX-License-Identifier: Apache-2.0

import LatchkeySystem

extension Words {
    /// The name of the catalogues' files, without the ending.
    private static let domain = "latchkey"

    /// The texts of the language that the environment of this process prefers: of the first catalogue that is installed
    /// and can be read, otherwise English.
    ///
    /// - Parameters:
    ///   - isolates: whether values are isolated, see `Words`.
    ///   - isTerminal: whether the texts are written to a terminal. Without UTF-8 in its locale, a terminal cannot show
    ///     other languages, and the texts are English.
    package static func installed(isolates: Bool, isTerminal: Bool) -> Words {
        let english = isolates ? Words.english : .plainEnglish
        guard !isTerminal || LocaleName.isUTF8(Environment.value) == true, let folder else { return english }
        for language in LocaleName.languages(Environment.value) {
            let file = "\(folder)/\(language)/LC_MESSAGES/\(domain).mo"
            // A catalogue that cannot be read or is damaged is treated as one that is not installed: a prompt in English
            // is better than none.
            guard let bytes = try? Files.read(file, limit: Catalogue.byteLimit),
                let catalogue = Catalogue(bytes.withBytes { Array($0) })
            else { continue }
            return Words(language: language, catalogue: catalogue, isolates: isolates)
        }
        return english
    }

    /// The folder of the catalogues: `share/locale` beside the folder of this program. The value of `LATCHKEY_LOCALE_DIR`
    /// precedes it; `Environment` ignores it in a program with more privileges than its caller, and the terminal prompt
    /// does not receive it.
    private static var folder: String? {
        if let folder = Environment.value("LATCHKEY_LOCALE_DIR"), folder.hasPrefix("/") { return folder }
        guard let program = Environment.executable else { return nil }
        return Files.folder(of: Files.folder(of: program)) + "/share/locale"
    }
}
