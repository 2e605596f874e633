// SPDX-License-Identifier: Apache-2.0

import Glibc
package import LatchkeyIdentity
import LatchkeyModel
import LatchkeySystem

extension DoctorRow {
    /// Whether the machine has a TPM.
    package static func trustedModule(_ path: String, exists: Bool, mayOpen: Bool) -> DoctorRow {
        guard exists else { return DoctorRow("TPM", .absent, "\(path) does not exist") }
        guard mayOpen else {
            return DoctorRow(
                "TPM", .absent, "\(path) may not be opened by this user; the system's services can have access to it")
        }
        return DoctorRow(
            "TPM", .ok, "\(path) may be opened; private keys are made in it where latchkeyd.conf says enclave = tpm")
    }

    package static func trustedModule(_ places: MachinePlaces) -> DoctorRow {
        let path = places.trustedModule
        return trustedModule(path, exists: Files.exists(path), mayOpen: access(path, R_OK | W_OK) == 0)
    }

    /// Whether the service of fingerprint readers is installed, as the files of the system bus say.
    package static func fingerprintService(_ places: MachinePlaces) -> DoctorRow {
        Files.exists(places.fingerprintService)
            ? DoctorRow("fprintd", .ok, "installed; latchkey-authd reads fingers through it")
            : DoctorRow("fprintd", .absent, "not installed; latchkey-authd reads fingers through it")
    }

    /// Whether the program is installed that speaks to fprintd and logind for the user's own daemon.
    ///
    /// - Parameters:
    ///   - program: the path of latchkeyd; nil if there is none.
    ///   - exists: whether `latchkey-authd` is beside it.
    package static func sensorProgram(_ program: String?, exists: Bool, isSystem: Bool) -> DoctorRow {
        let name = "sensor program"
        guard !isSystem else { return DoctorRow(name, .ok, "latchkey-authd, as a service of the system") }
        guard let program else { return DoctorRow(name, .absent, "not known without latchkeyd, see the row above") }
        let path = Files.folder(of: program) + "/latchkey-authd"
        guard exists else {
            return DoctorRow(
                name, .absent,
                "\(path) is not installed, so no fingerprint sensor is used, and a locked screen locks no keychain",
                .init("make install PREFIX=~/.local"))
        }
        return DoctorRow(name, .ok, "\(path), which latchkeyd starts")
    }

    package static func sensorProgram(_ facts: ProgramFacts, isSystem: Bool) -> DoctorRow {
        // Without latchkeyd its own row says why.
        sensorProgram(try? facts.program.get(), exists: facts.hasSensors, isSystem: isSystem)
    }

    /// Files in which packages declare apps, and which were refused.
    package static func declaredApps(_ problems: [AppDeclarations.Problem], folder: String, exists: Bool) -> DoctorRow {
        let name = "declared apps"
        guard !problems.isEmpty else {
            return exists
                ? DoctorRow(name, .ok, "\(folder), no file is refused")
                : DoctorRow(name, .absent, "\(folder) does not exist")
        }
        var files: [String] = []
        for problem in problems where !files.contains(problem.file) { files.append(problem.file) }
        let words = files.map(ShellWord.quoted).joined(separator: " ")
        // A file with a wrong owner or mode is refused before it is parsed, and then has no line.
        let isProtected = problems.allSatisfy { $0.line > 0 }
        return DoctorRow(
            name, .attention, "\(problems.map(\.description).joined(separator: "; "))",
            .init(
                isProtected ? "${EDITOR:-vi} \(words)" : "chown root \(words) && chmod go-w \(words)", needsRoot: true)
        )
    }

    package static func declaredApps(_ places: MachinePlaces) -> DoctorRow {
        let folder = places.declarations
        let problems: [AppDeclarations.Problem]
        do throws(Failure) {
            problems = try DeclarationFolder(folder).declarations.problems
        } catch {
            problems = [AppDeclarations.Problem(file: folder, message: error.message.description)]
        }
        return declaredApps(problems, folder: folder, exists: Files.exists(folder))
    }
}
