// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyClient
import LatchkeyModel
import LocalAuthentication
import Security

/// A program that uses the API modules as an app does; the tests start it where a second process is needed.
@main
enum Main {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        switch CommandLine.arguments.dropFirst().first {
        case "write": Writer(CommandLine.arguments.last ?? "").run()
        case "race": Racer(CommandLine.arguments.last ?? "").run()
        case "whose": whose()
        case "lie": lie()
        case "read": read(CommandLine.arguments.last ?? "")
        case "mix": Mixer(CommandLine.arguments.last ?? "").run()
        case "attest": Attester(CommandLine.arguments.last ?? "").run(CommandLine.arguments.dropFirst(2).first ?? "")
        case "sign": Signer(CommandLine.arguments.last ?? "").run()
        case "agent": WatchingAgent.run(comesBack: CommandLine.arguments.dropFirst(2).first == "twice")
        case "evaluate": Evaluator(Array(CommandLine.arguments.dropFirst(2))).run()
        case "decrypt": Signer(CommandLine.arguments.last ?? "").decrypt()
        case "connect": Connector(CommandLine.arguments.last ?? "").run()
        case "knock": Knock(CommandLine.arguments.last ?? "").run()
        case "disguise": Disguise(CommandLine.arguments.last ?? "").run()
        case "fill": Vault(CommandLine.arguments.last ?? "").fill()
        case "open": vault.open()
        case "stamp": vault.stamp()
        case "export": vault.export()
        case "hold": Holder(CommandLine.arguments.last ?? "").run()
        default: exit(64)
        }
    }

    /// The vault and the reason of the arguments.
    private static var vault: Vault {
        let arguments = CommandLine.arguments.dropFirst(2)
        return Vault(arguments.first ?? "", reason: arguments.last ?? "")
    }

    /// Prints the process id of the daemon that answers.
    private static func whose() {
        do throws(Failure) {
            print(try Client.daemon.call(Request.Status()).processID)
        } catch {
            print("failed: \(error.message)")
            exit(1)
        }
    }

    /// Ignores whether an evaluation succeeded, then reads a protected item with that context.
    private static func lie() {
        let context = LAContext()
        context.interactionNotAllowed = true
        let replied = DispatchSemaphore(value: 0)
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "lie") { isProven, _ in
            print("evaluated \(isProven)")
            replied.signal()
        }
        replied.wait()
        read("protected", context)
    }

    private static func read(_ account: String, _ context: LAContext? = nil) {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: account,
            kSecReturnData as String: true,
        ]
        if let context { query[kSecUseAuthenticationContext as String] = context }
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        print("read \(status) \((result as? Data).map { String(decoding: $0, as: UTF8.self) } ?? "nothing")")
        print("why \(SecCopyErrorMessageString(status, nil).map { $0 as String } ?? "")")
    }
}
