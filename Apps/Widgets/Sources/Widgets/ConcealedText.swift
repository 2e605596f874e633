// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// The characters of a password field, as UTF-8 that ends with a zero byte. They are in pages of their own, which are not
/// swapped out as far as the system permits it, and in no core file; what is deleted is wiped. Only the main
/// thread, on which GTK runs, uses it.
final class ConcealedText {
    private static let pageBytes = 4096
    /// The most bytes of a text.
    static let capacity = pageBytes - 1
    private let start: UnsafeMutableRawPointer
    private(set) var byteCount = 0
    /// The number of characters.
    private(set) var count = 0

    init() {
        let page = mmap(nil, Self.pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // As GLib does when it has no memory. The daemon then reports that the prompt was lost.
        guard let page, page != MAP_FAILED else { fatalError("There is no memory for a password field.") }
        start = page
        // Without these the text is as safe as the rest of the process.
        _ = mlock(start, Self.pageBytes)
        _ = madvise(start, Self.pageBytes, MADV_DONTDUMP)
    }

    deinit {
        explicit_bzero(start, Self.pageBytes)
        munmap(start, Self.pageBytes)
    }

    var characters: UnsafePointer<CChar> { UnsafePointer(start.assumingMemoryBound(to: CChar.self)) }

    /// The address of a character, or of the end.
    private func address(_ position: Int) -> UnsafeMutableRawPointer {
        var place = start
        for _ in 0..<min(position, count) {
            place += Int(latchkey_character_length(place.assumingMemoryBound(to: CChar.self)))
        }
        return place
    }

    /// Inserts the first characters of a text in UTF-8, as many as fit.
    ///
    /// - Returns: how many were inserted.
    func insert(_ text: UnsafePointer<CChar>, _ number: Int, at position: Int) -> Int {
        var (bytes, inserted) = (0, 0)
        while inserted < number, text[bytes] != 0 {
            let next = bytes + Int(latchkey_character_length(text + bytes))
            guard byteCount + next <= Self.capacity else { break }
            (bytes, inserted) = (next, inserted + 1)
        }
        let place = address(position)
        memmove(place + bytes, place, start + byteCount - place)
        memcpy(place, text, bytes)
        (byteCount, count) = (byteCount + bytes, count + inserted)
        return inserted
    }

    /// Deletes and wipes characters that exist.
    func delete(_ number: Int, at position: Int) {
        let first = address(position)
        let next = address(position + number)
        memmove(first, next, start + byteCount - next)
        let deleted = next - first
        byteCount -= deleted
        explicit_bzero(start + byteCount, deleted)
        count -= max(0, min(number, count - position))
    }
}
