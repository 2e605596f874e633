// SPDX-License-Identifier: Apache-2.0

/// Secret bytes: overwritten when the last reference is gone, and without a description.
package final class SecretBytes: @unchecked Sendable {
    // The memory is written by the initialiser only and freed by `deinit`, so any thread can read it.
    private let memory: UnsafeMutableRawBufferPointer

    /// The number of bytes.
    package var count: Int { memory.count }

    /// Copies the bytes and overwrites the array that was given.
    package init(taking bytes: inout [UInt8]) {
        memory = .allocate(byteCount: bytes.count, alignment: 1)
        memory.copyBytes(from: bytes)
        LibCrypto.overwrite(&bytes)
    }

    deinit {
        LibCrypto.overwrite(memory)
        memory.deallocate()
    }

    /// Calls a function with the bytes; the pointer is valid until it returns.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        body(UnsafeRawBufferPointer(memory))
    }
}
