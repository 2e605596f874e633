// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import TPMProtocol
import TestSupport
import Testing

/// The policies of `docs/reference/policy.md`, section "Keys of a TPM", against those that
/// `Tests/Vectors/tpm_policies.py` computes from that table without this code.
struct KeyPolicyVectorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rule: AccessControl
        let part: UInt8
        let epoch, reference, policy: String
        var testDescription: String { "\(name), passcode \(part), epoch \(epoch)" }
    }

    static let rows: [Row] = {
        let text = try? String(contentsOf: Repository.vectors("tpm-policies.tsv"), encoding: .utf8)
        return (text ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            let columns = line.split(separator: "\t").map(String.init)
            guard columns.count == 6, let flags = UInt32(columns[1], radix: 16), let part = UInt8(columns[2]) else {
                return nil
            }
            let rule = AccessControl(
                accessibility: .whenUnlockedThisDeviceOnly, constraints: AccessConstraints(rawValue: flags))
            return Row(
                name: columns[0], rule: rule, part: part, epoch: columns[3] == "-" ? "" : columns[3],
                reference: columns[4], policy: columns[5])
        }
    }()

    /// The generator of P-256, as in the script.
    private static let point =
        "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
        + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"

    private static func bytes(_ text: String) -> [UInt8] {
        var (rest, bytes) = (Substring(text), [UInt8]())
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func everyRowOfTheTableIsThere() {
        #expect(Self.rows.count == 40)
        #expect(Set(Self.rows.map(\.policy)).count == Self.rows.count, "no two access controls have the same policy")
    }

    @Test(arguments: rows) func anAccessControlHasThePolicyOfTheTable(_ row: Row) throws {
        #expect(row.rule.isValid)
        let part = PasscodeDemand.Part(rawValue: row.part)
        if part != nil { #expect(PasscodeDemand.Part(row.rule.plan) == part) }
        let isBound = row.rule.constraints.contains(.biometryCurrentSet)
        let reference = try KeyPolicyReference.make(
            userID: 1001, storeID: [UInt8](repeating: 0x53, count: 16), row.rule,
            enrolment: isBound ? EnrolmentSet([5, 6]) : nil, epoch: Self.bytes(row.epoch), passcode: part)
        #expect(Self.hexadecimal(reference) == row.reference)
        let verifier = [0, 0x0b] + [UInt8](repeating: 0x4a, count: 32)
        let policy = try PolicyDigest.enclaveKey(
            authority: #require(TPMPoint(Self.bytes(Self.point))), reference: reference,
            passcode: part.map { PasscodeDemand($0, verifier: verifier) },
            needsPassword: row.rule.constraints.contains(.applicationPassword))
        #expect(Self.hexadecimal(policy.bytes) == row.policy)
    }
}
