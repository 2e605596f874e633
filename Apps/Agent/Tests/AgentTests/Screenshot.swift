// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The pixels of the display.
struct Screenshot: Equatable {
    private let width: Int
    /// Red, green and blue of each pixel, row by row.
    private let bytes: [UInt8]

    /// Reads a binary PPM (netpbm, ppm(5)): "P6", width, height and 255 in text, then the pixels.
    init(_ file: URL) throws {
        let data = Array(try Data(contentsOf: file))
        var (fields, start) = ([String](), 0)
        while fields.count < 4 {
            let end = try #require(data[start...].firstIndex { $0 == 0x20 || $0 == 0x0a })
            fields.append(String(decoding: data[start..<end], as: UTF8.self))
            start = end + 1
        }
        try #require(fields[0] == "P6" && fields[3] == "255")
        width = try #require(Int(fields[1]))
        bytes = Array(data[start...])
    }

    /// The contrast ratio between the lightest and the darkest pixel in a rectangle (WCAG 2.1, "contrast ratio"),
    /// which is the contrast of its text: pixels at the edges of text are between both.
    func contrast(x: Int, y: Int, width: Int, height: Int) -> Double {
        var (lightest, darkest) = (0.0, 1.0)
        for row in y..<(y + height) {
            for column in x..<(x + width) {
                let place = (row * self.width + column) * 3
                guard bytes.indices.contains(place + 2) else { continue }
                let light = Self.luminance(bytes[place..<(place + 3)])
                (lightest, darkest) = (max(lightest, light), min(darkest, light))
            }
        }
        return (lightest + 0.05) / (darkest + 0.05)
    }

    /// WCAG 2.1, "relative luminance".
    private static func luminance(_ pixel: ArraySlice<UInt8>) -> Double {
        let linear = pixel.map { byte in
            let value = Double(byte) / 255
            return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        return zip(linear, [0.2126, 0.7152, 0.0722]).map { $0 * $1 }.reduce(0, +)
    }
}

extension Machine {
    /// Reads the pixels of the display.
    func pixels() throws -> Screenshot {
        let file = folder.appending(path: "screen.ppm")
        try tool("import", ["-window", "root", "-depth", "8", file.path])
        return try Screenshot(file)
    }

    /// Reads the pixels until they fulfil a condition, for at most 10 seconds.
    func pixels(until isRight: (Screenshot) -> Bool) throws -> Screenshot {
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            let shown = try pixels()
            if isRight(shown) || ContinuousClock.now > deadline { return shown }
        }
    }

    /// The contrast ratio of a text and its background.
    func contrast(of text: Accessible) throws -> Double {
        let frame = try #require(text.frame)
        try #require(frame.width > 100 && frame.height > 5, "\(frame)")
        // The accessibility bus reports logical units, each of which is several pixels at a larger scale.
        let scale = ProcessInfo.processInfo.environment["GDK_SCALE"].flatMap { Int($0) } ?? 1
        return try pixels().contrast(
            x: frame.x * scale, y: frame.y * scale, width: frame.width * scale, height: frame.height * scale)
    }
}
