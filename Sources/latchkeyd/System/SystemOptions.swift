// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport

/// The places and the configuration of the daemon of a system tier.
struct SystemOptions {
    /// The folder of the sockets.
    var sockets = SystemSockets.installed
    /// The folder that has a folder for each user.
    var state = "/var/lib/latchkey"
    var configuration = SystemSockets.installed.configuration
    /// The user as which `latchkey-authd` runs.
    var authority: UInt32 = 0
    var tier = Tier.file
    var enclave: EnclaveKind?
    /// Whether proofs by virtual hardware are accepted.
    var allowsVirtualHardware = false

    /// Reads the configuration, which names the tier. Throws if it is missing, if others than root can change it, or
    /// for a line that is not understood: a typing error must not silently weaken anything.
    mutating func read() throws(Failure) {
        try checkOwner()
        let bytes: SecretBytes?
        do throws(SystemError) {
            bytes = try Files.read(configuration, limit: 64 << 10)
        } catch {
            throw Failure(error, "\(configuration) cannot be read")
        }
        guard let bytes else {
            throw Failure(
                .invalidParameter, "\(configuration) is missing, so no tier was chosen.",
                hint: "Write a line into it: tier = file")
        }
        var chosen: Tier?
        for line in String(decoding: bytes.copyBytes(), as: UTF8.self).split(separator: "\n") {
            let text = line.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            let parts = text.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
            if parts.allSatisfy(\.isEmpty) { continue }
            switch (parts.first, parts.dropFirst().first) {
            case ("tier", "file"): chosen = .file
            case ("tier", "tpm"):
                throw Failure(
                    .notPermitted, "Tier tpm is not available in this version.", hint: "Choose: tier = file")
            case ("enclave", "software"): enclave = .software
            case ("allow-virtual-hardware", "yes"): allowsVirtualHardware = true
            case ("allow-virtual-hardware", "no"): allowsVirtualHardware = false
            default:
                throw Failure(
                    .invalidParameter, "\(configuration) has a line that is not understood: \(line)",
                    hint: "Known: tier = file, enclave = software, allow-virtual-hardware = yes | no")
            }
        }
        guard let chosen else {
            throw Failure(
                .invalidParameter, "\(configuration) does not name a tier.", hint: "Add a line: tier = file")
        }
        tier = chosen
    }

    private func checkOwner() throws(Failure) {
        for path in Files.parents(of: configuration) + [configuration] {
            var status = stat()
            guard lstat(path, &status) == 0 else { continue }
            // The user of the tests may stand in for root.
            guard status.st_uid == authority || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
                throw Failure(
                    .peerNotTrusted, "\(path) can be changed by others than root.",
                    hint: "Run as root: chown root \(path); chmod go-w \(path)")
            }
        }
    }
}
