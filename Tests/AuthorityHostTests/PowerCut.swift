// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import TestSupport

/// Cuts the power of a machine of tier `tpm`, whose store is sealed, and starts it again.
struct PowerCut {
    private let machine: TwoServices
    private let tpm: SwitchedTPM
    private let start: (Moments?) throws -> TwoServices

    /// Prepares cuts of a machine, which is not used any more.
    ///
    /// - Parameters:
    ///   - passwords: of the accounts of the machine that is started.
    ///   - firstPasscode: its configuration.
    init(
        _ machine: TwoServices, _ tpm: SwitchedTPM, passwords: (any AccountPasswords)? = nil,
        firstPasscode: PasscodeKind = .account
    ) {
        (self.machine, self.tpm) = (machine, tpm)
        start = { moments in
            try TwoServices(
                WorldState(sensor: .none), after: machine.disk, passwords: passwords, firstPasscode: firstPasscode,
                tpm: tpm, sealed: true, moments: moments)
        }
    }

    /// Cuts the power at a moment of an action, and starts the machine with what was durable then.
    ///
    /// - Parameter losesFolder: whether the files of latchkey-authd are lost before the machine is started.
    /// - Returns: the machine after the start; nil if the action has no such moment.
    func at(
        _ moment: Int, losesFolder: Bool = false, _ action: (TwoServices) throws -> Void
    ) throws -> TwoServices? {
        machine.end()
        let stored = Mutex<[String: Data]?>(nil)
        let moments = Moments { [tpm, disk = machine.disk] number in
            guard number == moment else { return }
            let files = try? disk.files()
            stored.withLock { $0 = files }
            tpm.cutPower()
        }
        defer { moments.end() }
        do {
            let cut = try start(moments)
            moments.begin()
            try action(cut)
            cut.end()
        }
        guard let files = stored.withLock({ $0 }) else { return nil }
        try machine.disk.restore(files)
        if losesFolder {
            try FileManager.default.removeItem(atPath: machine.disk.folder.path + "/\(TwoServices.userID)")
        }
        try tpm.start()
        return try start(nil)
    }
}
