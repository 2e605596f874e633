// SPDX-License-Identifier: Apache-2.0

import CPAM
import Glibc
import LatchkeyModel
import LatchkeyWire

/// Calls libpam. The conversation passes every message on and returns only what it received as an answer.
enum Verification {
    /// Authenticates an account by a service, and returns the last call of libpam and its value.
    static func run(_ account: AccountName, _ service: PAMService, _ channel: PAMChannel) -> (PAMMessage.Phase, CInt) {
        var conversation = pam_conv(conv: converse, appdata_ptr: Unmanaged.passUnretained(channel).toOpaque())
        var handle: OpaquePointer?
        let started = pam_start(service.name, account.text, &conversation, &handle)
        guard started == PAM_SUCCESS, let handle else { return (.start, started) }
        var code = pam_authenticate(handle, CInt(PAM_DISALLOW_NULL_AUTHTOK))
        var phase = PAMMessage.Phase.authentication
        if code == PAM_SUCCESS, !isUser(account, of: handle) { code = PAM_USER_UNKNOWN }
        if code == PAM_SUCCESS {
            phase = .account
            code = pam_acct_mgmt(handle, CInt(PAM_DISALLOW_NULL_AUTHTOK))
            let isAccepted = code == PAM_SUCCESS || code == PAM_NEW_AUTHTOK_REQD
            if isAccepted, !isUser(account, of: handle) { code = PAM_USER_UNKNOWN }
        }
        // pam_unix erases its copy of the password here.
        pam_end(handle, code)
        withExtendedLifetime(channel) {}
        return (phase, code)
    }

    /// Whether the transaction is still about the account. A module may replace the name (pam_set_item(3)), as those do that
    /// map names to accounts; the modules after it have then verified another one.
    private static func isUser(_ account: AccountName, of handle: OpaquePointer) -> Bool {
        var item: UnsafeRawPointer?
        guard pam_get_item(handle, CInt(PAM_USER), &item) == PAM_SUCCESS, let item else { return false }
        return strcmp(item.assumingMemoryBound(to: CChar.self), account.text) == 0
    }

    /// pam_conv(3). libpam frees the answers with free(3).
    private static let converse:
        @convention(c) (
            CInt, UnsafeMutablePointer<UnsafePointer<pam_message>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<pam_response>?>?, UnsafeMutableRawPointer?
        ) -> CInt = { count, messages, responses, context in
            guard count > 0, count <= PAM_MAX_NUM_MSG, let messages, let context else { return PAM_CONV_ERR }
            let channel = Unmanaged<PAMChannel>.fromOpaque(context).takeUnretainedValue()
            let size = MemoryLayout<pam_response>.stride
            guard let memory = calloc(Int(count), size) else { return PAM_BUF_ERR }
            let answers = memory.bindMemory(to: pam_response.self, capacity: Int(count))
            for index in 0..<Int(count) {
                guard let message = messages[index]?.pointee, reply(message, channel, &answers[index]) else {
                    discard(answers, Int(count))
                    return PAM_CONV_ERR
                }
            }
            // Some modules pass no place for answers with a message that needs none.
            if let responses { responses.pointee = answers } else { discard(answers, Int(count)) }
            return PAM_SUCCESS
        }

    /// Passes on one message; false if it is a question that is not answered.
    private static func reply(_ message: pam_message, _ channel: PAMChannel, _ answer: inout pam_response) -> Bool {
        let (style, isQuestion): (PAMMessage.Style, Bool) =
            switch message.msg_style {
            case PAM_PROMPT_ECHO_OFF: (.hiddenQuestion, true)
            case PAM_PROMPT_ECHO_ON: (.shownQuestion, true)
            case PAM_TEXT_INFO: (.information, false)
            case PAM_ERROR_MSG: (.error, false)
            default: (.other, true)
            }
        channel.send(.said(style, text(message.msg)))
        guard isQuestion else { return true }
        guard case .answer(let secret)? = channel.receive() else { return false }
        guard let copy = calloc(secret.count + 1, 1) else { return false }
        secret.withBytes { copy.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(copy), byteCount: $0.count) }
        answer.resp = copy.assumingMemoryBound(to: CChar.self)
        return true
    }

    /// The text of a message in UTF-8, cut to its limit.
    private static func text(_ message: UnsafePointer<CChar>?) -> String {
        guard let message else { return "" }
        let count = strnlen(message, PAMMessage.textBytes)
        let bytes = UnsafeBufferPointer(start: message, count: count).map { UInt8(bitPattern: $0) }
        var text = String(decoding: bytes, as: UTF8.self)
        // A byte that is not UTF-8 becomes a character of three bytes.
        while text.utf8.count > PAMMessage.textBytes { text.removeLast() }
        return text
    }

    private static func discard(_ answers: UnsafeMutablePointer<pam_response>, _ count: Int) {
        for index in 0..<count {
            guard let secret = answers[index].resp else { continue }
            explicit_bzero(secret, strlen(secret))
            free(secret)
        }
        free(answers)
    }
}
