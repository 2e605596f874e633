// SPDX-License-Identifier: Apache-2.0

/// The limit of every resource that a client controls; listed in `docs/reference/protocol.md`.
package enum Limits {
    /// Version of the wire format, the first byte of every frame.
    package static let wireVersion: UInt8 = 1
    /// Maximum bytes of a frame's payload.
    package static let frameBytes = 2 << 20
    /// Maximum nesting depth of arrays and maps in a frame.
    package static let nesting = 8
    /// Maximum entries of one array or map in a frame.
    package static let entries = 4096
    /// Maximum connections of one daemon.
    package static let connections = 256
    /// Maximum connections of one process.
    package static let connectionsOfProcess = 16
    /// Maximum connections of all processes that execute the same program.
    package static let connectionsOfProgram = 64
    /// Connections of a daemon reserved for programs that have at most `fewConnections`.
    package static let reservedConnections = 64
    /// Maximum connections of a program that may use a reserved connection.
    package static let fewConnections = 4
    /// Maximum bytes of pending requests and unsent replies, over all connections.
    package static let heldBytes = 64 << 20
    /// Maximum bytes of pending requests and unsent replies of all processes that execute the same program.
    package static let heldBytesOfProgram = 16 << 20
    /// Bytes that a program may always hold, however many the other programs hold.
    package static let heldBytesAlways = 64 << 10
    /// Bytes of `heldBytes` reserved for large frames of programs that hold nothing else.
    package static let reservedBytes = 16 << 20
    /// Maximum requests of one connection without a reply.
    package static let requestsInFlight = 64
    /// Maximum contexts of one connection.
    package static let contexts = 1024
    /// Maximum bytes of an app's name.
    package static let applicationBytes = 255
    /// Maximum access groups of one app.
    package static let accessGroups = 32
    /// Maximum apps whose face permissions are stored.
    package static let facePermissions = 1024
    /// Maximum login sessions of a user in which biometry is used; it is refused in further ones.
    package static let loginSessions = 64
    /// Maximum lines of a stored transcript.
    package static let transcriptLines = 1024
    /// Maximum entries of one page of the audit log.
    package static let auditEntries: UInt64 = 1024
    /// Maximum findings that a check lists; one further finding gives the number of the rest.
    package static let findings = 4096
    /// Maximum bytes of a user's database and its log in tiers `file` and `tpm`; at the limit items are deleted, not added.
    package static let storeBytes: Int64 = 256 << 20
    /// Bytes beyond `storeBytes` for entries of the audit log about uses, refusals and other requests of programs.
    package static let storeAuditBytes: Int64 = 32 << 20
    /// Bytes of the file system in tiers `file` and `tpm` that no item may use, so that deletions, security events and the
    /// audit log of every user have room.
    package static let freeDiskBytes: Int64 = 64 << 20
    /// The same of a small file system: one in so many of its bytes.
    package static let freeDiskPart: Int64 = 16
    /// Maximum bytes of an item's secret.
    package static let secretBytes = 1 << 20
    /// Maximum pairs of an item of the Secret Service.
    package static let secretPairs = 64
    /// Maximum bytes of the names, and of the values, of all pairs of an item.
    package static let secretPairBytes = 16 << 10
    /// Maximum secrets that one request of the Secret Service reads.
    package static let secretsRead = 256
    /// Maximum bytes of an identifier of the Secret Service, and of the name of a program with those that started it.
    package static let secretNameBytes = 4 << 10
    /// Stands between the names of the programs that started the one that asks.
    package static let startedByArrow = " ← "
    /// Maximum bytes of one attribute.
    package static let attributeBytes = 64 << 10
    /// Maximum bytes of a reason or a button title; longer text is clipped before it is shown.
    package static let titleBytes = 16 << 10
    /// Maximum values of a text for people that one process sends to another to be shown in the user's language.
    package static let phraseArguments = 9
    /// Maximum bytes of the English template of such a text, and of each value.
    package static let phraseBytes = 16 << 10
    /// Maximum characters shown of a reason.
    package static let reasonCharacters = 240
    /// Maximum lines of a reason in a prompt.
    package static let reasonLines = 6
    /// Maximum lines of any other text in a prompt.
    package static let otherLines = 3
    /// Maximum characters shown of a button title or a name.
    package static let titleCharacters = 48
    /// Maximum bytes of the sealed blob of an enclave key that an app stores itself.
    package static let detachedKeyBytes = 4 << 10
    /// Maximum bytes of a challenge with which a relying party enrols a device.
    package static let challengeBytes = 1024
    /// Bytes of the nonce of a relying party.
    package static let nonceBytes = 16...64
    /// Maximum bytes of a message of a device for a relying party; the longest one has eight certificates.
    package static let attestationMessageBytes = 40 << 10
    /// Maximum left-out items that one frame of an export or import describes.
    package static let skippedItems = 64
    /// Maximum characters of each text that describes a left-out item.
    package static let skippedCharacters = 128
    /// Maximum bytes of a backup in one frame of an export.
    package static let exportedBytes = 256 << 10
    /// Maximum bytes of a backup in one frame of an import.
    package static let importedBytes = 64 << 10
    /// Maximum seconds between two requests of an export or import.
    package static let backupIdleSeconds: Int64 = 600
    /// Maximum concurrent exports, imports and migrations of a daemon.
    package static let backups = 4
    /// Bytes of a ticket that continues a migration on another connection.
    package static let ticketBytes = 16
    /// Seconds for which a ticket is valid.
    package static let ticketSeconds: Int64 = 600
    /// Maximum migrations that one ticket begins: all but the last one asked first and added nothing.
    package static let ticketRounds = 4
    /// Maximum items of one migration.
    package static let migratedItems = 16_384
    /// Maximum bytes of all items of one migration, which the daemon holds until they are complete.
    package static let migratedBytes = 64 << 20
    /// Maximum items in one frame of a migration.
    package static let migratedPageItems = 256
    /// Bytes of items above which a frame of a migration takes no further item.
    package static let migratedPageBytes = 256 << 10
    /// Maximum bytes of an item that a migration moves; with its frame it fits `frameBytes`.
    package static let migratedItemBytes = frameBytes - (64 << 10)
    /// Maximum access groups that a report of a migration lists, and that one request maps.
    package static let migratedGroups = 256
    /// Maximum seconds between two frames of a migration.
    package static let migrationIdleSeconds: Int64 = 60
    /// Minimum characters of a new passcode, counted as Unicode code points.
    package static let passcodeCharacters = 4
    /// The same in tier `tpm`.
    package static let tpmPasscodeCharacters = 6
    /// Maximum bytes of a passcode.
    package static let passcodeBytes = 1024
    /// Maximum passwords of one program that wait for key stretching.
    package static let stretchesWaiting = 32
    /// Maximum tokens on which the approval of a key's use rests.
    package static let approvalTokens = 16
    /// Maximum moves of a store's generation in a day that a timer requests; in tier `tpm` each is a write to the TPM.
    package static let timedMovesPerDay = 24
    /// Maximum uses of enclave keys that have begun and wait for an approval.
    package static let begunKeyUses = 16
    /// Seconds after which a begun use of an enclave key is dropped.
    package static let begunKeyUseSeconds: Int64 = 60
    /// Seconds after which a passcode that was typed once is not proven to keys of a TPM any more.
    package static let passcodeValueSeconds: Int64 = 300
    /// Maximum unsent bytes queued for a client that does not read.
    package static let outgoingBytes = 8 << 20
    /// Unsent bytes of a client above which the next page of a long reply is not read yet.
    package static let queuedBytes = 1 << 20
    /// Maximum bytes of items in one frame of a streamed reply.
    package static let streamedFrameBytes = 256 << 10
    /// Maximum seconds between the first and the last byte of an incoming frame.
    package static let frameSeconds: Int64 = 10
    /// Maximum seconds for which a closing connection waits until its peer has read all queued bytes.
    package static let endSeconds: Int64 = 10
    /// Maximum evaluations of one program that wait for their prompt.
    package static let waitingPrompts = 16
    /// Maximum prompts of one user that are shown at the same time.
    package static let shownPrompts = 8
    /// Seconds after which a prompt without an answer is dismissed.
    package static let promptSeconds: Int64 = 60
    /// The longest delay in seconds after which a prompt still takes a passcode. With a longer one it ends as without a delay:
    /// the call of an app ends after 30 minutes.
    package static let promptDelaySeconds: Int64 = 300
    /// Seconds for which a prompt stays in its last step: the user copies a recovery code by hand or chooses a passcode.
    package static let lastStepSeconds: Int64 = 600
    /// Maximum bytes of a recovery code as shown or typed.
    package static let recoveryCodeBytes = 256
    /// Maximum bytes of the copy of latchkey-authd's records of recovery codes.
    package static let recoveryCopyBytes = 1024
    /// Seconds after which a client's request times out, unless a user has to answer a prompt.
    package static let requestSeconds: Int64 = 30
    /// Maximum seconds for which a client waits for a daemon to start.
    package static let startSeconds: Int64 = 10
    /// Seconds without a connection after which the daemon exits.
    package static let idleSeconds: Int64 = 60
    /// Seconds without an event after which a daemon frees the memory that only makes requests faster.
    package static let restSeconds: Int64 = 5
}
