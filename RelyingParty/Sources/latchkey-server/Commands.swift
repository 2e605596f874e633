// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartyJSON

/// The commands of the program. A new one is a new row.
enum Commands {
    static let all: [Command] = [
        Command("serve", "answers requests until SIGTERM") { try Serving.run($0.service(), $0.configuration) },
        Command(
            "code", "makes an enrolment code for a user", arguments: ["USER"], options: [.json],
            about: "The code registers one key, is valid for 10 minutes, and replaces an earlier one."
        ) { command in
            let code = try command.service().makeCode(for: command.words[0])
            command.write(code, [("code", .string(code))])
        },
        Command(
            "administrator", "makes a user an administrator", arguments: ["USER"], options: [.json, .removing],
            about:
                "Writes an enrolment code for a key of the user, as the command code does. The page is on if the"
                + " configuration has administration = on.",
            action: AdministratorCommand.run),
        Command(
            "service", "registers a back end that checks sessions", arguments: ["NAME"],
            options: [.json, .enrolling, .removing],
            about:
                "Writes the credential of the service, which is shown once and replaces an earlier one. With it the service"
                + " asks about sessions and redeems approvals.",
            action: ServiceCommand.run),
        Command("services", "lists the registered back ends", options: [.json], action: ServiceCommand.list),
        Command(
            "revoke", "revokes keys of a user", arguments: ["USER", "[key|device]", "[ID]"], options: [.json],
            about: "Revokes every key of the user, one key, or the keys of one device, and ends their sessions.",
            action: revoke),
        Command(
            "audit", "verifies the chain of the audit log", options: [.json],
            about: "Fails if a row is missing or was changed. Rows that were removed at the end are not noticed.",
            action: audit),
        Command(
            "keys", "lists the keys of a user", arguments: ["USER"], options: [.json],
            about: "Shows what is proven and what is claimed about each key, also about those that were revoked.",
            action: KeysCommand.run),
        Command(
            "unfreeze", "lets a frozen key be used again", arguments: ["USER", "KEY"], options: [.json],
            about: "A key is frozen when its counter does not increase, which shows that there is a copy of it.",
            action: UnfreezeCommand.run),
        Command(
            "export", "shows everything that is stored of a user", arguments: ["USER"], options: [.json],
            about: "Hashes of tokens and of enrolment codes are left out.", action: ExportCommand.run),
        Command(
            "delete", "deletes a user", arguments: ["USER"], options: [.json],
            about: "Deletes keys, sessions and the name. The audit log keeps its rows under a pseudonym.",
            action: DeleteCommand.run),
        Command(
            "backup", "copies the database while the server runs", arguments: ["FILE"], options: [.json],
            about: "Verifies the audit log in the copy. FILE must not exist. For PostgreSQL, use its own programs.",
            action: BackupCommand.run),
        Command(
            "restored", "ends what an earlier copy of the database has brought back", options: [.json],
            about:
                "Run it after a backup was put in place: it ends all sessions and enrolment codes, and revokes, freezes,"
                + " deletes and removes from the administrators again what revocations_file has.",
            action: RestoredCommand.run),
        Command(
            "rehearse", "tries a restore and an upgrade on a copy", arguments: ["COPY"], options: [.json],
            about:
                "Opens a copy of the database with this program, finishes the upgrade, does what restored does, and verifies"
                + " the result. COPY is an absolute folder, in which a copy of the file is made and removed; with PostgreSQL,"
                + " the connection string of another database or schema, into which a dump was restored, and which is"
                + " changed. The database of the configuration stays as it is.",
            action: RehearseCommand.run),
        Command(
            "finish-upgrade", "ends the use of the database by earlier programs", options: [.json],
            about:
                "Run it after every node runs this program: it removes what only earlier ones need, and they serve no more."
                + " A file has one server, whose start does this.",
            action: finishUpgrade),
        Command(
            "rotate-secret", "replaces the secret",
            about:
                "Moves the secret to previous_secret_file. Servers read both files at SIGHUP. A server whose secret is a"
                + " systemd credential must be restarted.",
            action: RotateSecretCommand.run),
    ]

    static func named(_ name: String) -> Command? { all.first { $0.name == name } }

    private static func revoke(_ command: Invocation) throws {
        let words = command.words
        let target: RelyingPartyService.RevocationTarget
        switch (words.count, words.dropFirst().first) {
        case (1, _): target = .user
        case (3, "device"): target = .device(words[2])
        case (3, "key"):
            guard let key = StrictBase64.url.decode(words[2].utf8) else { throw Usage("the key is not base64url") }
            target = .key(key)
        default: throw command.misuse("revoke takes USER, USER key ID or USER device NAME")
        }
        let count = try command.service(about: words[0]).revoke(target, of: words[0])
        command.write("\(count)", [("revokedKeys", .integer(Int64(count)))])
    }

    private static func finishUpgrade(_ command: Invocation) throws {
        let storage = try OpenStorage(command.configuration.storage).storage
        let isNew: Bool
        do throws(StorageFailure) {
            isNew = try storage.finishUpgrade()
        } catch {
            throw Usage(error.message)
        }
        command.write(
            isNew ? "Earlier programs are refused from now on." : "There was nothing to finish.",
            [("finished", .bool(isNew))])
    }

    private static func audit(_ command: Invocation) throws {
        let (count, firstWrong) = try command.service().verifyAudit()
        let wrong = firstWrong.map { JSONValue.integer($0.number) } ?? .null
        let node = firstWrong.map { JSONValue.string($0.node) } ?? .null
        if command.has(.json) || firstWrong == nil {
            command.write(
                "\(count) rows of the audit log are unchanged",
                [("verifiedRows", .integer(Int64(count))), ("firstWrongRow", wrong), ("node", node)])
        }
        if let firstWrong {
            let chain = firstWrong.node.isEmpty ? "" : " of node \(firstWrong.node)"
            throw Usage(
                "row \(firstWrong.number) of the audit log\(chain) is missing or was changed",
                hint: "Keep the database, and compare it with a backup. It cannot be trusted any more.")
        }
    }
}
