// SPDX-License-Identifier: Apache-2.0

import Foundation
import LocalAuthentication
import Security

/// Measures signatures of a key that demands the passcode of the TPM, through both services of tier `tpm`, in alternating
/// batches with the same proof and signature alone. `latchkey-authd` sends the proof by way of `latchkeyd`.
///
/// The services run in a mount namespace with a `/run` of their own, so that this machine's are not disturbed: that needs
/// root. Prompts are shown on terminals of the namespace of process 1 only, so there is one for processes, too. The program starts itself again in the namespace, and there again on a terminal, where a passcode is typed once.
enum PasscodeRun {
    private static let inBatch = 20
    private static let rounds = 10
    private static let passcode = "a passcode of the run 815"
    /// The user of the store's service; any but root that every system has.
    private static let storeUser = "daemon"

    /// Measures in a namespace, and prints a table; prints one line if that is not possible here.
    static func measure(_ place: Workspace) throws(BenchFailure) {
        guard let programs else {
            return notMeasured("LATCHKEY_DAEMON is in no folder with latchkey-authd and latchkey: make build services")
        }
        guard geteuid() == 0 else { return notMeasured("only root can start both services") }
        guard !Machine.text("/etc/shadow").contains("\nroot:$"), !Machine.text("/etc/shadow").hasPrefix("root:$") else {
            return notMeasured("root has a password, which a first passcode would need")
        }
        let folder = place.folder("services")
        guard mkdir(folder, 0o755) == 0, chmod(place.folder(""), 0o711) == 0 else { throw .system("mkdir") }
        try run(
            "/usr/bin/unshare",
            [
                "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
                CommandLine.arguments[0], "--passcode-services", folder, programs,
            ])
    }

    private static func notMeasured(_ reason: String) {
        print("\na key by the passcode of the TPM: not measured, \(reason)", to: .standardOutput)
    }

    private static let names = ["latchkeyd", "latchkey-authd", "latchkey-prompt", "latchkey"]

    /// The folder of the programs.
    private static var programs: String? {
        guard let daemon = ProcessInfo.processInfo.environment["LATCHKEY_DAEMON"] else { return nil }
        let folder = URL(fileURLWithPath: daemon).deletingLastPathComponent().path
        return names.allSatisfy { access("\(folder)/\($0)", X_OK) == 0 } ? folder : nil
    }

    // MARK: - In the namespace

    /// Starts the services, types a passcode, and has the client measure.
    static func serve(_ folder: String, _ built: String) throws(BenchFailure) {
        guard let swtpm = TPMProcess.program else { throw BenchFailure("swtpm is not installed.") }
        try run("/usr/bin/mount", ["-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run"])
        let (ours, floors) = (
            try TPMProcess(swtpm, folder: folder + "/tpm"), try TPMProcess(swtpm, folder: folder + "/floor")
        )
        // The service of the store must reach its TPM, and nothing else in the folder.
        guard let user = getpwnam(storeUser) else { throw BenchFailure("There is no user \(storeUser).") }
        let (uid, gid) = (user.pointee.pw_uid, user.pointee.pw_gid)
        // The programs can be in a home folder that the user of the store's service cannot enter.
        let programs = folder + "/programs"
        try run("/usr/bin/install", ["-D", "-t", programs] + names.map { built + "/" + $0 })
        guard chmod(folder + "/tpm", 0o711) == 0, chown(ours.path, uid, gid) == 0,
            mkdir(folder + "/stores", 0o700) == 0, chown(folder + "/stores", uid, gid) == 0,
            mkdir(folder + "/records", 0o700) == 0
        else { throw .system("chown") }
        let configuration = "/run/latchkeyd.conf"
        try write("tier = tpm\ntpm = \(ours.path)\nallow-virtual-hardware = yes\n", to: configuration)
        let authority = try start(
            programs + "/latchkey-authd",
            [
                "--sockets", "/run/latchkey", "--state", folder + "/records", "--store-user", storeUser,
                "--configuration", configuration,
            ])
        defer { authority.terminate() }
        try awaitFile("/run/latchkey/authd.sock")
        let keychain = try start(
            "/usr/bin/setpriv",
            [
                "--reuid", storeUser, "--regid", String(gid), "--clear-groups", programs + "/latchkeyd", "--system",
                "--sockets", "/run/latchkey", "--state", folder + "/stores", "--configuration", configuration,
            ])
        defer { keychain.terminate() }
        try awaitFile("/run/latchkey/public/keychain.sock")
        // A variable of this program would choose a store of tier user.
        let clear = "env -u LATCHKEY_HOME -u LATCHKEY_DAEMON HOME=\(folder)"
        let setting = try TypedTerminal("\(clear) \(programs)/latchkey passcode set")
        for question in ["new passcode", "again"] {
            _ = try setting.expect(question)
            setting.type(passcode)
        }
        _ = try setting.expect("Write this recovery code down")
        let shown = try setting.expect("Enter")
        guard let code = shown.range(of: "[0-9A-Z]{5}(-[0-9A-Z]{5}){3}-[0-9A-Z]{6}", options: .regularExpression)
        else { throw BenchFailure("The prompt showed no recovery code: \(shown)") }
        setting.type("")
        _ = try setting.expect("last group")
        setting.type(String(shown[code].suffix(6)))
        try setting.end()
        let result = folder + "/result"
        let client = try TypedTerminal(
            "\(clear) \(CommandLine.arguments[0]) --passcode-client \(floors.path) \(result)")
        _ = try client.expect("Type your passcode")
        client.type(passcode)
        try client.end()
        print(Machine.text(result), to: .standardOutput)
        for service in [keychain, authority] {
            service.terminate()
            service.waitUntilExit()
        }
        try ours.expectNothingHeld(after: "\(inBatch * rounds + 1) signatures by passcode")
    }

