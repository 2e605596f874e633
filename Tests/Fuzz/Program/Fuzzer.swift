// SPDX-License-Identifier: Apache-2.0
//
// The program that libFuzzer drives. `scripts/fuzz` builds it with the address sanitizer.

import FuzzProperties
import Glibc

/// The property that LATCHKEY_FUZZER names.
private let property: FuzzProperty = {
    let name = getenv("LATCHKEY_FUZZER").map { String(cString: $0) } ?? ""
    guard let property = FuzzProperty(rawValue: name) else { fatalError("LATCHKEY_FUZZER names no fuzzer: \(name)") }
    return property
}()

/// Called by libFuzzer with each input; `fatalError` ends the process, which libFuzzer reports as a finding and stores
/// with its input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    if let complaint = property.complaint(about: Array(UnsafeBufferPointer(start: start, count: count))) {
        fatalError(complaint)
    }
    return 0
}
