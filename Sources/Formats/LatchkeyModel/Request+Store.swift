// SPDX-License-Identifier: Apache-2.0

// Requests about a whole store, its lock and its passcode, and those to a simulated machine.

extension Request {
    // MARK: - Backup and log

    /// Requests the next bytes of a backup.
    package struct ExportItems: ClientRequest {
        package typealias Response = Reply.Exported
        package static var operation: Operation { .exportItems }
        package var traits: RequestTraits { cursor == nil ? .asks : .mayTakeLong }
        package static func response(_ reply: Reply) -> Reply.Exported? {
            if case .exported(let exported) = reply { exported } else { nil }
        }

        /// The cursor of the last reply; nil begins an export, which the user authorises at a prompt.
        package var cursor: [UInt8]?
        package init(cursor: [UInt8]?) { self.cursor = cursor }
    }

    /// Sends the next bytes of a backup.
    package struct ImportItems: ClientRequest {
        package typealias Response = Reply.Imported
        package static var operation: Operation { .importItems }
        package var traits: RequestTraits { cursor == nil ? .asks : .mayTakeLong }
        package static func response(_ reply: Reply) -> Reply.Imported? {
            if case .imported(let imported) = reply { imported } else { nil }
        }

        /// The cursor of the last reply; nil begins an import, which the user authorises at a prompt.
        package var cursor: [UInt8]?
        package var bytes: [UInt8]
        /// Whether `bytes` is the end of the backup.
        package var isLast: Bool
        package init(cursor: [UInt8]?, bytes: [UInt8], isLast: Bool) {
            (self.cursor, self.bytes, self.isLast) = (cursor, bytes, isLast)
        }
    }

    /// Requests a page of the audit log.
    package struct Log: ClientRequest {
        package typealias Response = AuditPage
        package static var operation: Operation { .log }
        package var traits: RequestTraits { .mayBeRepeated }
        package static func response(_ reply: Reply) -> AuditPage? {
            if case .log(let page) = reply { page } else { nil }
        }

        /// The number of the entry after which the page begins.
        package var after: Int64
        /// Maximum number of entries; a page also ends when a frame is full.
        package var limit: UInt64
        /// Whether the hash chain of the page is verified.
        package var verifies: Bool
        package init(after: Int64, limit: UInt64, verifies: Bool) {
            (self.after, self.limit, self.verifies) = (after, limit, verifies)
        }
    }

    /// Checks the whole store without changing it.
    package struct Check: BareRequest {
        package typealias Response = CheckReport
        package static var operation: Operation { .check }
        package var traits: RequestTraits { .mayTakeLong }

        package init() {}
    }

    /// Moves quarantined rows that authenticate again back to the items.
    package struct RestoreRows: BareRequest {
        package typealias Response = CheckReport
        package static var operation: Operation { .restoreRows }
        package var traits: RequestTraits { .mayTakeLong }

        package init() {}
    }

    /// Accepts database and anchor in their present state; requires the passcode if one is set.
    package struct AcceptStore: BareRequest {
        package typealias Response = Void
        package static var operation: Operation { .acceptStore }
        package var traits: RequestTraits { .asks }

        package init() {}
    }

    /// Deletes the passcode, the enrolment key, and all items that require a proof or are of the passcode class; requires the
    /// passcode if one is set.
    package struct DiscardProtected: BareRequest {
        package typealias Response = Void
        package static var operation: Operation { .discardProtected }
        package var traits: RequestTraits { .asks }

        package init() {}
    }

    /// Does the same as `DiscardProtected` without the passcode, which was forgotten. In tiers `file` and `tpm` the password of
    /// the account is verified instead.
    package struct DiscardForgotten: BareRequest {
        package typealias Response = Void
        package static var operation: Operation { .discardForgotten }
        package var traits: RequestTraits { .asks }

        package init() {}
    }

    // MARK: - Lock, passcode and Face ID

    /// Locks the keychain of the user.
    package struct Lock: BareRequest {
        package typealias Response = Void
        package static var operation: Operation { .lock }
        package var traits: RequestTraits { .mayBeRepeated }

        package init() {}
    }

    /// Unlocks the keychain after authentication by biometry or passcode.
    package struct Unlock: ClientRequest {
        package typealias Response = Void
        package static var operation: Operation { .unlock }
        package var traits: RequestTraits { .asks }

        package var prompting: Prompting
        package init(_ prompting: Prompting) { self.prompting = prompting }
    }

    /// Lists the face permissions of all apps.
    package struct FacePermissions: BareRequest {
        package typealias Response = [FacePermission]
        package static var operation: Operation { .facePermissions }
        package var traits: RequestTraits { .mayBeRepeated }
        package static func response(_ reply: Reply) -> [FacePermission]? {
            if case .facePermissions(let answers) = reply { answers } else { nil }
        }

        package init() {}
    }

    /// Withdraws the face permission of an app.
    package struct FacePermissionChange: ClientRequest {
        package typealias Response = Void
        package static var operation: Operation { .changeFacePermission }
        package var traits: RequestTraits { [] }

        package var application: String
        /// Whether the app may ask again; if false, it is refused from now on.
        package var mayAskAgain: Bool
        package init(application: String, mayAskAgain: Bool) {
            (self.application, self.mayAskAgain) = (application, mayAskAgain)
        }
    }

    /// Sets, changes or removes the passcode. The current passcode is never part of a request; the daemon asks for it
    /// at a prompt.
    package enum PasscodeChange: ClientRequest {
        package typealias Response = Void
        package static var operation: Operation { .passcode }
        package var traits: RequestTraits { .asks }

        /// Only in tiers `user` and `simulated`: elsewhere neither the program nor `latchkeyd` may see a passcode.
        case set(SecretBytes)
        /// Only in tiers `user` and `simulated`.
        case change(SecretBytes)
        case remove
        case setAtPrompt
        case changeAtPrompt
        /// See `RecoverAtPrompt`, the type with the reply of this change.
        case recoverAtPrompt
    }

    /// The change of the passcode whose prompt asks for the recovery code and for a new passcode, and shows a new code.
    package struct RecoverAtPrompt: BareRequest {
        package typealias Response = Reply.Recovered
        package static var operation: Operation { .passcode }
        package var traits: RequestTraits { .asks }
        package static func response(_ reply: Reply) -> Reply.Recovered? {
            if case .recovered(let recovered) = reply { recovered } else { nil }
        }

        package init() {}
    }

    // MARK: - Simulated machines

    /// Controls a simulated machine.
    package struct Simulate: ClientRequest {
        package typealias Response = SimulatorAnswer
        package static var operation: Operation { .simulate }
        package var traits: RequestTraits { [] }
        package static func response(_ reply: Reply) -> SimulatorAnswer? {
            switch reply {
            case .done: .done
            case .simulated(let delivered): .delivered(delivered)
            case .transcript(let lines): .reported(lines)
            default: nil
            }
        }

        package var command: SimulatorCommand
        package init(_ command: SimulatorCommand) { self.command = command }
    }

    /// Returns the newest lines of a simulated machine's transcript.
    package struct Transcript: BareRequest {
        package typealias Response = [String]
        package static var operation: Operation { .transcript }
        package var traits: RequestTraits { .mayBeRepeated }
        package static func response(_ reply: Reply) -> [String]? {
            if case .transcript(let lines) = reply { lines } else { nil }
        }

        package init() {}
    }
}
