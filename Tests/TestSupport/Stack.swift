// SPDX-License-Identifier: Apache-2.0

internal import CLatchkeyLinux

/// The address range of this thread's stack; empty when it cannot be determined.
func stackOfThisThread() -> Range<UInt> {
    var attributes = pthread_attr_t()
    guard pthread_getattr_np(pthread_self(), &attributes) == 0 else { return 0..<0 }
    defer { pthread_attr_destroy(&attributes) }
    var (base, size) = (UnsafeMutableRawPointer?.none, 0)
    guard pthread_attr_getstack(&attributes, &base, &size) == 0 else { return 0..<0 }
    let start = UInt(bitPattern: base)
    return start..<start + UInt(size)
}