    private static func start(_ program: String, _ arguments: [String]) throws(BenchFailure) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        do { try process.run() } catch { throw BenchFailure("\(program) does not start: \(error)") }
        return process
    }

    private static func run(_ program: String, _ arguments: [String]) throws(BenchFailure) {
        let process = try start(program, arguments)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchFailure("\(program) failed.") }
    }

    private static func awaitFile(_ path: String) throws(BenchFailure) {
        for _ in 0..<1000 where access(path, F_OK) != 0 { usleep(10_000) }
        guard access(path, F_OK) == 0 else { throw BenchFailure("\(path) did not appear within 10 seconds.") }
    }

    private static func write(_ text: String, to path: String) throws(BenchFailure) {
        let isWritten = FileManager.default.createFile(
            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o644])
        guard isWritten else { throw .system(path) }
    }

    // MARK: - On the terminal

    /// Proves the passcode once, signs, and writes the table to a file.
    static func sign(_ floors: String, _ result: String) throws(BenchFailure) {
        let floor = try TPMFloor(floors)
        let raw = try floor.makePasscodeKey()
        let context = LAContext()
        guard
            let control = SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .devicePasscode], nil)
        else { throw BenchFailure("No access control with the passcode.") }
        let attributes: [String: Any] = [
            kSecAttrAccessControl as String: control, kSecUseAuthenticationContext as String: context,
        ]
        let key = try TPMRun.makeKey([
            kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits as String: 256,
            kSecAttrTokenID as String: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs as String: attributes,
            kSecUseAuthenticationContext as String: context,
        ])
        let digest = Data(repeating: 7, count: 32) as CFData
        var (through, alone, untimed) = (Samples(), Samples(), Samples())
        func sign() -> Bool { SecKeyCreateSignature(key, .ecdsaSignatureDigestX962SHA256, digest, nil) != nil }
        // Shows the prompt. The context proves the passcode for this key from now on.
        guard sign() else { throw BenchFailure("The key did not sign.") }
        try floor.sign(raw, &untimed)
        for _ in 0..<rounds {
            for _ in 0..<inBatch where !through.time(sign) { throw BenchFailure("The key did not sign again.") }
            for _ in 0..<inBatch { try floor.sign(raw, &alone) }
        }
        let ratio = String(format: "%.2f", through.median / alone.median)
        try write(
            [
                "\na key by the passcode of the TPM (swtpm), \(through.count) signatures each",
                TPMRun.text("through both services, by passcode", through, alone),
                TPMRun.text("floor: proof of the value and signature, two commands", alone, alone),
                "\(ratio)x the commands that prove and sign (goal 1.30x)",
            ].joined(separator: "\n"), to: result)
    }
}
