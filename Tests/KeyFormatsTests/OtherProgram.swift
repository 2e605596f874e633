// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `openssl` and `ssh-keygen` in a folder of their own: other hands on the same standards.
final class OtherProgram {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(component: "latchkey-formats-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

    /// Readable by its owner alone, as `ssh-keygen` asks for.
    func write(_ name: String, _ data: Data) throws {
        let path = folder.appending(component: name).path
        #expect(FileManager.default.createFile(atPath: path, contents: data, attributes: [.posixPermissions: 0o600]))
    }

    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(component: name), encoding: .utf8)
    }

    /// Runs a program in the folder and gives what it wrote; it has to be content.
    @discardableResult
    func run(_ arguments: String...) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(arguments.joined(separator: " "))")
        return bytes
    }
}

/// The keys that the tests go through, made by `openssl`.
enum KeyChoice: CaseIterable {
    case rsa2048, rsa3072, p256, p384, p521

    /// The arguments of `openssl genpkey`, and of `ssh-keygen`.
    var openSSL: (algorithm: String, option: String) {
        switch self {
        case .rsa2048: ("RSA", "rsa_keygen_bits:2048")
        case .rsa3072: ("RSA", "rsa_keygen_bits:3072")
        case .p256: ("EC", "ec_paramgen_curve:P-256")
        case .p384: ("EC", "ec_paramgen_curve:P-384")
        case .p521: ("EC", "ec_paramgen_curve:P-521")
        }
    }

    var bitCount: Int {
        switch self {
        case .rsa2048: 2048
        case .rsa3072: 3072
        case .p256: 256
        case .p384: 384
        case .p521: 521
        }
    }
}
