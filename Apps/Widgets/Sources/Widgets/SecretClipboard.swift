// SPDX-License-Identifier: Apache-2.0

import CAdwaita
import Glibc

/// A secret on the clipboard, which is removed after a time.
///
/// The bytes are in pages of this process that are not swapped out and are wiped; GDK's content provider hands them to the
/// program that pastes, and no Swift or C string is made of them. GLib's buffer of the transfer is not wiped. While they are
/// there, each program of the session may read them: that is what a clipboard is for.
@MainActor public enum SecretClipboard {
    /// A page of its own for one secret.
    private final class Page {
        let start: UnsafeMutableRawPointer
        let byteCount: Int

        init?(_ bytes: UnsafeRawBufferPointer) {
            guard let source = bytes.baseAddress, !bytes.isEmpty else { return nil }
            let page = mmap(nil, bytes.count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            guard let page, page != MAP_FAILED else { return nil }
            // Without these the secret is as safe as the rest of the process.
            _ = mlock(page, bytes.count)
            _ = madvise(page, bytes.count, MADV_DONTDUMP)
            page.copyMemory(from: source, byteCount: bytes.count)
            (start, byteCount) = (page, bytes.count)
        }

        deinit {
            explicit_bzero(start, byteCount)
            munmap(start, byteCount)
        }
    }

    /// Text, and the hint by which clipboard managers leave out of their history what a password manager copied.
    private static let types = ["text/plain;charset=utf-8", "text/plain"]
    private static let hint = (type: "x-kde-passwordManagerHint", text: "secret")

    /// Replaces the contents of the clipboard with a secret, and removes it after a time unless something else was copied
    /// meanwhile.
    ///
    /// - Parameter secret: text in UTF-8, copied.
    /// - Returns: false if there is no display or no memory.
    public static func put(_ secret: UnsafeRawBufferPointer, seconds: Int) -> Bool {
        guard let display = gdk_display_get_default(), let page = Page(secret),
            let bytes = g_bytes_new_with_free_func(
                page.start, gsize(page.byteCount),
                { page in if let page { Unmanaged<Page>.fromOpaque(page).release() } },
                Unmanaged.passRetained(page).toOpaque()),
            let mark = g_bytes_new(hint.text, gsize(hint.text.utf8.count))
        else { return false }
        // The union takes the references.
        var providers =
            types.map { gdk_content_provider_new_for_bytes($0, bytes) }
            + [gdk_content_provider_new_for_bytes(hint.type, mark)]
        g_bytes_unref(bytes)
        g_bytes_unref(mark)
        guard let content = gdk_content_provider_new_union(&providers, gsize(providers.count)) else { return false }
        let clipboard = gdk_display_get_clipboard(display)
        gdk_clipboard_set_content(clipboard, content)
        _ = MainLoop.after(milliseconds: UInt32(clamping: seconds) * 1000) {
            if gdk_clipboard_get_content(clipboard) == content { gdk_clipboard_set_content(clipboard, nil) }
            // Held until now, so that no later content has its address.
            g_object_unref(UnsafeMutableRawPointer(content))
        }
        return true
    }
}
