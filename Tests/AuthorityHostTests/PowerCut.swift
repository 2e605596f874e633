// SPDX-License-Identifier: Apache-2.0

import Foundation
import LatchkeyModel
import LatchkeySeams
import SimulatedDriver
import Synchronization
import TPMProtocol
import TestSupport

/// Cuts the power of a machine of tier `tpm`, whose store is sealed, and starts it again.
struct PowerCut {
    private let machine: TwoServices
    private let tpm: SwitchedTPM
    private let start: (Moments?, InterruptedTPM?) throws -> TwoServices

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
        start = { moments, interrupted in
            try TwoServices(
                WorldState(sensor: .none), after: machine.disk, passwords: passwords, firstPasscode: firstPasscode,
                tpm: tpm, sealed: true, moments: moments, place: interrupted)
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
        let stored = StoredFiles()
        let moments = Moments { [tpm, disk = machine.disk] number in
            guard number == moment else { return }
            stored.files.withLock { $0 = try? disk.files() }
            tpm.cutPower()
        }
        defer { moments.end() }
        do {
            let cut = try start(moments, nil)
            moments.begin()
            try action(cut)
            cut.end()
        }
        guard let files = stored.files.withLock({ $0 }) else { return nil }
        return try restart(with: files, losesFolder: losesFolder)
    }

    /// Cuts the power in the middle of a command of an action that changes the memory of the TPM, and starts the machine
    /// with what was durable then.
    ///
    /// - Parameter number: counts the commands that change the memory, from 0.
    /// - Returns: the machine after the start, and the command; nil if the action has fewer.
    func during(
        _ number: Int, _ moment: InterruptedTPM.Moment, _ action: (TwoServices) throws -> Void
    ) throws -> (machine: TwoServices, command: TPMCommand)? {
        machine.end()
        let stored = StoredFiles()
        let interrupted = InterruptedTPM(tpm, at: number, moment) { [disk = machine.disk] in
            stored.files.withLock { $0 = try? disk.files() }
        }
        do {
            let cut = try start(nil, interrupted)
            interrupted.begin()
            try action(cut)
            cut.end()
        }
        guard let files = stored.files.withLock({ $0 }), let command = interrupted.interrupted else { return nil }
        return (try restart(with: files), command)
    }

    private func restart(with files: [String: Data], losesFolder: Bool = false) throws -> TwoServices {
        try machine.disk.restore(files)
        if losesFolder {
            try FileManager.default.removeItem(atPath: machine.disk.folder.path + "/\(TwoServices.userID)")
        }
        try tpm.start()
        return try start(nil, nil)
    }
}

/// The files of a machine when its power was cut.
private final class StoredFiles: Sendable {
    let files = Mutex<[String: Data]?>(nil)
}
