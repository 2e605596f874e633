// SPDX-License-Identifier: Apache-2.0

import Glibc
import SyntheticFingerprints

/// Writes pictures of a finger that never existed, each as it lies on the reader another time, for tests in other
/// languages. Each picture has the form in which libfprint's driver virtual_image takes it: width and height, four bytes
/// each in the order of the machine, and the pixels.
///
/// usage: synthetic-finger FINGER COUNT
@main
enum Main {
    static func main() {
        let numbers = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
        guard numbers.count == 2 else { exit(EX_USAGE) }
        let finger = SyntheticFinger(seed: numbers[0])
        for number in 0..<numbers[1] {
            let size = [Int32(Impression.width), Int32(Impression.height)].flatMap { number in
                withUnsafeBytes(of: number) { Array($0) }
            }
            var rest = (size + finger.impression(seed: numbers[0] * 100 + number).bytes)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
                guard count > 0 else { exit(EX_IOERR) }
                rest = rest.dropFirst(count)
            }
        }
    }
}
