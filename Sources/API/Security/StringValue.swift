// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The string that a key or a value of a dictionary is; nil for any other object.
///
/// Dictionaries hold strings as `NSString`. The cast to that class takes a fraction of the time of a cast to `String`, for
/// which the runtime searches a conformance for bridging.
func stringValue(_ value: Any) -> String? { (value as? NSString).map { $0 as String } }
