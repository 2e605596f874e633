// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport

/// A picture of numbers.
package struct Raster: Sendable {
    package let width: Int
    package let height: Int
    package var values: [Float]

    package init(width: Int, height: Int, _ value: (_ x: Int, _ y: Int) -> Float = { _, _ in 0 }) {
        self.width = width
        self.height = height
        values = []
        values.reserveCapacity(width * height)
        for y in 0..<height { for x in 0..<width { values.append(value(x, y)) } }
    }

    /// Normally distributed noise.
    static func noise(_ width: Int, _ height: Int, _ random: inout Noise) -> Raster {
        Raster(width: width, height: height) { _, _ in random.normal() }
    }

    /// Noise that changes over about `scale` pixels, between -1 and 1.
    static func waves(_ width: Int, _ height: Int, scale: Float, _ random: inout Noise) -> Raster {
        var waves = noise(width, height, &random).blurred(scale)
        let most = waves.values.reduce(0) { max($0, abs($1)) } + 1e-9
        for index in waves.values.indices { waves.values[index] /= most }
        return waves
    }

    /// Blurs by three passes of a moving average, which is close to a Gaussian.
    func blurred(_ sigma: Float) -> Raster {
        let radius = max(1, Int(((4 * sigma * sigma + 1).squareRoot() - 1) / 2))
        var result = self
        for _ in 0..<3 { result = result.averaged(radius).transposed().averaged(radius).transposed() }
        return result
    }

    /// The mean of the values at most `radius` to the left and right.
    private func averaged(_ radius: Int) -> Raster {
        var result = self
        for y in 0..<height {
            let row = y * width
            var sum: Float = 0
            for x in -radius...radius { sum += values[row + min(max(x, 0), width - 1)] }
            for x in 0..<width {
                result.values[row + x] = sum / Float(2 * radius + 1)
                sum += values[row + min(x + radius + 1, width - 1)] - values[row + max(x - radius, 0)]
            }
        }
        return result
    }

    private func transposed() -> Raster { Raster(width: height, height: width) { values[$0 * width + $1] } }

    /// The value at a place between pixels; 0 outside.
    func value(_ x: Float, _ y: Float) -> Float {
        let (left, top) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
        guard left >= 0, top >= 0, left + 1 < width, top + 1 < height else { return 0 }
        let (right, down) = (x - Float(left), y - Float(top))
        let index = top * width + left
        let above = values[index] * (1 - right) + values[index + 1] * right
        let below = values[index + width] * (1 - right) + values[index + width + 1] * right
        return above * (1 - down) + below * down
    }
}

/// Reproducible random numbers.
package struct Noise: Sendable {
    private var generator: SeededGenerator

    package init(seed: UInt64) { generator = SeededGenerator(seed: seed &* 0x9e37_79b9_7f4a_7c15 &+ 1) }

    mutating func flag() -> Bool { Bool.random(using: &generator) }

    mutating func uniform(_ range: ClosedRange<Float>) -> Float { Float.random(in: range, using: &generator) }

    /// A normally distributed number (Box and Muller).
    mutating func normal() -> Float {
        let radius = (-2 * log(uniform(1e-7...1))).squareRoot()
        return radius * cos(2 * .pi * uniform(0...1))
    }
}
