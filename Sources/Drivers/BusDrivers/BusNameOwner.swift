// SPDX-License-Identifier: Apache-2.0

/// The program that owns a name on the bus, if it belongs to a trusted user.
///
/// No message of a service carries a proof. It is trusted if its connection owns the name and belongs to root, so that the
/// trust is in root and in the bus, which sets the sender of each message. Used on the bus's thread only.
package final class BusNameOwner {
    /// Why there is no trusted owner.
    package enum Refusal: Error, Sendable {
        /// No program owns the name, and none was started.
        case notRunning
        /// The bus knows no program that it could start.
        case notInstalled
        case startFailed(BusError)
        case unknown(BusError)
        case userUnknown(BusError)
        /// Another program took the name meanwhile.
        case changed
        /// The name belongs to this user; nil if the bus does not say to which one.
        case untrusted(user: Int64?)
    }

    package let bus: SystemBus
    private let name: String
    /// The user that may own the name: root, or another one in tests.
    private let trustedUser: UInt32
    private let callMilliseconds: Int64
    /// The time for the start of the program; nil if it is not started.
    private let startMilliseconds: Int64?
    /// The unique name of the connection; nil if it is unknown, not trusted, or there is none.
    package private(set) var owner: String?
    private var resolving: [(Result<String, Refusal>) -> Void] = []
    /// Increases with each change of the owner, so that an answer about an earlier one is not used.
    private var generation = 0
    /// Called when the owner has changed: everything that the earlier one has said is void.
    package var changed: (_ isRunning: Bool) -> Void = { _ in }
    /// Called once for each attempt to determine the owner that fails.
    package var refused: (Refusal) -> Void = { _ in }

    /// Makes the object.
    ///
    /// - Parameters:
    ///   - call: milliseconds for an answer of the bus.
    ///   - start: milliseconds for the start of the program by the bus; nil if it must not be started.
    package init(_ name: String, on bus: SystemBus, trustedUser: UInt32, call: Int64, start: Int64?) {
        self.name = name
        self.bus = bus
        self.trustedUser = trustedUser
        callMilliseconds = call
        startMilliseconds = start
    }

    package func start() {
        bus.observe(
            "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
        ) { [weak self] signal in
            // The name of the bus belongs to the bus itself: no program can send as it.
            guard let self, signal.sender == "org.freedesktop.DBus", signal.arguments.count == 3,
                signal.arguments[0].text == name, let new = signal.arguments[2].text
            else { return }
            forget(isRunning: !new.isEmpty)
        }
        bus.whenLost { [weak self] in self?.forget(isRunning: false) }
    }

    private func forget(isRunning: Bool) {
        generation += 1
        owner = nil
        changed(isRunning)
    }

    /// Determines the trusted owner of the name, and has the bus start the program if it does not run.
    package func resolve(_ done: @escaping (Result<String, Refusal>) -> Void) {
        if let owner { return done(.success(owner)) }
        resolving.append(done)
        guard resolving.count == 1 else { return }
        ask("GetNameOwner") { [self] result in
            if case .failure(.refused(let name, _)) = result, name.hasSuffix(".NameHasNoOwner") {
                return startProgram()
            }
            named(result)
        }
    }

    private func startProgram() {
        guard let startMilliseconds else { return finish(.failure(.notRunning)) }
        let call = BusCall(
            Self.busName, Self.busPath, Self.busName, "StartServiceByName", [.string(name), .integer(0)])
        bus.call(call, milliseconds: startMilliseconds) { [self] result in
            switch result {
            case .success: ask("GetNameOwner") { self.named($0) }
            case .failure(.refused(let name, _)) where name == "org.freedesktop.DBus.Error.ServiceUnknown":
                finish(.failure(.notInstalled))
            case .failure(let error): finish(.failure(.startFailed(error)))
            }
        }
    }

    private func named(_ result: Result<[BusValue], BusError>) {
        switch result {
        case .failure(let error): finish(.failure(.unknown(error)))
        case .success(let values):
            guard let name = values.first?.text, name.hasPrefix(":") else {
                return finish(.failure(.unknown(.malformed)))
            }
            let asked = generation
            ask("GetConnectionUnixUser", name) { [self] result in
                guard asked == generation else { return finish(.failure(.changed)) }
                switch result {
                case .failure(let error): finish(.failure(.userUnknown(error)))
                case .success(let values):
                    guard values.first?.number == Int64(trustedUser) else {
                        return finish(.failure(.untrusted(user: values.first?.number)))
                    }
                    owner = name
                    finish(.success(name))
                }
            }
        }
    }

    private func finish(_ result: Result<String, Refusal>) {
        let waiting = resolving
        resolving = []
        if case .failure(let refusal) = result { refused(refusal) }
        for done in waiting { done(result) }
    }

    private static let busName = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"

    private func ask(
        _ member: String, _ argument: String? = nil, _ done: @escaping (Result<[BusValue], BusError>) -> Void
    ) {
        let call = BusCall(Self.busName, Self.busPath, Self.busName, member, [.string(argument ?? name)])
        bus.call(call, milliseconds: callMilliseconds, done)
    }
}
