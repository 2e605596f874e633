// SPDX-License-Identifier: Apache-2.0

import CQREncode
import Glibc

/// A QR code (ISO/IEC 18004), encoded by libqrencode. This is the only code that calls it.
package struct QRCode {
    /// The modules, row by row from the top left; true is dark. It has no quiet zone.
    package let modules: [[Bool]]

    /// Encodes a text with error correction of level M; nil if the text is empty, has a zero byte, or is too long.
    package init?(_ text: String) {
        guard !text.isEmpty, !text.utf8.contains(0) else { return nil }
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { return nil }
        let width = Int(code.pointee.width)
        defer {
            // The modules are the text, and the library frees them as they are.
            explicit_bzero(code.pointee.data, width * width)
            QRcode_free(code)
        }
        guard width > 0, let data = code.pointee.data else { return nil }
        modules = (0..<width).map { row in (0..<width).map { data[row * width + $0] & 1 == 1 } }
    }
}
