// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

private struct PasscodeParameters: WireMap {
    var change: Change
    var new: SecretBytes?

    enum Change: UInt8, ClosedSet {
        case set = 1
        case change = 2
        case remove = 3
        case setAtPrompt = 4
        case changeAtPrompt = 5
        case recoverAtPrompt = 6
    }

    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(change: try map.field(0, \.change), new: try map.optional(1, \.new, .secret(limit: Limits.passcodeBytes)))
    }
}

extension Request.PasscodeChange: WireValue {
    package func write(to writer: inout CBORWriter) {
        let parameters =
            switch self {
            case .set(let new): PasscodeParameters(change: .set, new: new)
            case .change(let new): PasscodeParameters(change: .change, new: new)
            case .remove: PasscodeParameters(change: .remove)
            case .setAtPrompt: PasscodeParameters(change: .setAtPrompt)
            case .changeAtPrompt: PasscodeParameters(change: .changeAtPrompt)
            case .recoverAtPrompt: PasscodeParameters(change: .recoverAtPrompt)
            }
        parameters.write(to: &writer)
    }

    package init(from reader: inout CBORReader) throws(WireError) {
        let parameters = try PasscodeParameters(from: &reader)
        switch (parameters.change, parameters.new) {
        case (.set, let new?): self = .set(new)
        case (.change, let new?): self = .change(new)
        case (.remove, nil): self = .remove
        case (.setAtPrompt, nil): self = .setAtPrompt
        case (.changeAtPrompt, nil): self = .changeAtPrompt
        case (.recoverAtPrompt, nil): self = .recoverAtPrompt
        case (.set, nil), (.change, nil): throw .missingKey(1)
        case (.remove, _?), (.setAtPrompt, _?), (.changeAtPrompt, _?), (.recoverAtPrompt, _?): throw .invalidValue
        }
    }
}

extension Request.RecoverAtPrompt: WireValue {
    package func write(to writer: inout CBORWriter) { Request.PasscodeChange.recoverAtPrompt.write(to: &writer) }

    package init(from reader: inout CBORReader) throws(WireError) {
        guard try Request.PasscodeChange(from: &reader) == .recoverAtPrompt else { throw .invalidValue }
        self.init()
    }
}
