// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security

/// Adds, changes and deletes items in an endless loop, and reports each acknowledged operation on the socket at
/// standard input.
///
/// Lines are "a W N" for added, "u W N" for changed, "d W N" for deleted, and "? W N" for a call without an answer,
/// whose effect is unknown. W is the writer.
struct Writer {
    private let name: String

    init(_ name: String) { self.name = name }

    func run() -> Never {
        var number = 0
        while true {
            step(number)
            number += 1
        }
    }

    private func step(_ number: Int) {
        let key: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "item \(name) \(number)",
        ]
        var item = key
        item[kSecValueData as String] = Data("first".utf8)
        guard tell("a", number, SecItemAdd(item as CFDictionary, nil)) else { return }
        if number.isMultiple(of: 3) {
            let change = [kSecValueData as String: Data("second".utf8)]
            guard tell("u", number, SecItemUpdate(key as CFDictionary, change as CFDictionary)) else { return }
        }
        if number.isMultiple(of: 5) { _ = tell("d", number, SecItemDelete(key as CFDictionary)) }
    }

    private func tell(_ what: String, _ number: Int, _ status: OSStatus) -> Bool {
        let line: String
        switch status {
        case errSecSuccess: line = "\(what) \(name) \(number)\n"
        case errSecNotAvailable: line = "? \(name) \(number)\n"
        default: line = "! \(name) \(number) \(what) \(status)\n"
        }
        let bytes = Array(line.utf8)
        guard write(STDIN_FILENO, bytes, bytes.count) == bytes.count else { exit(0) }
        return status == errSecSuccess
    }
}

/// Adds the same items as the other racers, and prints how many it was the first to add.
struct Racer {
    private let name: String

    init(_ name: String) { self.name = name }

    func run() {
        var won = 0
        for number in 0..<20 {
            let item: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "race \(number)",
                kSecValueData as String: Data(name.utf8),
            ]
            switch SecItemAdd(item as CFDictionary, nil) {
            case errSecSuccess: won += 1
            case errSecDuplicateItem: break
            case let status:
                print("failed: \(status)")
                exit(1)
            }
        }
        print(won)
    }
}

/// Adds items of its own while other processes do the same, and checks what it reads.
struct Mixer {
    private let name: String

    init(_ name: String) { self.name = name }

    func run() {
        for round in 0..<20 {
            let key: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrAccount as String: "\(name) \(round)",
            ]
            var item = key
            item[kSecValueData as String] = Data("\(name) \(round)".utf8)
            expect(SecItemAdd(item as CFDictionary, nil), "add")
            var query = key
            query[kSecReturnData as String] = true
            var result: CFTypeRef?
            expect(SecItemCopyMatching(query as CFDictionary, &result), "read")
            guard result as? Data == Data("\(name) \(round)".utf8) else { fail("read another value") }
        }
        print("done")
    }

    private func expect(_ status: OSStatus, _ what: String) {
        guard status == errSecSuccess else { fail("\(what) answered \(status)") }
    }

    private func fail(_ words: String) -> Never {
        print("failed: \(words)")
        exit(1)
    }
}
