// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyModel
import LatchkeySystem
import LatchkeyTransport
import SSHAgent
import SSHAgentProtocol

/// ssh-agent: serves the keys for SSH to ssh(1), in the foreground.
enum SSHAgentCommand {
    /// The name of the socket in its unit.
    private static let socketName = "ssh-agent"
    private static let connectSeconds: Int64 = 5

    static func run(_ options: Options) throws(CommandFailure) {
        var chosen = SSHAgent.Options()
        chosen.allowsUnbound = options.has(.allowUnbound)
        chosen.reuseSeconds = try reuseSeconds(options[.reuse])
        // Before the first thread exists.
        let activated = ActivatedSockets.take()[socketName]
        var held: FolderLock?
        do throws(Failure) {
            let listener: Descriptor
            if let activated { listener = activated } else { (listener, held) = try listen() }
            let agent = SSHAgent(DaemonKeyStore(), chosen, words: localized) {
                Output.writeError("latchkey ssh-agent: \($0.withoutControls)\n")
            }
            do throws(SystemError) {
                try SSHAgentServer(listener, agent).run()
            } catch {
                throw Failure(error, "The socket of the agent cannot be served")
            }
            withExtendedLifetime(held) {}
        } catch {
            throw .failure(error)
        }
    }

    private static func reuseSeconds(_ text: String?) throws(CommandFailure) -> Int64 {
        guard let text else { return 0 }
        guard let seconds = Int64(text), (0...SSHAgentLimits.reuseSeconds).contains(seconds) else {
            throw .usage(
                "--reuse takes seconds, 0 to \(SSHAgentLimits.reuseSeconds), not \(text)",
                "See: latchkey help ssh-agent")
        }
        return seconds
    }

    /// Listens in the user's runtime folder and writes the line that a shell evaluates.
    ///
    /// The lock of the folder, which is held as long as the process runs, prevents a second agent from taking the place
    /// of the first one unnoticed.
    private static func listen() throws(Failure) -> (Descriptor, FolderLock) {
        guard let folder = StoreLocation.runtimeFolder, folder.utf8.allSatisfy({ isPlain($0) }) else {
            throw Failure(
                .noHome,
                "There is no runtime folder for the socket: XDG_RUNTIME_DIR is no plain path of a folder of yours.",
                hint: "Log in again, or start the unit: systemctl --user enable --now latchkey-ssh-agent.socket")
        }
        try Files.makePrivateFolder(folder)
        let path = folder + "/ssh-agent.sock"
        let place: (Descriptor, FolderLock)?
        do throws(SystemError) {
            let lock = try FolderLock.takeAlone(folder)
            // A service manager that listens there has no lock; a new socket would take its place.
            let isServed = (try? Sockets.connect(path, seconds: connectSeconds)) != nil
            place = try (isServed ? nil : lock).map { (lock) throws(SystemError) in (try Sockets.listen(path), lock) }
        } catch {
            throw Failure(error, "\(path) cannot be used")
        }
        guard let place else {
            throw Failure(
                .duplicateItem, "Another agent serves \(path).", hint: "Use it with: export SSH_AUTH_SOCK=\(path)")
        }
        Output.write("SSH_AUTH_SOCK=\(path); export SSH_AUTH_SOCK;\n")
        return place
    }

    /// Whether a byte of a path has no meaning for a shell, which evaluates the line.
    private static func isPlain(_ byte: UInt8) -> Bool {
        let character = Unicode.Scalar(byte)
        return character.isASCII && (character.properties.isAlphabetic || character.properties.numericType != nil)
            || "/._-+:@".unicodeScalars.contains(character)
    }
}
