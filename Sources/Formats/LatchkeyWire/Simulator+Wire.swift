// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

/// The parameters of `simulate`.
private struct SimulatorParameters: WireMap {
    var command: Command
    var argument: UInt64?
    var typed: SecretBytes?

    /// Numbers of commands; part of the wire format.
    enum Command: UInt8, ClosedSet {
        case sensor = 1
        case enroll = 2
        case unenroll = 3
        case replaceFinger = 4
        case touch = 5
        case advance = 6
        case reset = 7
        case lock = 8
        case unlock = 9
        case background = 14
        case permission = 16
        case fail = 17
        case acceptAnyPasscode = 18
        case restart = 19
        case cancel = 20
        case fallback = 21
        case enter = 22
        case acknowledgeCode = 23
        case enterCode = 24
        case tellCode = 25
        case enterNewPasscode = 26
        case guide = 27
        case unplug = 28
        case look = 29
        case answer = 30
    }

    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        Self(
            command: try map.field(0, \.command),
            argument: try map.optional(1, \.argument),
            typed: try map.optional(2, \.typed, .secret(limit: Limits.passcodeBytes)))
    }
}

extension SimulatorParameters {
    init(_ command: Command) { self.command = command }

    init(_ command: Command, flag: Bool) { self.init(command: command, argument: flag ? 1 : 0) }

    init(_ command: Command, _ number: some RawRepresentable<UInt8>) {
        self.init(command: command, argument: UInt64(number.rawValue))
    }

    init(_ command: Command, typed: SecretBytes) { self.init(command: command, typed: typed) }

    init(encoding command: SimulatorCommand) {
        switch command {
        case .sensor(let kind): self.init(.sensor, kind)
        case .enroll: self.init(.enroll)
        case .unenroll: self.init(.unenroll)
        case .replaceFinger: self.init(.replaceFinger)
        case .touch(let matching): self.init(.touch, flag: matching)
        case .look(let matching): self.init(.look, flag: matching)
        case .answer(let answers): self.init(.answer, answers)
        case .guide(let guidance): self.init(.guide, guidance)
        case .unplug: self.init(.unplug)
        case .advance(let seconds): self.init(command: .advance, argument: seconds)
        case .reset: self.init(.reset)
        case .lock: self.init(.lock)
        case .unlock(let byBiometry): self.init(.unlock, flag: byBiometry)
        case .background(let isBehind): self.init(.background, flag: isBehind)
        case .permission(let isAllowed): self.init(.permission, flag: isAllowed)
        case .fail(let failure): self.init(.fail, failure)
        case .acceptAnyPasscode(let isOn): self.init(.acceptAnyPasscode, flag: isOn)
        case .restart: self.init(.restart)
        case .cancel: self.init(.cancel)
        case .fallback: self.init(.fallback)
        case .enter(let passcode): self.init(.enter, typed: passcode)
        case .acknowledgeCode: self.init(.acknowledgeCode)
        case .enterCode(let code): self.init(.enterCode, typed: code)
        case .tellCode: self.init(.tellCode)
        case .enterNewPasscode(let passcode): self.init(.enterNewPasscode, typed: passcode)
        }
    }
}

extension SimulatorCommand: WireValue {
    package func write(to writer: inout CBORWriter) { SimulatorParameters(encoding: self).write(to: &writer) }

    package init(from reader: inout CBORReader) throws(WireError) {
        let parameters = try SimulatorParameters(from: &reader)
        self = try parameters.simulatorCommand()
    }
}

extension SimulatorParameters {
    func simulatorCommand() throws(WireError) -> SimulatorCommand {
        switch command {
        case .sensor: .sensor(try number())
        case .enroll: try plain(.enroll)
        case .unenroll: try plain(.unenroll)
        case .replaceFinger: try plain(.replaceFinger)
        case .touch: .touch(matching: try flag())
        case .look: .look(matching: try flag())
        case .answer: .answer(try number())
        case .guide: .guide(try number())
        case .unplug: try plain(.unplug)
        case .advance: .advance(seconds: try onlyArgument())
        case .reset: try plain(.reset)
        case .lock: try plain(.lock)
        case .unlock: .unlock(byBiometry: try flag())
        case .background: .background(try flag())
        case .permission: .permission(try flag())
        case .fail: .fail(try number())
        case .acceptAnyPasscode: .acceptAnyPasscode(try flag())
        case .restart: try plain(.restart)
        case .cancel: try plain(.cancel)
        case .fallback: try plain(.fallback)
        case .enter: .enter(try onlyTyped(limit: Limits.passcodeBytes))
        case .acknowledgeCode: try plain(.acknowledgeCode)
        case .enterCode: .enterCode(try onlyTyped(limit: Limits.recoveryCodeBytes))
        case .tellCode: try plain(.tellCode)
        case .enterNewPasscode: .enterNewPasscode(try onlyTyped(limit: Limits.passcodeBytes))
        }
    }

    private func plain(_ command: SimulatorCommand) throws(WireError) -> SimulatorCommand {
        guard argument == nil, typed == nil else { throw .invalidValue }
        return command
    }

    private func onlyArgument() throws(WireError) -> UInt64 {
        guard let argument, typed == nil else { throw .invalidValue }
        return argument
    }

    private func onlyTyped(limit: Int) throws(WireError) -> SecretBytes {
        guard let typed, argument == nil, typed.count <= limit else { throw .invalidValue }
        return typed
    }

    private func flag() throws(WireError) -> Bool {
        switch try onlyArgument() {
        case 0: false
        case 1: true
        default: throw .invalidValue
        }
    }

    private func number<Number: RawRepresentable<UInt8>>() throws(WireError) -> Number {
        guard let raw = UInt8(exactly: try onlyArgument()), let number = Number(rawValue: raw) else {
            throw .invalidValue
        }
        return number
    }
}
