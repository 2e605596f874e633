// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// A closed set of numbers; a number outside the set is refused.
protocol ClosedSet: WireValue, RawRepresentable where RawValue: FixedWidthInteger & UnsignedInteger {}

extension ClosedSet {
    package func write(to writer: inout CBORWriter) { writer.unsigned(UInt64(rawValue)) }
    package init(from reader: inout CBORReader) throws(WireError) { self = try reader.number() }
}

extension Accessibility: ClosedSet {}
extension AuditEvent: ClosedSet {}
extension UntrustedSource: ClosedSet {}
extension AuthenticationMethod: ClosedSet {}
extension BiometryKind: ClosedSet {}
extension EnclaveDevice: ClosedSet {}
extension EnclaveKind: ClosedSet {}
extension KeyUses: ClosedSet {}
extension Finding.Kind: ClosedSet {}
extension ItemClass: ClosedSet {}
extension PasscodeDemand.Part: ClosedSet {}
extension PasscodeKind: ClosedSet {}
extension Policy: ClosedSet {}
extension SkipReason: ClosedSet {}
extension Status: ClosedSet {}
extension Tier: ClosedSet {}
