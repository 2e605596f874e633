// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of the responses of a TPM. `scripts/fuzz 60 tpm` runs it. An input is a list of responses: two bytes
// of length each, and the bytes. The driver sends its commands and gets them as answers, in order.

import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import SystemDriver
import TPMProtocol

@testable import TPMDriver

/// A TPM that answers with the bytes of an input.
private final class ScriptedTPM: TPMTransport, TPMConnecting {
    private let rest: Mutex<ArraySlice<UInt8>>

    init(_ bytes: [UInt8]) { rest = Mutex(bytes[...]) }

    var isExclusive: Bool { rest.withLock { $0.count % 2 == 0 } }
    func connect() throws(Failure) -> any TPMTransport { self }
    func pause(milliseconds: Int) {}

    func exchange(_ command: [UInt8]) throws(Failure) -> [UInt8] {
        let response: [UInt8]? = rest.withLock { rest in
            guard rest.count >= 2 else { return nil }
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            let end = min(rest.startIndex + 2 + count, rest.endIndex)
            defer { rest = rest[end...] }
            return Array(rest[(rest.startIndex + 2)..<end])
        }
        guard let response else { throw Failure(.enclaveUnavailable, "The input has ended.") }
        return response
    }
}

private let point = TPMPoint([4] + [UInt8](repeating: 7, count: 64))
private let random = SystemRandomSource()
/// A P-256 point that is on the curve: the base point.
private let authority: [UInt8] = [
    4, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2, 0x77, 0x03,
    0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96, 0x4f, 0xe3, 0x42, 0xe2, 0xfe,
    0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16, 0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce,
    0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
]

/// Reads one input and describes how it violates the property; nil when it does not.
func complaint(aboutTPM bytes: [UInt8]) -> String? {
    let binding = KeyBinding(authority: authority, reference: [UInt8](repeating: 1, count: 32))
    let clock = VirtualClock()
    let tpm = ScriptedTPM(bytes)
    let chip = TPMChip(tpm, clock: clock, random: random)
    let module = TPMEnclave(chip, clock: clock, allowsVirtual: true)
    _ = try? chip.identity()
    let rule = AccessControl(constraints: .privateKeyUsage)
    // Without the storage root key's private half no response is authentic, so nothing is made and nothing signed.
    if (try? module.create(KeyProperties(accessControl: rule, binding: binding))) != nil {
        return "made a key without a TPM"
    }
    if let policy = try? TPMBlob.policy(binding, needsPassword: false) {
        var area = TPMPublicArea.enclaveKey(policy: policy.bytes)
        area.point = point
        let blob = TPMBlob(
            parent: [UInt8](repeating: 0, count: 34), area: area, privatePart: [1], binding: binding,
            needsPassword: false, creationDigest: [], creationTicket: [])
        if let encoded = try? blob.encoded(),
            let challenge = try? module.begin(encoded, .sign(digest: [UInt8](repeating: 1, count: 32))),
            (try? module.finish(
                challenge.use, approval: KeyApproval(expirySeconds: 60, signature: [UInt8](repeating: 1, count: 64)),
                password: nil)) != nil
        {
            return "signed without a TPM"
        }
    }
    // A blob is decoded to what it says, or not at all.
    if let blob = try? TPMBlob(SecretBytes(bytes)), (try? blob.encoded().copyBytes()) != bytes {
        return "a blob has two encodings"
    }
    for command in [TPMCommand.create, .startAuthSession, .readPublic] {
        _ = try? TPMResponse(decoding: bytes, to: command, [.emptyPassword])
    }
    return nil
}
