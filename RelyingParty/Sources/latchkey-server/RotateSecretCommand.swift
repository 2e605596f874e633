// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RelyingPartyCrypto

/// The command `rotate-secret`: a new secret, and the old one in the file for the previous one.
enum RotateSecretCommand {
    static func run(_ command: Invocation) throws {
        let configuration = command.configuration
        guard let previous = configuration.previousSecretFile else {
            throw Usage("the configuration has no previous_secret_file, to which the old secret is moved")
        }
        guard previous != configuration.secretFile else {
            throw Usage("secret_file and previous_secret_file are the same file")
        }
        // Refuses a file that is no secret, or that others can read, before anything is changed.
        _ = try Secrets.read(configuration)
        let owner = configuration.storage.owner(of:)
        var old = try Files.read(configuration.secretFile, isSecret: true, owner: owner(configuration.secretFile))
        var random = try LibCrypto.random(32)
        var new = random.flatMap { byte -> [UInt8] in [digits[Int(byte >> 4)], digits[Int(byte & 15)]] } + [0x0a]
        defer {
            for index in old.indices { old[index] = 0 }
            for index in random.indices { random[index] = 0 }
            for index in new.indices { new[index] = 0 }
        }
        // In this order: if this is interrupted, both files have the old secret, and nothing is lost.
        try Files.replace(previous, with: old, owner: owner(previous))
        // The owner stays: a server that gets a copy from the service manager does not own the file.
        let kept = geteuid() == 0 ? Files.owner(ofFile: configuration.secretFile) : nil
        try Files.replace(configuration.secretFile, with: new, owner: kept)
        command.write(
            """
            The secret is new. Send SIGHUP to each server, but restart one that gets a copy of secret_file from its service \
            manager, such as the packaged unit: until then it refuses what the others issue.
            """, [])
    }

    private static let digits: [UInt8] = Array("0123456789abcdef".utf8)
}
