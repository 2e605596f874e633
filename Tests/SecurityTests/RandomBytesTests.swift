// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

/// `SecRandomCopyBytes`.
@Suite struct RandomBytesTests {
    @Test(arguments: [1, 16, 33, 4096])
    func everyByteIsFilled_OT02(count: Int) {
        // A byte that is zero in all 24 runs was not written; the probability of chance is 2^-192.
        var seen = [UInt8](repeating: 0, count: count)
        for _ in 0..<24 {
            var bytes = [UInt8](repeating: 0, count: count)
            #expect(SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes) == errSecSuccess)
            for index in bytes.indices { seen[index] |= bytes[index] }
        }
        #expect(!seen.contains(0))
    }

    @Test func twoCallsDiffer_OT02() {
        var (one, two) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
        #expect(SecRandomCopyBytes(nil, 32, &one) == 0)
        #expect(SecRandomCopyBytes(nil, 32, &two) == 0)
        #expect(one != two)
    }

    @Test func nothingBeyondTheCountIsWritten_OT02() {
        var bytes = [UInt8](repeating: 7, count: 48)
        for _ in 0..<8 { #expect(SecRandomCopyBytes(kSecRandomDefault, 32, &bytes) == errSecSuccess) }
        #expect(bytes[32...].allSatisfy { $0 == 7 })
    }

    @Test func zeroByteCountSucceeds_OT02() {
        var bytes: [UInt8] = [7]
        #expect(SecRandomCopyBytes(kSecRandomDefault, 0, &bytes) == errSecSuccess)
        #expect(bytes == [7])
    }

    @Test func negativeByteCountIsRejected() {
        var bytes: [UInt8] = [7]
        #expect(SecRandomCopyBytes(kSecRandomDefault, -1, &bytes) == errSecParam)
        #expect(bytes == [7])
    }

    @Test func bytesOfDataAreFilled_OT02() {
        var data = Data(count: 32)
        let status = data.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, 32, $0.baseAddress!) }
        #expect(status == errSecSuccess)
        #expect(data != Data(count: 32))
    }
}
