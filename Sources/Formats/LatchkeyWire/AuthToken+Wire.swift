// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension AuthToken: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        let version = try map.field(0, \.version, VersionShape())
        var token = Self(
            connection: try map.field(1, \.connection, .bytes(count: Self.identifierBytes)),
            challenge: try map.field(2, \.challenge, .bytes(count: Self.digestBytes)),
            userID: try map.field(3, \.userID),
            passcodeID: try map.field(4, \.passcodeID, .bytes(limit: Self.identifierBytes)),
            purpose: try map.field(5, \.purpose),
            binding: try map.field(6, \.binding, .bytes(count: Self.digestBytes)),
            methods: try map.field(7, \.methods, MethodsShape()),
            strength: try map.field(8, \.strength),
            isVirtual: try map.field(9, \.isVirtual),
            enrolment: try map.optional(10, \.enrolment, EnrolmentShape()),
            bootID: try map.field(11, \.bootID, .bytes(limit: 64)),
            issued: try map.field(12, \.issued),
            expires: try map.field(13, \.expires))
        token.version = version
        token.code = try map.field(14, \.code, .bytes(count: Self.digestBytes))
        return token
    }
}

/// The version of a token. Another version is refused: its fields may mean something else.
private struct VersionShape: WireShape {
    func write(_ value: UInt8, to writer: inout CBORWriter) { writer.unsigned(UInt64(value)) }

    func read(from reader: inout CBORReader) throws(WireError) -> UInt8 {
        guard try reader.unsigned() == UInt64(AuthToken.version) else { throw .invalidValue }
        return AuthToken.version
    }
}

/// The methods of a proof, in ascending order.
struct MethodsShape: WireShape {
    func write(_ value: Set<AuthenticationMethod>, to writer: inout CBORWriter) {
        writer.array(value.count)
        for method in AuthenticationMethod.allCases where value.contains(method) { method.write(to: &writer) }
    }

    func read(from reader: inout CBORReader) throws(WireError) -> Set<AuthenticationMethod> {
        var last: AuthenticationMethod?
        var methods: Set<AuthenticationMethod> = []
        try reader.array(limit: AuthenticationMethod.allCases.count) { (reader) throws(WireError) in
            let method = try AuthenticationMethod(from: &reader)
            if let last, last.rawValue >= method.rawValue { throw .unsortedKeys }
            methods.insert(method)
            last = method
        }
        return methods
    }
}

/// The bytes of an enrolment set, at least one.
package struct EnrolmentShape: WireShape {
    package init() {}
    package func write(_ value: EnrolmentSet, to writer: inout CBORWriter) { writer.bytes(value.bytes) }

    package func read(from reader: inout CBORReader) throws(WireError) -> EnrolmentSet {
        let bytes = try reader.bytes(limit: EnrolmentSet.maximumBytes)
        guard !bytes.isEmpty else { throw .invalidValue }
        return EnrolmentSet(bytes)
    }
}

extension UInt32: WireValue {
    package func write(to writer: inout CBORWriter) { writer.unsigned(UInt64(self)) }

    package init(from reader: inout CBORReader) throws(WireError) {
        guard let value = UInt32(exactly: try reader.unsigned()) else { throw .invalidValue }
        self = value
    }
}

extension AuthToken.Strength: ClosedSet {}
extension PromptPurpose: ClosedSet {}
extension LastStep: ClosedSet {}
extension ProgramIdentity.Strength: ClosedSet {}
extension AuthorityCall.Change.Kind: ClosedSet {}
