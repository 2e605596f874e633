// SPDX-License-Identifier: Apache-2.0

import KeyFormats
import LatchkeyCrypto
import LatchkeyDesktop
import LatchkeyModel
import LatchkeySystem

/// The options of `latchkey key`.
struct KeyOptions {
    fileprivate let options: Options

    var type: String? { options[.type] }
    var isForEnclave: Bool { options.has(.enclave) || isForSSH }
    var isForSSH: Bool { options.has(.ssh) }
    var hash: String? { options[.hash] }
    var usesPSS: Bool { options.has(.pss) }
    var signature: FilePath? { options[path: .signature] }
    var output: FilePath? { options[path: .output] }
    var format: String? { options[.format] }

    func encoding() throws(CommandFailure) -> ByteEncoding {
        guard !options.has(.hex) || !options.has(.base64) else {
            throw .usage("--hex and --base64 cannot be used together", "Choose one.")
        }
        return options.has(.hex) ? .hexadecimal : options.has(.base64) ? .base64 : .raw
    }

    func digest() throws(CommandFailure) -> DigestAlgorithm {
        switch hash {
        case nil, "sha256", "256": return .sha256
        case "sha384", "384": return .sha384
        case "sha512", "512": return .sha512
        case let other?: throw .usage("unknown hash \(other)", "Use sha256, sha384 or sha512.")
        }
    }
}

extension Options {
    var key: KeyOptions { KeyOptions(options: self) }
}

/// Encoding of bytes on a stream or in a file: raw, or as a line of text.
enum ByteEncoding {
    case raw, hexadecimal, base64

    func encode(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .raw: bytes
        case .hexadecimal: Array((Hexadecimal.encode(bytes) + "\n").utf8)
        case .base64: Array((Base64.standard.encode(bytes) + "\n").utf8)
        }
    }

    /// Decodes the output of `encode`; ignores blanks and line ends around it. nil for any other input.
    func decode(_ bytes: [UInt8]) -> [UInt8]? {
        guard self != .raw else { return bytes }
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
        var text = bytes[...]
        while let last = text.last, blanks.contains(last) { text = text.dropLast() }
        text = text.drop(while: blanks.contains)
        return self == .hexadecimal ? Hexadecimal.decode(text) : Base64.standard.decode(text)
    }
}
