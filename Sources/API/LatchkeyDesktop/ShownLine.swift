// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension String {
    /// Maximum bytes of `asShownLine`, before the ellipsis.
    private static let shownBytes = 320

    /// A text that an app chose, as a window shows it in a line or a sentence: without line breaks, characters that turn the text
    /// around them, and other controls, and with an ellipsis in place of what is beyond 320 bytes.
    public var asShownLine: String {
        // Cut first, so that a text of any length costs no more than a line.
        let line = clipped(toBytes: Self.shownBytes)
        return line.utf8.count < utf8.count ? line.withoutControls + "…" : line.withoutControls
    }
}
