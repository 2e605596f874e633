// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem

/// Where the result of a key goes: to a file, as text, or as bytes to whoever reads standard output.
struct KeyResult {
    private let path: String?
    private let encoding: ByteEncoding

    /// Refuses before any key is used what is known not to be writable afterwards.
    ///
    /// - Parameter isBinary: whether the bytes would be anything but text on a screen.
    init(_ options: Options, isBinary: Bool, isEncoded: Bool = true) throws(CommandFailure) {
        path = options.key.output
        let encoding = try options.key.encoding()
        self.encoding = isEncoded ? encoding : .raw
        if let path {
            guard !options.isJSON else { throw .usage("--json and --output are not for one call", "Choose one.") }
            guard options.replaces || !Files.exists(path) else {
                throw .failure(Failure(.duplicateItem, "\(path) exists already.", hint: "Replace it with --replace."))
            }
        } else if isBinary, self.encoding == .raw, !options.isJSON, KeyResult.isOnScreen {
            throw KeyResult.binary
        }
    }

    private static var isOnScreen: Bool { isatty(STDOUT_FILENO) == 1 }

    private static let binary = CommandFailure.usage(
        "the result is binary and would go to the terminal", "Use --hex or --base64, or --output FILE, or a pipe.")

    /// Writes bytes.
    func write(_ bytes: SecretBytes) throws(Failure) {
        let encoded = encoding == .raw ? bytes : SecretBytes(encoding.encode(bytes.copyBytes()))
        guard let path else { return Output.write(encoded) }
        let file = try NewFile(path)
        try file.write(encoded)
        try file.finish()
    }

    /// Writes what somebody else encrypted: it must not steer the terminal that shows it.
    func write(foreign plaintext: SecretBytes) throws(CommandFailure) {
        let isOnScreen = path == nil && KeyResult.isOnScreen
        if isOnScreen, !plaintext.withBytes(KeyResult.isText) {
            throw .failure(
                Failure(
                    .invalidParameter, "What was decrypted is binary and would go to the terminal.",
                    hint: "Use --output FILE, or a pipe."))
        }
        do throws(Failure) {
            try write(plaintext)
        } catch {
            throw .failure(error)
        }
        // The next prompt begins on a line of its own.
        if isOnScreen, plaintext.withBytes({ $0.last }) != 0x0a { Output.write("\n") }
    }

    func writeJSON(_ pairs: [(String, JSON)]) { Output.write(JSON.object(pairs).line + "\n") }

    private static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            if scalar == "\n" || scalar == "\t" { return true }
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned: return false
            default: return true
            }
        }
    }
}
