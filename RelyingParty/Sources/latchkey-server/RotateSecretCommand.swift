// SPDX-License-Identifier: Apache-2.0

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
        var old = try Files.read(configuration.secretFile, isSecret: true)
        var random = try LibCrypto.random(32)
        var new = random.flatMap { byte -> [UInt8] in [digits[Int(byte >> 4)], digits[Int(byte & 15)]] } + [0x0a]
        defer {
            for index in old.indices { old[index] = 0 }
            for index in random.indices { random[index] = 0 }
            for index in new.indices { new[index] = 0 }
        }
        // In this order: if this is interrupted, both files have the old secret, and nothing is lost.
        try Files.replace(previous, with: old)
        try Files.replace(configuration.secretFile, with: new)
        command.write(
            "The secret is new. Send SIGHUP to each server: until then it refuses what the others issue.", [])
    }

    private static let digits: [UInt8] = Array("0123456789abcdef".utf8)
}
