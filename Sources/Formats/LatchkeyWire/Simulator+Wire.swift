// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension SimulatorCommand: WireValue {
    /// Writes `[command, argument]`; the argument is an empty map for a command without one.
    package func write(to writer: inout CBORWriter) {
        switch self {
        case .sensor(let kind): writer.message(1, kind, .number())
        case .enroll: writer.message(2)
        case .unenroll: writer.message(3)
        case .replaceFinger: writer.message(4)
        case .touch(let matching): writer.message(5, matching, .boolean)
        case .advance(let seconds): writer.message(6, seconds, .unsigned)
        case .reset: writer.message(7)
        case .lock: writer.message(8)
        case .unlock(let byBiometry): writer.message(9, byBiometry, .boolean)
        case .background(let isBehind): writer.message(14, isBehind, .boolean)
        case .permission(let isAllowed): writer.message(16, isAllowed, .boolean)
        case .fail(let failure): writer.message(17, failure, .number())
        case .acceptAnyPasscode(let isOn): writer.message(18, isOn, .boolean)
        case .restart: writer.message(19)
        case .cancel: writer.message(20)
        case .fallback: writer.message(21)
        case .enter(let passcode): writer.message(22, passcode, .passcode)
        case .acknowledgeCode: writer.message(23)
        case .enterCode(let code): writer.message(24, code, .code)
        case .reportCode: writer.message(25)
        case .enterNewPasscode(let passcode): writer.message(26, passcode, .passcode)
        case .guide(let guidance): writer.message(27, guidance, .number())
        case .unplug: writer.message(28)
        case .look(let matching): writer.message(29, matching, .boolean)
        case .answer(let answers): writer.message(30, answers, .number())
        case .choose(let answer): writer.message(31, answer.rawValue, .answer)
        }
    }

    package init(from reader: inout CBORReader) throws(WireError) {
        self = try reader.message { (reader, command) throws(WireError) -> SimulatorCommand in
            switch command {
            case 1: .sensor(try reader.value(.number()))
            case 2: try reader.noFields(.enroll)
            case 3: try reader.noFields(.unenroll)
            case 4: try reader.noFields(.replaceFinger)
            case 5: .touch(matching: try reader.value(.boolean))
            case 6: .advance(seconds: try reader.value(.unsigned))
            case 7: try reader.noFields(.reset)
            case 8: try reader.noFields(.lock)
            case 9: .unlock(byBiometry: try reader.value(.boolean))
            case 14: .background(try reader.value(.boolean))
            case 16: .permission(try reader.value(.boolean))
            case 17: .fail(try reader.value(.number()))
            case 18: .acceptAnyPasscode(try reader.value(.boolean))
            case 19: try reader.noFields(.restart)
            case 20: try reader.noFields(.cancel)
            case 21: try reader.noFields(.fallback)
            case 22: .enter(try reader.value(.passcode))
            case 23: try reader.noFields(.acknowledgeCode)
            case 24: .enterCode(try reader.value(.code))
            case 25: try reader.noFields(.reportCode)
            case 26: .enterNewPasscode(try reader.value(.passcode))
            case 27: .guide(try reader.value(.number()))
            case 28: try reader.noFields(.unplug)
            case 29: .look(matching: try reader.value(.boolean))
            case 30: .answer(try reader.value(.number()))
            case 31: .choose(try Self.answer(reader.value(.answer)))
            default: throw .invalidValue
            }
        }
    }

    private static func answer(_ text: String) throws(WireError) -> SecretAnswer {
        guard let answer = SecretAnswer(rawValue: text) else { throw .invalidValue }
        return answer
    }
}

extension WireShape where Self == TextShape {
    fileprivate static var answer: Self { .text(limit: Limits.recoveryCodeBytes) }
}

extension WireShape where Self == SecretShape {
    fileprivate static var passcode: Self { .secret(limit: Limits.passcodeBytes) }
    fileprivate static var code: Self { .secret(limit: Limits.recoveryCodeBytes) }
}
