// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel

/// Returns the Boolean that a value of a dictionary stands for: a Boolean, or one of the numbers 0 and 1; nil for any
/// other value.
func booleanValue(_ value: Any) -> Bool? {
    guard let number = value as? NSNumber, isBoolean(number) || [0, 1].contains(number.doubleValue) else { return nil }
    return number.boolValue
}

/// Returns the Boolean that the value of a key of a query stands for; throws `invalidParameter` for any other value.
func booleanValue(_ value: Any, of name: String) throws(Failure) -> Bool {
    guard let flag = booleanValue(value) else { throw ParsedQuery.refusal("\(name) takes a Boolean.") }
    return flag
}

/// The string that a key or a value of a dictionary is; nil for any other object.
///
/// Dictionaries hold strings as `NSString`. The cast to that class takes a fraction of the time of a cast to `String`, for
/// which the runtime searches a conformance for bridging.
func stringValue(_ value: Any) -> String? { (value as? NSString).map { $0 as String } }
