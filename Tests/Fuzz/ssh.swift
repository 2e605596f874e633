// SPDX-License-Identifier: Apache-2.0
//
// libFuzzer target of what the agent for SSH reads; `scripts/fuzz 60 ssh` runs it. The tests of SSHAgentProtocol check
// the same property for the corpus and for their own inputs.

import LatchkeyModel
import SSHAgent

/// Reads one input and describes how it violates the property; nil when it does not.
///
/// The first byte selects what is read. Every rejection is correct. An accepted host key has one encoding; no session
/// is bound without its signature; text that is shown has no control character and fits a prompt.
func complaint(aboutSSH payload: [UInt8]) -> String? {
    guard let first = payload.first else { return nil }
    let bytes = Array(payload.dropFirst())
    switch first % 4 {
    case 0:
        guard let request = try? SSHAgentRequest(decoding: SecretBytes(bytes)) else { return nil }
        guard case .bind(let bind) = request else { return nil }
        var bindings = SessionBindings()
        let isBound = bindings.add(bind)
        // The fuzzer cannot make a signature; a bound session is one of the corpus with its own signature.
        if isBound, bindings.hasFailed || bindings.bindings.count != 1 { return "counts a session wrongly" }
        return nil
    case 1:
        guard let key = try? HostKey(bytes) else { return nil }
        guard let plain = try? HostKey(key.plainBlob) else { return "rejects the key inside" }
        if plain.plainBlob != plain.blob || plain.fingerprint != key.fingerprint { return "changes the key inside" }
        if key.blob != bytes { return "changes the key" }
        return (try? HostKey(bytes + [0])) == nil ? nil : "accepts a trailing byte"
    case 2:
        let key = Array(bytes.prefix(4))
        guard let content = try? SignedContent(Array(bytes.dropFirst(4)), key: key),
            let purpose = try? SigningPurpose(content, SessionBindings(), allowsUnbound: true)
        else { return nil }
        let text = SigningReason(program: "/bin/x", processID: 1, key: "k") { _ in nil }.text(purpose)
        let isPlain = text.unicodeScalars.allSatisfy { ($0.value >= 0x20 && $0.isASCII) || $0 == "…" }
        return isPlain && text.count <= Limits.reasonCharacters ? nil : "shows \(text)"
    default:
        var known = KnownHosts()
        known.add(String(decoding: bytes, as: UTF8.self))
        guard let host = try? HostKey(Array(bytes.prefix(51))) else { return nil }
        _ = known.revokes(host)
        _ = known.name(of: host, candidates: ["a"])
        return nil
    }
}
