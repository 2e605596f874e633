// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingParty
internal import RelyingPartyCrypto
internal import RelyingPartyJSON
internal import RelyingPartySQLite
internal import SignInVerification

/// Measures the CPU time of the parts of a sign-in in one process, beside the least that the libraries below need, and
/// prints it as JSON in microseconds. `scripts/bench server` runs it.
///
/// usage: relying-party-bench FOLDER
@main
enum Main {
    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            fail("the argument is an empty folder")
        }
        let folder = CommandLine.arguments[1]
        let key = BenchKey()
        let bench = try Bench(path: folder + "/service.sqlite")
        let floor = FloorDatabase(folder + "/floor.sqlite")
        let message = [UInt8](repeating: 7, count: 145)
        let signature = key.sign(message)
        let parts: [(String, (Int) throws -> Void)] = [
            ("verifyAlone", { _ in require(key.isValid(signature, message)) }),
            ("verify", { _ in require(try P256PublicKey(x963: key.point)?.isValid(signature, for: message) == true) }),
            ("issue", { _ in _ = try bench.challenge(0) }),
            (
                "verifyAndInsertAlone",
                {
                    require(key.isValid(signature, message))
                    floor.insert(Int64($0))
                }
            ),
            ("signIn", { bench.signIn($0) }),
        ]
        var best: [String: Double] = [:]
        // Rounds of all parts in turn: a machine that gets slower makes all of them slower.
        for round in 0..<20 {
            try bench.prepare(50)
            for (name, part) in parts {
                let began = cpu
                for index in 0..<50 { try part(round * 50 + index) }
                best[name] = min(best[name] ?? .infinity, (cpu - began) / 50)
            }
        }
        print(JSONValue.object(best.sorted { $0.key < $1.key }.map { ($0.key, .number("\($0.value)")) }).encoded)
    }

    /// The CPU time of this process in microseconds.
    private static var cpu: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
}

func require(_ condition: Bool) {
    if !condition { fail("a part that is measured failed") }
}

func fail(_ message: String) -> Never {
    let text = "error: \(message)\n"
    _ = write(2, text, text.utf8.count)
    exit(1)
}

/// A relying party on a file, with keys of form `raw`. Each signs in a few times, so that no session ends by the limit of
/// sessions of one key.
final class Bench {
    private let keys: [(user: String, key: BenchKey, publicKey: P256PublicKey)]
    private let service: RelyingPartyService
    private var proofs: [SignedProof] = []
    private var next = 0

    init(path: String) throws {
        var secret = try LibCrypto.random(32)
        let master = SecretBytes(taking: &secret)
        service = try RelyingPartyService(
            policy: RelyingPartyPolicy(relyingPartyID: "example.com"), master: master,
            challenges: ChallengeKeys(masters: [master], relyingPartyID: "example.com", seconds: 60, notBefore: 0),
            storage: Storage(SQLiteDatabase(path)), clock: { Int64(time(nil)) },
            random: { count in try LibCrypto.random(count) })
        keys = try (0..<100).map { number in
            let key = BenchKey()
            guard let publicKey = try P256PublicKey(x963: key.point) else { throw CryptoFailure() }
            return ("user \(number)", key, publicKey)
        }
        for index in keys.indices {
            let code = try service.makeCode(for: keys[index].user)
            _ = try service.register(
                keys[index].publicKey, proof(index, .register), .code(code), device: "", isRaw: true, tier: .user)
        }
    }

    func challenge(_ index: Int, _ purpose: ChallengePurpose = .login) throws -> [UInt8] {
        try service.challenge(user: keys[index].user, key: keys[index].publicKey.identifier, purpose: purpose)
    }

    private func proof(_ index: Int, _ purpose: ChallengePurpose) throws -> SignedProof {
        let challenge = try challenge(index, purpose)
        return SignedProof(
            user: keys[index].user, key: keys[index].publicKey.identifier, challenge: challenge,
            signature: keys[index].key.sign(challenge))
    }

    /// Signs challenges for the sign-ins that follow.
    func prepare(_ count: Int) throws {
        proofs = try (0..<count).map { _ in
            next = (next + 1) % keys.count
            return try proof(next, .login)
        }
    }

    func signIn(_ index: Int) {
        let proof = proofs[index % proofs.count]
        do { _ = try service.signIn(proof) } catch { require(false) }
    }
}
