// SPDX-License-Identifier: Apache-2.0

/// The bound on every resource a client controls; `docs/protocol.md` lists them.
package enum Limits {
    /// Version of the wire format, the first byte of every frame.
    package static let wireVersion: UInt8 = 2
    /// Bytes of one frame's payload.
    package static let frameBytes = 2 << 20
    /// Nesting of arrays and maps in a frame.
    package static let nesting = 8
    /// Entries of one array or map in a frame.
    package static let entries = 4096
    /// Connections of one daemon.
    package static let connections = 256
    /// Connections of one process.
    package static let connectionsOfProcess = 16
    /// Connections of all processes that execute one program.
    package static let connectionsOfProgram = 64
    /// The last connections of a daemon are for programs that have few.
    package static let reservedConnections = 64
    /// Connections a program may have that takes one of the reserved ones.
    package static let fewConnections = 4
    /// Bytes of requests under way and of answers that wait, of all connections.
    package static let heldBytes = 64 << 20
    /// The same of all processes that execute one program.
    package static let heldBytesOfProgram = 16 << 20
    /// Bytes a program may hold whatever the others hold.
    package static let heldBytesAlways = 64 << 10
    /// The last bytes of `heldBytes` are for large frames of programs that hold nothing else.
    package static let reservedBytes = 16 << 20
    /// Requests of one connection that have no reply so far.
    package static let requestsInFlight = 64
    /// Contexts of one connection.
    package static let contexts = 1024
    /// Bytes of the name of an app.
    package static let applicationBytes = 255
    /// Access groups of one app.
    package static let accessGroups = 32
    /// Apps whose answers about faces are kept.
    package static let facePermissions = 1024
    /// Lines of a transcript that are kept.
    package static let transcriptLines = 1024
    /// Entries of one part of the audit trail.
    package static let auditEntries: UInt64 = 1024
    /// Findings of a check; one more counts what is beyond.
    package static let findings = 4096
    /// Bytes of an item's secret.
    package static let secretBytes = 1 << 20
    /// Bytes of one attribute.
    package static let attributeBytes = 64 << 10
    /// Bytes of a reason or a button's title; longer is clipped before it is shown.
    package static let titleBytes = 16 << 10
    /// Characters of a reason that are shown.
    package static let reasonCharacters = 240
    /// Lines of a reason that a prompt shows.
    package static let reasonLines = 6
    /// Lines of any other text that a prompt shows.
    package static let otherLines = 3
    /// Characters of a button's title or a name that are shown.
    package static let titleCharacters = 48
    /// Bytes of a key of the enclave that an app keeps itself.
    package static let detachedKeyBytes = 4 << 10
    /// Items that stay, of one frame of an export or import, and characters of each of their texts.
    package static let stayingItems = 64
    package static let stayingCharacters = 128
    /// Bytes of a backup in one frame of an export.
    package static let exportedBytes = 256 << 10
    /// Bytes of a backup in one frame of an import.
    package static let importedBytes = 64 << 10
    /// Seconds for which an export or import may rest between two requests.
    package static let backupIdleSeconds: Int64 = 600
    /// Exports and imports of a daemon at a time.
    package static let backups = 4
    /// Characters of a new passcode, at least: code points of its UTF-8.
    package static let passcodeCharacters = 4
    /// Bytes of a passcode.
    package static let passcodeBytes = 1024
    /// Passwords of one program that wait to be stretched.
    package static let stretchesWaiting = 32
    /// Bytes that may wait for a client that does not read.
    package static let outgoingBytes = 8 << 20
    /// Bytes that wait for a client before the next page of a long answer is read.
    package static let queuedBytes = 1 << 20
    /// Bytes of items in one frame of a streamed answer.
    package static let streamedFrameBytes = 256 << 10
    /// Seconds a started frame may take to arrive.
    package static let frameSeconds: Int64 = 10
    /// Seconds a connection that is to end waits for its peer to take what was sent.
    package static let endSeconds: Int64 = 10
    /// Evaluations of one program that may wait for the prompt of another to go.
    package static let waitingPrompts = 16
    /// Seconds a prompt stays up.
    package static let promptSeconds: Int64 = 60
    /// Seconds a prompt shows a recovery code, or waits for one: it has to be copied by hand.
    package static let recoveryCodeSeconds: Int64 = 600
    /// Bytes of a recovery code as it is shown or typed.
    package static let recoveryCodeBytes = 256
    /// Seconds a client waits for an answer that needs no person.
    package static let requestSeconds: Int64 = 30
    /// Seconds a client waits for a daemon to come up.
    package static let startSeconds: Int64 = 10
    /// Seconds without a connection after which the daemon exits.
    package static let idleSeconds: Int64 = 60
}
