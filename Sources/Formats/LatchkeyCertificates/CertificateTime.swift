// SPDX-License-Identifier: Apache-2.0

/// The two time types of certificates (RFC 5280, section 4.1.2.5).
package enum CertificateTime {
    case utcTime, generalizedTime

    /// Converts the contents of a time element to microseconds since 1970; nil when it is malformed.
    ///
    /// Accepts every form of X.680 that has a time zone (`Z`, `+hhmm` or `-hhmm`) and rejects local times. Seconds are
    /// optional. In a GeneralizedTime the minutes are optional too, and its last part may have a fraction, which is
    /// cut to microseconds. A two-digit year is between 1950 and 2049.
    package func microseconds(_ text: some Collection<UInt8>) -> Int64? {
        var reading = Reading(rest: Array(text)[...])
        guard var year = reading.number(digits: self == .utcTime ? 2 : 4) else { return nil }
        if self == .utcTime { year += year < 50 ? 2000 : 1900 }
        guard let month = reading.number(digits: 2), (1...12).contains(month), let day = reading.number(digits: 2),
            (1...Self.days(in: month, of: year)).contains(day),
            let hour = reading.number(digits: 2), hour < 24
        else { return nil }
        var unit: Int64 = 3_600_000_000
        var time = hour * unit
        if self == .utcTime || reading.isAtDigit {
            guard let minute = reading.number(digits: 2), minute < 60 else { return nil }
            unit = 60_000_000
            time += minute * unit
            if reading.isAtDigit {
                guard let second = reading.number(digits: 2), second < 60 else { return nil }
                unit = 1_000_000
                time += second * unit
            }
        }
        if self == .generalizedTime, reading.isAtFraction {
            guard let fraction = reading.fraction(of: unit) else { return nil }
            time += fraction
        }
        guard let offset = reading.zone(), reading.rest.isEmpty else { return nil }
        return (Self.daysSince1970(year, month, day) * 86_400_000_000) + time - offset
    }

    private static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1 January 1970 in the proleptic Gregorian calendar; `year` is 0 to 9999.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Leap days before this year, counted from year 0, which is itself a leap year.
        let leaps = year == 0 ? 0 : (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1
        var days = year * 365 + leaps - 719_528
        for earlier in 1..<month { days += Self.days(in: earlier, of: year) }
        return days + day - 1
    }

    /// The characters of a time that are not read yet.
    private struct Reading {
        var rest: ArraySlice<UInt8>

        var isAtDigit: Bool { rest.first.map(Self.isDigit) ?? false }
        var isAtFraction: Bool { rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ",") }

        private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

        mutating func number(digits count: Int) -> Int64? {
            let digits = rest.prefix(count)
            guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
            rest = rest.dropFirst(count)
            return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Reads a decimal fraction of `unit` (microseconds) and returns microseconds; ignores digits after the ninth.
        mutating func fraction(of unit: Int64) -> Int64? {
            rest = rest.dropFirst()
            let digits = rest.prefix { Self.isDigit($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            let known = digits.prefix(9)
            // No overflow: the largest unit, an hour, has 3.6e9 microseconds, times at most 1e9.
            let numerator = known.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
            return numerator * unit / known.reduce(Int64(1)) { scale, _ in scale * 10 }
        }

        /// Reads the zone and returns the offset of local time from UTC in microseconds, positive east of Greenwich.
        mutating func zone() -> Int64? {
            guard let sign = rest.popFirst() else { return nil }
            if sign == UInt8(ascii: "Z") { return 0 }
            guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), let hours = number(digits: 2), hours < 24,
                let minutes = number(digits: 2), minutes < 60
            else { return nil }
            let offset = (hours * 60 + minutes) * 60_000_000
            return sign == UInt8(ascii: "-") ? -offset : offset
        }
    }
}
