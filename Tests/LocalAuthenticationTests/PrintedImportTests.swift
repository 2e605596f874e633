// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

/// Published code compiles with exactly the imports it was printed with, in both language modes and without further
/// options.
@Suite struct PrintedImportTests {
    /// The protocol of source-documents 000, which imports only LocalAuthentication.
    private static let protocolOfContexts = """
        import LocalAuthentication

        protocol BiometryEvaluating {
            func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
            func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool
            var biometryType: LABiometryType { get }
        }
        extension LAContext: BiometryEvaluating {}

        func check(_ context: LAContext) -> Data? {
            var error: NSError?
            guard context.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error) else { return nil }
            return Data("secret".utf8)
        }
        """

    /// A file that imports LocalAuthentication can use Security, which Apple's Foundation exports.
    private static let keychainBesideContexts = """
        import LocalAuthentication

        func read(_ context: LAContext) -> (OSStatus, Data?) {
            let query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword,
                kSecReturnData as String: true,
                kSecUseAuthenticationContext as String: context,
            ]
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            return (status, status == errSecSuccess ? result as? Data : nil)
        }
        """

    /// The keychain calls of the wrapper of source-documents 001. The wrapper imports Foundation, this code Security.
    private static let keychainAlone = """
        import Security

        func store(_ password: Data) throws {
            var error: Unmanaged<CFError>?
            guard let rule = SecAccessControlCreateWithFlags(
                kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, .userPresence, &error)
            else { throw error!.takeRetainedValue() as Error }
            let query = [kSecClass: kSecClassGenericPassword, kSecValueData: password, kSecAttrAccessControl: rule]
                as CFDictionary
            SecItemAdd(query, nil)
            var bytes = [UInt8](repeating: 0, count: 16)
            _ = SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes)
        }
        """

    @Test(arguments: [protocolOfContexts, keychainBesideContexts, keychainAlone], ["5", "6"])
    func aFileCompilesWithItsOwnImports(text: String, mode: String) throws {
        let folder = try TemporaryFolder()
        let file = URL(filePath: folder.path).appending(component: "Printed.swift")
        try Data(text.utf8).write(to: file)
        let (status, words) = try Repository.typecheck(file, options: ["-swift-version", mode])
        #expect(status == 0, "\(words)")
    }
}
