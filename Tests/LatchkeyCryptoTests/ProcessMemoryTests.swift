// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The memory search that the residue tests use finds existing bytes while other threads allocate and free memory.
@Suite struct ProcessMemoryTests {
    private let page = Int(getpagesize())

    @Test func bytesAfterAnUnmappedPageAreFound() throws {
        let pages = try #require(mapped(pages: 3))
        // The middle page is unmapped below, and may belong to another thread by then.
        defer { for index in [0, 2] { munmap(pages + index * page, page) } }
        let needle = makeNeedle()
        (pages + 2 * page).copyMemory(from: needle.base, byteCount: needle.byteCount)
        let memory = try ProcessMemory()
        let regions = memory.writableRegions()
        #expect(memory.count(of: [needle], in: regions) == 1)
        munmap(pages + page, page)
        #expect(memory.count(of: [needle], in: regions) == 1)
    }

    @Test func bytesBesideTheStackAreFoundAndBytesOnItAreNot() throws {
        let stackSize = 1 << 20
        // The kernel lists the page above the stack and the stack as one region.
        let stack = try #require(mapped(pages: stackSize / page + 1))
        defer { munmap(stack, stackSize + page) }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        #expect(pthread_attr_setstack(&attributes, stack, stackSize) == 0)
        let search = Search(places: [stack, stack + stackSize])
        var thread = pthread_t()
        let created = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Search>.fromOpaque(argument).takeUnretainedValue().run()
                return nil
            }, Unmanaged.passUnretained(search).toOpaque())
        try #require(created == 0)
        pthread_join(thread, nil)
        #expect(search.count == 1)
    }

    private func mapped(pages count: Int) -> UnsafeMutableRawPointer? {
        let memory = mmap(nil, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return memory == MAP_FAILED ? nil : memory
    }

    /// Copies a needle to some places and searches for it in the same thread, because registers are spilled to its
    /// stack.
    private final class Search {
        private let places: [UnsafeMutableRawPointer]
        var count: Int?

        init(places: [UnsafeMutableRawPointer]) { self.places = places }

        func run() {
            let needle = makeNeedle()
            for place in places { place.copyMemory(from: needle.base, byteCount: needle.byteCount) }
            count = try? ProcessMemory().count(of: [needle])
        }
    }
}

/// Bytes that occur nowhere else in memory.
private func makeNeedle() -> WipedMemory {
    SecretTrace.makeSecret().withBytes { bytes in
        let needle = WipedMemory(byteCount: bytes.count)
        UnsafeMutableRawBufferPointer(start: needle.base, count: needle.byteCount).copyMemory(from: bytes)
        return needle
    }
}
