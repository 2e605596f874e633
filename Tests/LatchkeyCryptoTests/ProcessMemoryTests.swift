// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// The search that the residue tests stand on finds what is there, whatever other threads do with memory meanwhile.
@Suite struct ProcessMemoryTests {
    private let page = Int(getpagesize())
    private let needle = SecretTrace.makeSecret().withBytes { bytes in
        let needle = WipedMemory(byteCount: bytes.count)
        needle.base.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
        return needle
    }

    @Test func whatIsBeyondAPageThatWasGivenBackIsFound() throws {
        let pages = try #require(mapped(pages: 3))
        defer { munmap(pages, 3 * page) }
        (pages + 2 * page).copyMemory(from: needle.base, byteCount: needle.byteCount)
        let memory = try ProcessMemory()
        let regions = memory.writableRegions()
        #expect(memory.count(of: [needle], in: regions) == 1)
        munmap(pages + page, page)
        #expect(memory.count(of: [needle], in: regions) == 1)
    }

    @Test func whatIsBesideTheStackIsFoundAndWhatIsOnItIsNot() throws {
        let stackSize = 1 << 20
        let pages = try #require(mapped(pages: stackSize / page + 1))
        defer { munmap(pages, stackSize + page) }
        // The kernel lists the page above the stack and the stack as one.
        (pages + stackSize).copyMemory(from: needle.base, byteCount: needle.byteCount)
        pages.copyMemory(from: needle.base, byteCount: needle.byteCount)

        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        #expect(pthread_attr_setstack(&attributes, pages, stackSize) == 0)
        let search = Search(needle)
        var thread = pthread_t()
        let created = pthread_create(
            &thread, &attributes,
            { argument in
                let search = Unmanaged<Search>.fromOpaque(argument!).takeUnretainedValue()
                search.count = try? ProcessMemory().count(of: [search.needle])
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

    /// What the other thread looks for, and what it found.
    private final class Search {
        let needle: WipedMemory
        var count: Int?
        init(_ needle: WipedMemory) { self.needle = needle }
    }
}
