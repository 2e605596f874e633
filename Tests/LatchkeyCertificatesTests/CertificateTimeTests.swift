// SPDX-License-Identifier: Apache-2.0

import LatchkeyCertificates
import Testing

/// Every form of time (X.680) that certificates may contain, and malformed times.
@Suite struct CertificateTimeTests {
    @Test(arguments: [
        ("700101000000Z", 0), ("700101000001Z", 1), ("7001010000Z", 0), ("491231235959Z", 2_524_607_999),
        ("500101000000Z", -631_152_000), ("000229120000Z", 951_825_600), ("700101010000+0100", 0),
        ("691231233000-0030", 0), ("7001010130+0130", 0), ("991231235959Z", 946_684_799),
    ])
    func utcTimesAreParsed(text: String, seconds: Int64) {
        #expect(CertificateTime.utcTime.microseconds(text.utf8) == seconds * 1_000_000)
    }

    @Test(arguments: [
        ("19700101000000Z", 0), ("1970010100Z", 0), ("197001010001Z", 60_000_000),
        ("19700101000000.5Z", 500_000), ("19700101000000,25Z", 250_000), ("19700101000000.123456789Z", 123_456),
        ("1970010100.5Z", 1_800_000_000), ("197001010000.1Z", 6_000_000),
        ("00000101000000Z", -62_167_219_200_000_000), ("99991231235959Z", 253_402_300_799_000_000),
        ("19000301000000Z", -2_203_891_200_000_000), ("20000229000000Z", 951_782_400_000_000),
        ("19700101010000+0100", 0), ("19491231235959Z", -631_152_001_000_000),
        ("19700101000000.99999999999999999999999999Z", 999_999),
    ])
    func generalizedTimesAreParsed(text: String, microseconds: Int64) {
        #expect(CertificateTime.generalizedTime.microseconds(text.utf8) == microseconds)
    }

    @Test(arguments: [
        "", "Z", "700101000000", "701301000000Z", "700001000000Z", "700132000000Z", "700229000000Z", "700101240000Z",
        "700101006000Z", "700101000060Z", "70010100Z", "700101000000.5Z", "7001010000000Z", "700101000000ZZ",
        "700101000000+01", "700101000000+2400", "700101000000+0060", "700101000000z", "-70101000000Z",
        "7O0101000000Z", "19700101000000Z", "700101 00000Z",
    ])
    func malformedUTCTimesAreRefused(text: String) { #expect(CertificateTime.utcTime.microseconds(text.utf8) == nil) }

    @Test(arguments: [
        "", "19700101000000", "19000229000000Z", "19700101000000.Z", "19700101000000.5", "197001010Z", "197001010060Z",
        "19700101240000Z", "70010100Z", "19700101000000Z\0", "19700101000000+0100Z", "19700101000000.5.5Z",
    ])
    func malformedGeneralizedTimesAreRefused(text: String) {
        #expect(CertificateTime.generalizedTime.microseconds(text.utf8) == nil)
    }

    @Test func consecutiveDaysDifferByOneDay() throws {
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        var expected: Int64 = -62_167_219_200_000_000
        for year in 0...9999 {
            for (month, length) in lengths.enumerated() {
                let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
                let text = digits(year, 4) + digits(month + 1, 2) + digits(1, 2) + [0x30, 0x30, 0x5a]
                try #require(CertificateTime.generalizedTime.microseconds(text) == expected, "\(year)-\(month + 1)")
                expected += Int64(length + (month == 1 && isLeap ? 1 : 0)) * 86_400_000_000
            }
        }
    }

    private func digits(_ number: Int, _ count: Int) -> [UInt8] {
        let text = Array(String(number).utf8)
        return [UInt8](repeating: 0x30, count: count - text.count) + text
    }
}
