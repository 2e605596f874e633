// SPDX-License-Identifier: Apache-2.0

public import Foundation
import LatchkeyModel

/// The last failure of each thread, which `SecCopyErrorMessageString` uses to explain a code.
enum LastFailure {
    private static let key = "latchkey.last-failure"

    /// Records the message and the hint of a failure for this thread.
    static func record(_ failure: Failure) {
        let words = failure.hint.isEmpty ? "\(failure.message)" : "\(failure.message) \(failure.hint)"
        record(words, for: failure.status.osStatus)
    }

    /// Records a code and the message that explains it as this thread's last failure.
    static func record(_ words: String, for status: OSStatus) { Thread.current.threadDictionary[key] = (status, words) }

    /// The recorded message when this thread's last failure had the given code and a message, else nil.
    static func words(for status: OSStatus) -> String? {
        guard let (last, words) = Thread.current.threadDictionary[key] as? (OSStatus, String), last == status else {
            return nil
        }
        return words.isEmpty ? nil : words
    }
}

/// Returns a sentence that explains a result code.
///
/// - Parameters:
///   - status: a result code of this module, or 100000 plus an `errno` number.
///   - reserved: ignored; pass nil.
/// - Returns: an English sentence for every `errSec...` constant, `UNIX[...]` with the text of `strerror` for 100000 to
///   100255, and `OSStatus` with the number for any other code; never nil.
///
/// Does not block and does not contact the daemon.
///
/// > Note: Linux: the sentences are Latchkey's own. For codes with many causes, such as `errSecParam`,
/// `errSecAuthFailed` and `errSecNotAvailable`, the sentence says what went wrong in the calling thread's last failed
/// call and what to do about it, if that call returned this code. Call it on the thread that got the code.
///
/// Apple: `SecCopyErrorMessageString(_:_:)`.
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
    errSecSuccess: "The call succeeded.",
    errSecUnimplemented: "Latchkey does not support this function or option.",
    errSecDiskFull: "There is no space left on the disk.",
    errSecIO: "Reading or writing a file failed.",
    errSecOpWr: "The file is open for writing already.",
    errSecParam: "A parameter or a combination of parameters is not valid.",
    errSecAllocate: "Memory or another limited resource ran out.",
    errSecUserCanceled: "You cancelled the operation.",
    errSecBadReq: "The request is malformed.",
    errSecInternalComponent: "An internal component failed.",
    errSecNotAvailable: "The keychain is not available: the daemon cannot be reached.",
    errSecReadOnly: "The keychain cannot be written.",
    errSecAuthFailed: "Authentication failed, or the item's access control cannot be satisfied.",
    errSecInvalidKeychain: "The keychain cannot be read.",
    errSecDuplicateItem: "The keychain has an item with the same primary key already.",
    errSecItemNotFound: "The keychain has no item that matches.",
    errSecBufferTooSmall: "The buffer is too small for the result.",
    errSecDataTooLarge: "The data is too large for a keychain item.",
    errSecNoSuchAttr: "Items of this class have no such attribute.",
    errSecNoSuchClass: "There is no such item class.",
    errSecInteractionNotAllowed: "The user would have to be asked, and that is not allowed or not possible.",
    errSecReadOnlyAttr: "The attribute cannot be changed.",
    errSecWrongSecVersion: "Another version of Latchkey is needed.",
    errSecDecode: "The data cannot be decoded.",
    errSecMissingEntitlement: "The program may not use that access group.",
]
