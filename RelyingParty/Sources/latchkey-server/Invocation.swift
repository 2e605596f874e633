// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartyJSON
internal import SignInVerification

/// A command with its words, and what it needs for its work.
struct Invocation {
    let command: Command
    let configuration: Configuration
    /// The words after the name of the command; as many as it takes.
    let words: [String]
    /// The values of the options that were given; empty for an option without one.
    let options: [String: String]

    func has(_ option: CommandOption) -> Bool { options[option.word] != nil }

    /// Wrong usage of this command.
    func misuse(_ message: String) -> Usage {
        .command(message, hint: "See: latchkey-server help \(command.name)")
    }

    /// Writes the result: the text and a line feed, or with `--json` the members of an object.
    func write(_ text: String, _ members: [(name: String, value: JSONValue)]) {
        Output.write((has(.json) ? JSONValue.object(members).encoded : text) + "\n")
    }

    /// Opens the database for a command about a user, of whom something is stored: a mistyped name must not look like success.
    func service(about user: String) throws -> RelyingPartyService {
        let service = try service()
        guard try service.knows(user) else { throw Usage("nothing is stored of this user") }
        return service
    }

    /// Opens the database, which is made if it does not exist.
    ///
    /// - Parameter storage: another one than that of the configuration, such as a copy of it.
    func service(_ storage: StorageChoice? = nil) throws -> RelyingPartyService {
        let (master, previous) = try Secrets.read(configuration)
        let masters = [master] + (previous.map { [$0] } ?? [])
        let opened = try OpenStorage(storage ?? configuration.storage)
        let challenges = try ChallengeKeys(
            masters: masters, relyingPartyID: configuration.relyingPartyID, seconds: configuration.challengeSeconds,
            passkeySeconds: configuration.passkeySeconds, tolerance: opened.tolerance, changing: opened.notBefore)
        var policy = RelyingPartyPolicy(
            relyingPartyID: configuration.relyingPartyID, minimumTier: configuration.minimumTier,
            sessionIdleSeconds: configuration.sessionIdleSeconds, sessionSeconds: configuration.sessionSeconds,
            permitsVirtualTPM: configuration.permitsVirtualTPM, permitsPasskeys: configuration.permitsPasskeys,
            origins: configuration.origins)
        policy.counters = configuration.counters
        policy.permitsAdministration = configuration.servesAdministration
        return try RelyingPartyService(
            policy: policy, master: master, challenges: challenges, storage: opened.storage, clock: opened.clock,
            random: { count in try LibCrypto.random(count) }, previousMaster: previous,
            verifier: try EndorsementRoots.verifier(configuration),
            revocations: configuration.revocationsFile.map {
                RevocationFile($0, owner: configuration.storage.owner(of: $0))
            })
    }
}

/// The standard output.
enum Output {
    /// Takes the places of closed standard streams, so that no file or connection gets one of their numbers. Using them still
    /// fails with EBADF (open(2), O_PATH).
    static func fillClosedStreams() {
        let path: CInt = 0o10000000  // O_PATH, <fcntl.h> with _GNU_SOURCE
        var number = open("/dev/null", path)
        while (0...2).contains(number) { number = open("/dev/null", path) }
        if number > 2 { close(number) }
    }

    /// Writes all bytes, and waits also if the stream is non-blocking. Ends the program where nothing can be written, but not if
    /// the reader has seen enough.
    static func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    var stream = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&stream, 1, -1)
                    continue
                }
                guard errno != EPIPE else { return }
                Log.error("error: standard output cannot be written: \(String(cString: strerror(errno)))")
                Main.end(74)
            }
            rest = rest.dropFirst(count)
        }
    }
}
