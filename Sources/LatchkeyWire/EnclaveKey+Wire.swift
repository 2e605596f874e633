// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

/// Bytes of the longest digest that is signed.
private let digestBytes = 64
/// Bytes of an uncompressed point of P-256.
private let pointBytes = 65

extension CBORWriter {
    /// `[0, persistent reference]` or `[1, sealed key]`.
    mutating func enclaveKeyName(_ name: EnclaveKeyName) {
        array(2)
        switch name {
        case .stored(let reference):
            unsigned(0)
            bytes(reference)
        case .detached(let sealed):
            unsigned(1)
            bytes(sealed)
        }
    }
}

extension CBORReader {
    mutating func enclaveKeyName() throws(WireError) -> EnclaveKeyName {
        try tuple(2) { (reader) throws(WireError) in
            switch try reader.unsigned() {
            case 0: .stored(try reader.bytes(limit: 256))
            case 1: .detached(try reader.bytes(limit: Limits.detachedKeyBytes))
            default: throw .invalidValue
            }
        }
    }
}

extension EnclaveOperation {
    /// `[0, digest]` or `[1, point]`.
    fileprivate func write(to writer: inout CBORWriter) {
        writer.array(2)
        switch self {
        case .sign(let digest):
            writer.unsigned(0)
            writer.bytes(digest)
        case .agree(let point):
            writer.unsigned(1)
            writer.bytes(point)
        }
    }

    fileprivate init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.tuple(2) { (reader) throws(WireError) in
            switch try reader.unsigned() {
            case 0: .sign(digest: try reader.bytes(limit: digestBytes))
            case 1: .agree(point: try reader.bytes(limit: pointBytes))
            default: throw .invalidValue
            }
        }
    }
}

extension Request.CreateEnclaveKey {
    func write(to writer: inout CBORWriter) {
        writer.map(4)
        writer.unsigned(0)
        writer.attributes(attributes)
        writer.unsigned(1)
        writer.accessControl(accessControl)
        writer.unsigned(2)
        writer.boolean(isPermanent)
        writer.unsigned(3)
        writer.authentication(authentication)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var attributes: Attributes?
        var accessControl: AccessControl?
        var isPermanent: Bool?
        var authentication: Authentication?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: attributes = try reader.attributes()
            case 1: accessControl = try reader.accessControl()
            case 2: isPermanent = try reader.boolean()
            case 3: authentication = try reader.authentication()
            default: return false
            }
            return true
        }
        self.init(
            attributes: try required(attributes, 0), accessControl: try required(accessControl, 1),
            isPermanent: try required(isPermanent, 2), authentication: try required(authentication, 3))
    }
}

extension Request.UseEnclaveKey {
    func write(to writer: inout CBORWriter) {
        writer.map(3)
        writer.unsigned(0)
        writer.enclaveKeyName(name)
        writer.unsigned(1)
        operation.write(to: &writer)
        writer.unsigned(2)
        writer.authentication(authentication)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var name: EnclaveKeyName?
        var operation: EnclaveOperation?
        var authentication: Authentication?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: name = try reader.enclaveKeyName()
            case 1: operation = try EnclaveOperation(from: &reader)
            case 2: authentication = try reader.authentication()
            default: return false
            }
            return true
        }
        self.init(
            name: try required(name, 0), operation: try required(operation, 1),
            authentication: try required(authentication, 2))
    }
}

extension EnclaveKey {
    func write(to writer: inout CBORWriter) {
        writer.map(4)
        writer.unsigned(0)
        writer.enclaveKeyName(name)
        writer.unsigned(1)
        writer.bytes(publicKey)
        writer.unsigned(2)
        writer.attributes(attributes)
        writer.unsigned(3)
        writer.accessControl(accessControl)
    }

    init(from reader: inout CBORReader) throws(WireError) {
        var name: EnclaveKeyName?
        var publicKey: [UInt8]?
        var attributes: Attributes?
        var accessControl: AccessControl?
        try reader.map { (reader, key) throws(WireError) in
            switch key {
            case 0: name = try reader.enclaveKeyName()
            case 1: publicKey = try reader.bytes(limit: pointBytes)
            case 2: attributes = try reader.attributes()
            case 3: accessControl = try reader.accessControl()
            default: return false
            }
            return true
        }
        self.init(
            name: try required(name, 0), publicKey: try required(publicKey, 1), attributes: try required(attributes, 2),
            accessControl: try required(accessControl, 3))
    }
}
