// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// Destination of the result of a key operation: a file, or standard output as text or bytes.
struct KeyResult {
    private let path: FilePath?
    private let encoding: ByteEncoding

    /// Refuses an existing file without --replace, and binary output on a terminal, before any key is used.
    ///
    /// - Parameters:
    ///   - isBinary: whether the bytes can be other than text.
    ///   - isEncoded: whether --hex and --base64 apply to the result.
    init(_ options: Options, isBinary: Bool, isEncoded: Bool = true) throws(CommandFailure) {
        path = options.key.output
        let encoding = try options.key.encoding()
        self.encoding = isEncoded ? encoding : .raw
        if let path {
            guard !options.isJSON else { throw .usage("--json and --output cannot be used together", "Choose one.") }
            guard options.replaces || !Files.exists(path) else {
                throw .failure(Failure(.duplicateItem, "\(path) exists already.", hint: "Replace it with --replace."))
            }
        } else if isBinary, self.encoding == .raw, !options.isJSON, KeyResult.isOnScreen {
            throw KeyResult.binary
        }
    }

    private static var isOnScreen: Bool { StandardStream.output.isTerminal }

    private static let binary = CommandFailure.usage(
        "the result is binary and would go to the terminal", "Use --hex or --base64, or --output FILE, or a pipe.")

    /// Writes bytes in the chosen encoding.
    func write(_ bytes: SecretBytes) throws(Failure) {
        let encoded = encoding == .raw ? bytes : SecretBytes(encoding.encode(bytes.copyBytes()))
        guard let path else { return Output.write(encoded) }
        let file = try NewFile(path)
        try file.write(encoded)
        try file.finish()
    }

    /// Writes a plaintext that may come from another user: it must not control the terminal that shows it.
    func write(foreign plaintext: SecretBytes) throws(CommandFailure) {
        let isOnScreen = path == nil && KeyResult.isOnScreen
        if isOnScreen, !plaintext.isText {
            throw .failure(
                Failure(
                    .invalidParameter, "The plaintext is binary and would go to the terminal.",
                    hint: "Use --output FILE, or a pipe."))
        }
        try failing { () throws(Failure) in try write(plaintext) }
        // The shell's next prompt begins on a new line.
        if isOnScreen, plaintext.withBytes({ $0.last }) != 0x0a { Output.write("\n") }
    }

    func writeJSON(_ pairs: [(String, JSON)]) { Output.write(JSON.object(pairs).line + "\n") }
}

extension SecretBytes {
    /// Whether a terminal shows the bytes as they are: text without a control character but newline and tab.
    var isText: Bool {
        withBytes { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return false }
            return text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || !$0.controlsText }
        }
    }
}
