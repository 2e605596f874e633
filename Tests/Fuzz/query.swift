// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the dictionaries that apps pass to the four SecItem functions: any keys and any values, nested or
// of a wrong type. Valid queries fail, because the client never reaches a daemon. `scripts/fuzz 60 query` runs it.

import Foundation
import LatchkeyClient
import LatchkeyModel
import Security

/// Reads one input and describes how it violates the property; nil when it does not.
func complaint(aboutQuery bytes: [UInt8]) -> String? {
    _ = Reading.engine
    var input = Reading(bytes: bytes[...])
    let function = input.byte()
    let query = input.dictionary(depth: 0) as CFDictionary
    var result: CFTypeRef?
    let status =
        switch function % 4 {
        case 0: function < 128 ? SecItemAdd(query, nil) : SecItemAdd(query, &result)
        case 1: function < 128 ? SecItemCopyMatching(query, nil) : SecItemCopyMatching(query, &result)
        case 2: SecItemUpdate(query, input.dictionary(depth: 0) as CFDictionary)
        default: SecItemDelete(query)
        }
    // No call can succeed without a daemon.
    if status == errSecSuccess { return "a call succeeded without a daemon" }
    return nil
}

/// Builds dictionaries from the bytes of an input.
private struct Reading {
    static let engine: Void = ClientScope.setDefault(
        Client(application: "fuzz") { () throws(Failure) in throw Failure(.daemonUnavailable, "never there") })

    private static let names = [
        "class", "acct", "svce", "agrp", "sync", "syna", "pdmn", "accc", "labl", "desc", "icmt", "crtr", "type",
        "invi", "nega", "gena", "srvr", "sdmn", "ptcl", "atyp", "port", "path", "cdat", "mdat", "r_Data",
        "r_Attributes", "r_Ref", "r_PersistentRef", "m_Limit", "m_LimitOne", "m_LimitAll", "m_ItemList", "m_Issuers",
        "u_AuthCtx", "u_AuthUI", "u_AuthUIA", "u_AuthUIF", "u_AuthUIS", "u_NoAuthUI", "u_OpPrompt", "v_Data",
        "v_PersistentRef", "v_Ref", "nleg", "genp", "inet", "keys", "cert", "idnt", "ak", "ck", "dk", "akpu", "",
    ]

    var bytes: ArraySlice<UInt8>

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    private mutating func data() -> Data {
        let count = Int(byte())
        defer { bytes = bytes.dropFirst(count) }
        return Data(bytes.prefix(count))
    }

    private mutating func text() -> String {
        let choice = Int(byte())
        return choice < Self.names.count ? Self.names[choice] : String(decoding: data(), as: UTF8.self)
    }

    mutating func dictionary(depth: Int) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        for _ in 0..<Int(byte() % 8) { dictionary[text()] = value(depth: depth) }
        return dictionary
    }

    private mutating func value(depth: Int) -> Any {
        switch byte() % 13 {
        case 0, 1: return text()
        case 2: return data()
        case 3: return NSNumber(value: byte() & 1 == 1)
        case 4: return NSNumber(value: Int64(bitPattern: data().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }))
        case 5: return NSNumber(value: Double(bitPattern: data().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }))
        case 6: return Date(timeIntervalSince1970: Double(bitPattern: data().reduce(0) { $0 << 8 | UInt64($1) }))
        case 7: return NSNull()
        case 8:
            let flags = SecAccessControlCreateFlags(rawValue: data().prefix(4).reduce(0) { $0 << 8 | UInt($1) })
            return SecAccessControlCreateWithFlags(nil, text() as NSString, flags, nil) as Any
        case 9 where depth < 3: return dictionary(depth: depth + 1)
        case 10 where depth < 3: return [value(depth: depth + 1)]
        case 11: return NSString(string: text())
        default: return ["nested": data()]
        }
    }
}
