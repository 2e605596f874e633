// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartySQLite

/// The program: `latchkey-server CONFIGURATION serve | code USER | revoke USER [key IDENTIFIER | device NAME] | audit`.
@main
enum Main {
    static func main() {
        do {
            try run(Array(CommandLine.arguments.dropFirst()))
        } catch let usage as Usage {
            fail(usage.message)
        } catch let error as RelyingPartyError {
            fail(words(error))
        } catch {
            fail("\(error)")
        }
    }

    private static func words(_ error: RelyingPartyError) -> String {
        switch error {
        case .refused(let reason): "refused (\(reason.rawValue))"
        case .malformed(let part): "the \(part) does not have the documented form, or is too long"
        case .unavailable(let text): text
        }
    }

    private static func fail(_ message: String) -> Never {
        Log.error("error: \(message)")
        exit(1)
    }

    private static func run(_ arguments: [String]) throws {
        guard arguments.count >= 2 else {
            throw Usage("usage: latchkey-server CONFIGURATION serve | code USER | revoke USER [...] | audit")
        }
        let text = try Files.read(arguments[0])
        let configuration = try Configuration(String(decoding: text, as: UTF8.self), Surroundings.values())
        // The database is created for its owner only.
        umask(0o077)
        let service = try open(configuration)
        switch (arguments[1], arguments.count) {
        case ("serve", 2): try Serving.run(service, configuration)
        case ("code", 3): print(try service.makeCode(for: arguments[2]))
        case ("revoke", 3): print(try service.revoke(.user, of: arguments[2]))
        case ("revoke", 5) where arguments[3] == "device":
            print(try service.revoke(.device(arguments[4]), of: arguments[2]))
        case ("revoke", 5) where arguments[3] == "key":
            guard let key = StrictBase64.url.decode(arguments[4].utf8) else { throw Usage("the key is not base64url") }
            print(try service.revoke(.key(key), of: arguments[2]))
        case ("audit", 2):
            let (count, firstWrong) = try service.verifyAudit()
            if let firstWrong { throw Usage("row \(firstWrong) of the audit log is missing or was changed") }
            print("\(count) rows of the audit log are unchanged")
        default: throw Usage("no such command, or another number of arguments")
        }
    }

    private static func open(_ configuration: Configuration) throws -> RelyingPartyService {
        let master = try Files.secret(configuration.secretFile)
        var masters = [master]
        if let previous = configuration.previousSecretFile { masters.append(try Files.secret(previous)) }
        let challenges = try ChallengeKeys(
            masters: masters, relyingPartyID: configuration.relyingPartyID, seconds: configuration.challengeSeconds,
            // The next second: this one may have begun before the database was restored.
            notBefore: Int64(time(nil)) + 1)
        try Files.checkDatabase(configuration.database)
        let storage: Storage
        do {
            storage = Storage(try SQLiteConnection(configuration.database))
        } catch {
            throw Usage(error.message)
        }
        let policy = RelyingPartyPolicy(
            relyingPartyID: configuration.relyingPartyID, minimumTier: configuration.minimumTier,
            sessionIdleSeconds: configuration.sessionIdleSeconds, sessionSeconds: configuration.sessionSeconds)
        return try RelyingPartyService(
            policy: policy, master: master, challenges: challenges, storage: storage, clock: { Int64(time(nil)) },
            random: { count in try LibCrypto.random(count) })
    }
}
