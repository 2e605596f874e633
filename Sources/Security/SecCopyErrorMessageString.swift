// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyModel

/// The last failure of each thread, so that a code can be explained with what really happened.
enum LastFailure {
    private static let key = "latchkey.last-failure"

    /// Keeps the words of a failure for this thread.
    static func keep(_ failure: Failure) {
        let words = failure.hint.isEmpty ? failure.message : "\(failure.message) \(failure.hint)"
        keep(words, for: failure.status.osStatus)
    }

    /// Keeps the words for a code that no failure stands for.
    static func keep(_ words: String, for status: OSStatus) { Thread.current.threadDictionary[key] = (status, words) }

    /// The words for a code, when it was this thread's last failure and says more than the code.
    static func words(for status: OSStatus) -> String? {
        guard let (last, words) = Thread.current.threadDictionary[key] as? (OSStatus, String), last == status else {
            return nil
        }
        return words.isEmpty ? nil : words
    }
}

/// A sentence for a result code. Apple: `SecCopyErrorMessageString`.
///
/// - Parameters:
///   - status: the code.
///   - reserved: ignored.
/// - Returns: our own sentence for a code that Latchkey returns, "OSStatus N" for any other.
///
/// > Note: Linux: for codes that many causes share, such as `errSecParam`, `errSecAuthFailed` and `errSecNotAvailable`, the
/// sentence says what this thread's last call that failed with that code met and what to do about it.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    let explained: Set<OSStatus> = [
        errSecNotAvailable, errSecInvalidKeychain, errSecWrongSecVersion, errSecReadOnly, errSecDiskFull,
        errSecInternalComponent, errSecAllocate, errSecUnimplemented, errSecInternal, errSecParam, errSecAuthFailed,
        errSecInteractionNotAllowed, errSecNoSuchAttr, errSecNoSuchClass, errSecMissingEntitlement, errSecDataTooLarge,
    ]
    if explained.contains(status), let words = LastFailure.words(for: status) { return words as NSString }
    if (100_000...100_255).contains(status) {
        return "UNIX[\(String(cString: strerror(status - 100_000)))]" as NSString
    }
    return (sentences[status] ?? otherSentences[status] ?? "OSStatus \(status)") as NSString
}

private let sentences: [OSStatus: String] = [
    errSecSuccess: "Nothing went wrong.",
    errSecUnimplemented: "Latchkey does not support this function or option.",
    errSecDiskFull: "There is no space left on the disk.",
    errSecIO: "Reading or writing failed.",
    errSecOpWr: "The file is open for writing already.",
    errSecParam: "A parameter or a combination of parameters is not valid.",
    errSecAllocate: "Memory or another limited resource ran out.",
    errSecUserCanceled: "You cancelled the operation.",
    errSecBadReq: "The request is malformed.",
    errSecInternalComponent: "An internal part failed.",
    errSecNotAvailable: "The keychain is not available: the daemon cannot be reached.",
    errSecReadOnly: "The keychain cannot be written.",
    errSecAuthFailed: "Authentication failed, or the item cannot be authenticated for.",
    errSecInvalidKeychain: "The keychain cannot be read.",
    errSecDuplicateItem: "The keychain has an item with the same primary key already.",
    errSecItemNotFound: "The keychain has no item that matches.",
    errSecBufferTooSmall: "There is not enough room for the result.",
    errSecDataTooLarge: "The data is too large for a keychain item.",
    errSecNoSuchAttr: "Items of this class have no such attribute.",
    errSecNoSuchClass: "There is no such class of items.",
    errSecInteractionNotAllowed: "A person would have to be asked, and that is not allowed or not possible.",
    errSecReadOnlyAttr: "The attribute cannot be changed.",
    errSecWrongSecVersion: "Another version of Latchkey is needed.",
    errSecDecode: "The data cannot be decoded.",
    errSecMissingEntitlement: "The program may not use that access group.",
]
