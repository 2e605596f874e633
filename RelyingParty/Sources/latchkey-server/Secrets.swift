// SPDX-License-Identifier: Apache-2.0

internal import RelyingParty
internal import RelyingPartyCrypto

/// The configured secret, and the one that it replaced.
enum Secrets {
    static func read(_ configuration: Configuration) throws(Usage) -> (master: SecretBytes, previous: SecretBytes?) {
        let master = try secret(configuration.secretFile, configuration)
        // Until the first rotation there is no previous secret. Without it less is accepted, not more.
        guard let path = configuration.previousSecretFile, !Files.isMissing(path) else { return (master, nil) }
        return (master, try secret(path, configuration))
    }

    private static func secret(_ path: String, _ configuration: Configuration) throws(Usage) -> SecretBytes {
        try Files.secret(path, owner: configuration.storage.owner(of: path))
    }

    /// Takes the secrets that the files have now. If they cannot be read, the server continues with the ones that it has.
    static func reload(_ service: RelyingPartyService, _ configuration: Configuration) {
        // The copy that the service manager made at the start does not change: to report it as reloaded would hide that the
        // server still has the secret that a rotation replaced.
        guard !Files.isCredential(configuration.secretFile) else {
            Log.line(
                "secrets not reloaded",
                [("error", .string("the service manager renews its copy of secret_file at a restart only"))])
            return
        }
        do {
            let (master, previous) = try read(configuration)
            try service.replaceSecrets(master, previous: previous)
            Log.line("secrets reloaded", [("previous", .bool(previous != nil))])
        } catch let usage as Usage {
            Log.line("secrets not reloaded", [("error", .string(usage.message))])
        } catch {
            Log.line("secrets not reloaded", [("error", .string("libcrypto failed"))])
        }
    }
}
