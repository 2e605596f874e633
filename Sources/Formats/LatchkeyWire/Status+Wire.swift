// SPDX-License-Identifier: Apache-2.0

package import LatchkeyModel

extension StatusReport: WireMap {
    package static func fields<Pass: MapPass<Self> & ~Copyable>(_ map: inout Pass) throws(Pass.Failure) -> Self {
        let tier = try map.field(0, \.tier)
        let processID = try map.field(1, \.processID)
        let storePath = try map.field(2, \.storePath, .text())
        let itemCount = try map.field(3, \.itemCount)
        let biometry = try map.field(4, \.biometry)
        let isEnrolled = try map.field(5, \.isEnrolled)
        let isPasscodeSet = try map.field(6, \.isPasscodeSet)
        let isBiometryLocked = try map.field(7, \.isBiometryLocked)
        let accessGroup = try map.field(8, \.accessGroup, .text())
        let problem = try map.optional(9, \.problem)
        let isLocked = try map.field(10, \.isLocked)
        let quarantineCount = try map.field(11, \.quarantineCount, omitting: 0)
        let enclave = try map.optional(12, \.enclave)
        let unlockedMemory = try map.optional(13, \.unlockedMemory, .text())
        let prompts = try map.field(14, \.prompts, .list(limit: Limits.shownPrompts), omitting: [])
        let enclaveDevice = try map.optional(15, \.enclaveDevice)
        let deviceProblem = try map.optional(16, \.deviceProblem)
        let passcodeKind = try map.optional(17, \.passcodeKind)
        let isBiometryVirtual = try map.field(18, \.isBiometryVirtual, omitting: false)
        let session = try map.field(19, \.session, .text(), omitting: "")
        return Self(
            tier: tier, processID: processID, storePath: storePath, itemCount: itemCount, biometry: biometry,
            isEnrolled: isEnrolled, isPasscodeSet: isPasscodeSet, isBiometryLocked: isBiometryLocked,
            isLocked: isLocked, accessGroup: accessGroup, problem: problem, quarantineCount: quarantineCount,
            enclave: enclave, enclaveDevice: enclaveDevice, deviceProblem: deviceProblem,
            unlockedMemory: unlockedMemory, prompts: prompts, session: session, passcodeKind: passcodeKind,
            isBiometryVirtual: isBiometryVirtual)
    }
}

extension StatusReport.ShownPrompt: WireTuple, WireValue {
    package static func fields<Pass: FieldPass<Self> & ~Copyable>(_ tuple: inout Pass) throws(Pass.Failure) -> Self {
        let processID = try tuple.field(0, \.processID)
        let program = try tuple.field(1, \.program, .text())
        return Self(program: program, processID: processID, session: try tuple.field(2, \.session, .text()))
    }
}
