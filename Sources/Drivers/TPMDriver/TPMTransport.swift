// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyModel
import LatchkeySystem
import TPMProtocol

/// A connection to a TPM, which carries one command at a time. Objects and sessions belong to the connection.
package protocol TPMTransport: Sendable {
    /// Whether no other program uses the TPM meanwhile, and nothing removes what an earlier connection left in it: true
    /// for the socket of a virtual TPM, false behind the kernel's resource manager.
    var isExclusive: Bool { get }
    /// Sends a command and returns its response. Blocks.
    ///
    /// - Throws: `enclaveUnavailable` if the device cannot be reached, or sends no complete response in time. The
    ///   connection is not usable afterwards.
    func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8]
    /// Waits before a command is sent again that the TPM was not ready for.
    func pause(milliseconds: Int)
}

/// Where a TPM is reached.
package protocol TPMConnecting: Sendable {
    /// Opens a connection. Throws `enclaveUnavailable` if that is not possible.
    func connect() throws(Failure) -> any TPMTransport
}

/// A place where a TPM is reached.
package struct TPMPlace: TPMConnecting {
    /// The path of a character device of the kernel, or of the socket of a virtual TPM.
    package let path: String
    /// Seconds until a command without a response fails. The slowest command of a chip, the creation of a key, takes a
    /// few seconds.
    package let seconds: Int64

    /// The device of the kernel's resource manager, which separates the objects of different programs.
    package static let device = "/dev/tpmrm0"

    package init(_ path: String = TPMPlace.device, seconds: Int64 = 60) { (self.path, self.seconds) = (path, seconds) }

    /// Opens a connection. Throws `enclaveUnavailable` if that is not possible.
    package func connect() throws(Failure) -> any TPMTransport {
        do throws(SystemError) {
            return try open()
        } catch {
            throw Failure(
                .enclaveUnavailable, "The TPM at \(path) cannot be opened: \(error.description).",
                hint: Self.hint(error), cause: error)
        }
    }

    private func open() throws(SystemError) -> DescriptorTransport {
        do throws(SystemError) {
            let device = try Descriptor.open(path, O_RDWR)
            return DescriptorTransport(device, isSocket: false, seconds: seconds)
        } catch {
            // open(2) reports a socket in this way.
            guard error.code == ENXIO else { throw error }
            let socket = try Sockets.connect(path, seconds: seconds)
            return DescriptorTransport(socket, isSocket: true, seconds: seconds)
        }
    }

    private static func hint(_ error: SystemError) -> Phrase {
        switch error.code {
        case ENOENT, ENXIO, ENODEV: "Check in the firmware settings that the TPM is turned on. See: latchkey doctor"
        case EACCES, EPERM:
            "Only programs with access to the device can use it. The system services of Latchkey have it: "
                + "latchkey doctor"
        default: "See: latchkey doctor"
        }
    }
}

/// A TPM behind a descriptor: a character device, which reads and writes whole messages, or a stream socket.
final class DescriptorTransport: TPMTransport {
    private let descriptor: Descriptor
    private let isSocket: Bool
    private let seconds: Int64

    init(_ descriptor: Descriptor, isSocket: Bool, seconds: Int64) {
        (self.descriptor, self.isSocket, self.seconds) = (descriptor, isSocket, seconds)
    }

    var isExclusive: Bool { isSocket }

    func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8] {
        let deadline = Uptime.deadline(seconds: seconds)
        do throws(SystemError) { try write(command) } catch { throw lost(error) }
        var response: [UInt8] = []
        var size = TPMFrame.headerBytes
        while response.count < size {
            response += try read(until: deadline)
            if response.count >= TPMFrame.headerBytes {
                size = try TPMFrame.size(ofResponseWith: Array(response.prefix(TPMFrame.headerBytes)))
            }
        }
        guard response.count == size else { throw TPMReader.malformed }
        return response
    }

    private func write(_ command: [UInt8]) throws(SystemError) {
        guard isSocket else { return try descriptor.write(all: command) }
        // A command is smaller than the buffer of a socket.
        guard try Sockets.send(descriptor, command) == command.count else { throw SystemError("send", code: EAGAIN) }
    }

    func pause(milliseconds: Int) { _ = poll(nil, 0, CInt(clamping: milliseconds)) }

    /// Reads what has arrived, at least one byte.
    private func read(until deadline: Int64) throws(Failure) -> [UInt8] {
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes =
                try descriptor.wait(for: POLLIN, until: deadline)
                ? try descriptor.read(atMost: TPMFrame.responseLimit) : nil
        } catch {
            throw lost(error)
        }
        guard let bytes else {
            throw Failure(
                .enclaveUnavailable, "The TPM sent no response within \(seconds) seconds.",
                hint: "Try again; if that does not help, restart the machine.")
        }
        guard !bytes.isEmpty else {
            throw Failure(.enclaveUnavailable, "The connection to the TPM ended.", hint: "Try again.")
        }
        return bytes
    }

    private func lost(_ error: SystemError) -> Failure {
        Failure(
            .enclaveUnavailable, "The TPM cannot be used: \(error.description).",
            hint: "Try again. See: latchkey doctor",
            cause: error)
    }
}
