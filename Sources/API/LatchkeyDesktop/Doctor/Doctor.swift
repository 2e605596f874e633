// SPDX-License-Identifier: Apache-2.0

import Glibc
import LatchkeyClient
import LatchkeyModel
import LatchkeySystem

/// Examines this machine, for this user. Changes nothing and starts no daemon.
package enum Doctor {
    /// Seconds in which the daemon and its program must answer.
    private static let answerSeconds: Int64 = 2
    /// Seconds in which the compiler must print its version; it is slow when it is not in the page cache.
    private static let compilerSeconds: Int64 = 10

    /// All rows, in the order in which defects should be mended.
    ///
    /// - Parameter fingerprints: the path of `latchkey-fingerprint`; nil if it is not installed.
    package static func rows(_ places: MachinePlaces = MachinePlaces(), fingerprints: String? = nil) -> [DoctorRow] {
        let executable = Environment.executable
        let tier = TierFacts(places)
        let store = StoreFacts()
        let sockets = SocketFacts(places)
        let socketsRow = DoctorRow.systemSockets(sockets)
        let answer = ask(places, tier, store)
        var report: StatusReport?
        if case .answered(let found) = answer { report = found }
        let program = ProgramFacts(seconds: answerSeconds)
        let session = SessionFacts()
        let login = LoginFacts(places, seconds: answerSeconds)
        let compiler = CompilerFacts(searchPath: Environment.value("PATH"), seconds: compilerSeconds)
        let isNew = !tier.isSystem && store.isNew && answer == .notRunning
        let fingers = FingerFacts(program: fingerprints, report, seconds: answerSeconds)
        let sensor = DoctorRow.sensor(report, fingers)
        // Without a sensor in use, a finger that is enrolled says that these parts are expected to be there.
        let isMissed = report?.biometry == BiometryKind.none
        func part(_ row: DoctorRow) -> DoctorRow { isMissed ? row.needed(by: sensor) : row }
        // Without a folder of its own store, the row of the store says why, and no configuration is named.
        let folder = (try? store.folder.get()) ?? ""
        let configuration = tier.isSystem ? places.configuration : folder + "/latchkeyd.conf"
        return [
            .version(executable: executable),
            .kernel(KernelFacts(), isSystem: tier.isSystem),
            .tier(tier, report?.tier, sockets: socketsRow),
            socketsRow,
            .configuration(places, isInstalled: sockets.isInstalled),
            .accountPasswords(places, isInstalled: sockets.isInstalled),
            .faces(places),
            .program(program),
            .units(UnitFacts(places, seconds: answerSeconds), isInstalled: sockets.isInstalled),
            .service(answer, isSystem: tier.isSystem, lock: folder + "/" + DaemonLock.fileName, isNew: isNew),
            tier.isSystem ? .systemStore(report) : .store(store, report),
            .otherStore(tier),
            .memory(report, isSystem: tier.isSystem),
            .passcode(report, isNew: isNew),
            .lock(report, login),
            sensor,
            part(.sensorProgram(program, isSystem: tier.isSystem)),
            part(.fingerprintService(places)),
            .session(session),
            part(.loginSession(login)),
            .agent(AgentFacts(places), session),
            .enclave(report, isSystem: tier.isSystem, configuration: configuration),
            .trustedModule(places),
            .trustedModuleWrites(report),
            .declaredApps(places),
            .compiler(compiler),
            .sdk(SDKFacts(prefix: Files.folder(of: Files.folder(of: executable ?? ""))), compiler),
        ]
    }

    private static func ask(_ places: MachinePlaces, _ tier: TierFacts, _ store: StoreFacts) -> DaemonProbe.Answer {
        switch tier.systemUser {
        case .failure(let failure): return .failed(failure, process: nil)
        case .success(let user?):
            return DaemonProbe.ask(places.sockets, servedBy: user, seconds: answerSeconds)
        case .success(nil):
            guard case .success(let folder) = store.folder else { return .notRunning }
            return DaemonProbe.ask(storeIn: folder, seconds: answerSeconds)
        }
    }
}
