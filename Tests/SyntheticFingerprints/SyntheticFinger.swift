// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A finger that never existed: ridges that follow a field of directions around loops and deltas.
///
/// Noise is filtered again and again by a wave along the local direction (Gabor), until ridges remain that end and fork
/// where the noise decided. Direction and distance of the ridges are disturbed for each finger: without that, different
/// fingers are so similar that a matcher confuses them.
package struct SyntheticFinger: Sendable {
    private static let (width, height) = (340, 440)
    private static let directions = 24
    private static let stretches: [Float] = [0.86, 1, 1.16]
    private static let rounds = 9

    private let ridges: Raster

    /// Makes the finger of a seed.
    package init(seed: UInt64) {
        var random = Noise(seed: seed)
        let (width, height) = (Self.width, Self.height)
        let period = random.uniform(7.8...11)
        let filters = Self.filterNumbers(&random)
        let bank = (0..<Self.directions * Self.stretches.count).map { number in
            Filter(
                direction: Float(number / Self.stretches.count) * .pi / Float(Self.directions),
                period: period * Self.stretches[number % Self.stretches.count])
        }
        var picture = Raster.noise(width, height, &random)
        for _ in 0..<Self.rounds {
            let padded = Padded(picture)
            var next = Raster(width: width, height: height)
            padded.values.withUnsafeBytes { source in
                for y in 0..<height {
                    for x in 0..<width {
                        next.values[y * width + x] = bank[filters[y * width + x]].apply(source, padded.width, x, y)
                    }
                }
            }
            let power = next.values.reduce(0) { $0 + $1 * $1 } / Float(next.values.count)
            let scale = 1.6 / (power.squareRoot() + 1e-9)
            for index in next.values.indices { next.values[index] = tanh(next.values[index] * scale) }
            picture = next
        }
        ridges = picture
    }

    /// The number of the filter for each pixel: the direction and the distance of the ridges there.
    private static func filterNumbers(_ random: inout Noise) -> [Int] {
        let (w, h) = (Float(width), Float(height))
        let core = (x: w / 2 + random.uniform(-35...35), y: h * 0.45 + random.uniform(-60...60))
        var (loops, deltas): ([(x: Float, y: Float)], [(x: Float, y: Float)]) = ([core], [])
        switch random.uniform(0...3) {
        case ..<1:
            // A whorl.
            loops.append((core.x + random.uniform(-25...25), core.y + random.uniform(30...80)))
            deltas = [0.1, 0.9].map { (w * $0 + random.uniform(-30...30), h * random.uniform(0.75...1)) }
        case ..<2:
            // A loop to one side.
            let side: Float = random.flag() ? 0.15 : 0.85
            deltas = [(w * side + random.uniform(-30...30), h * random.uniform(0.7...1))]
        default:
            // An arch has neither.
            loops = []
        }
        let tilt = random.uniform(-0.4...0.4)
        let coarse = Raster.waves(width, height, scale: 45, &random)
        let fine = Raster.waves(width, height, scale: 18, &random)
        let distance = Raster.waves(width, height, scale: 40, &random)
        return (0..<width * height).map { index in
            let (x, y) = (Float(index % width), Float(index / width))
            var angle = tilt + 1.2 * coarse.values[index] + 0.5 * fine.values[index]
            for loop in loops { angle += 0.5 * atan2(y - loop.y, x - loop.x) }
            for delta in deltas { angle -= 0.5 * atan2(y - delta.y, x - delta.x) }
            let turn = angle / .pi - (angle / .pi).rounded(.down)
            let direction = Int((turn * Float(directions)).rounded()) % directions
            let wanted = 1 + 0.3 * distance.values[index]
            let stretch = stretches.indices.min { abs(stretches[$0] - wanted) < abs(stretches[$1] - wanted) } ?? 0
            return direction * stretches.count + stretch
        }
    }

    /// A picture with zeros around it, so that a filter needs no comparisons at its edges.
    private struct Padded {
        static let edge = 16
        let width: Int
        var values: [Float]

        init(_ picture: Raster) {
            width = picture.width + 2 * Self.edge
            values = [Float](repeating: 0, count: width * (picture.height + 2 * Self.edge))
            for y in 0..<picture.height {
                let row = (y + Self.edge) * width + Self.edge
                values.replaceSubrange(
                    row..<row + picture.width, with: picture.values[y * picture.width..<(y + 1) * picture.width])
            }
        }
    }

    /// A wave of one direction and period under a bell.
    private struct Filter {
        private let radius: Int
        /// Rows of weights in groups of eight; the last group of a row ends with zeros.
        private let weights: [SIMD8<Float>]
        private let groups: Int

        init(direction: Float, period: Float) {
            // At most `Padded.edge`, less the zeros of the last group.
            let radius = Int(period * 1.2)
            let sigma = period * 0.42
            let side = -radius...radius
            let rows = side.map { y in
                side.map { x in
                    let across = -Float(x) * sin(direction) + Float(y) * cos(direction)
                    return exp(-Float(x * x + y * y) / (2 * sigma * sigma)) * cos(2 * .pi * across / period)
                }
            }
            let mean = rows.joined().reduce(0, +) / Float(side.count * side.count)
            let groups = (side.count + 7) / 8
            self.radius = radius
            self.groups = groups
            weights = rows.flatMap { row in
                (0..<groups).map { group in
                    var eight = SIMD8<Float>()
                    for lane in 0..<8 where group * 8 + lane < row.count { eight[lane] = row[group * 8 + lane] - mean }
                    return eight
                }
            }
        }

        func apply(_ source: UnsafeRawBufferPointer, _ width: Int, _ x: Int, _ y: Int) -> Float {
            var sum = SIMD8<Float>()
            var place = (y + Padded.edge - radius) * width + x + Padded.edge - radius
            var number = 0
            weights.withUnsafeBufferPointer { weights in
                while number < weights.count {
                    for group in 0..<groups {
                        let pixels = source.loadUnaligned(
                            fromByteOffset: (place + group * 8) * 4, as: SIMD8<Float>.self)
                        sum += pixels * weights[number + group]
                    }
                    number += groups
                    place += width
                }
            }
            return sum.sum()
        }
    }

    /// How a finger lies on the reader.
    package struct Pose: Sendable {
        package var turn: Float
        package var x: Float
        package var y: Float
        package var pressure: Float

        /// The pose of a person who takes some care.
        package static func usual(_ random: inout Noise) -> Pose {
            Pose(
                turn: random.uniform(-0.12...0.12), x: random.uniform(-9...9), y: random.uniform(-9...9),
                pressure: random.uniform(-0.05...0.05))
        }
    }

    /// A picture of the finger: 300 by 400 pixels of one byte, ridges dark, skin stretched, and noise.
    package func impression(seed: UInt64) -> Impression {
        var random = Noise(seed: seed)
        let pose = Pose.usual(&random)
        let (width, height) = (Impression.width, Impression.height)
        let stretchX = Raster.waves(width, height, scale: 40, &random)
        let stretchY = Raster.waves(width, height, scale: 40, &random)
        let grain = Raster.noise(width, height, &random).blurred(1.2)
        let (sine, cosine) = (sin(pose.turn), cos(pose.turn))
        let picture = Raster(width: width, height: height) { x, y in
            let index = y * width + x
            let (fromX, fromY) = (Float(x) - Float(width) / 2, Float(y) - Float(height) / 2)
            let sourceX = cosine * fromX - sine * fromY + Float(Self.width) / 2 + pose.x + 2 * stretchX.values[index]
            let sourceY =
                sine * fromX + cosine * fromY + Float(Self.height) * 0.48 + pose.y + 2 * stretchY.values[index]
            let ridge = tanh(1.8 * (ridges.value(sourceX, sourceY) + pose.pressure + grain.values[index] * 0.36))
            let (alongX, alongY) = (fromX / (Float(width) * 0.47), fromY / (Float(height) * 0.48))
            let inside = 1 / (1 + exp((alongX * alongX + alongY * alongY - 1) * 18))
            return 1 - (0.5 + 0.46 * ridge) * inside
        }
        return Impression(bytes: picture.values.map { UInt8(min(max($0 * 255, 0), 255)) })
    }
}

/// A grey picture for a reader.
package struct Impression: Sendable {
    package static let width = 300
    package static let height = 400
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// A picture without a finger.
    package static let blank = Impression(bytes: [UInt8](repeating: 255, count: width * height))
}
