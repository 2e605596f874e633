// SPDX-License-Identifier: Apache-2.0

// Numbers of the TPM 2.0 Library specification, Part 2. Only those that Latchkey uses.

/// A command (`TPM_CC`, section 6.5.2).
package enum TPMCommand: UInt32, Sendable {
    case evictControl = 0x120
    case nvUndefineSpace = 0x122
    case nvDefineSpace = 0x12a
    case clockRateAdjust = 0x130
    case createPrimary = 0x131
    case nvIncrement = 0x134
    case nvWrite = 0x137
    case nvChangeAuthorization = 0x13b
    case activateCredential = 0x147
    case policyNV = 0x149
    case certifyCreation = 0x14a
    case nvRead = 0x14e
    case policySecret = 0x151
    case create = 0x153
    case sharedSecret = 0x154
    case load = 0x157
    case sign = 0x15d
    case unseal = 0x15e
    case policySigned = 0x160
    case contextLoad = 0x161
    case contextSave = 0x162
    case flushContext = 0x165
    case loadExternal = 0x167
    case nvReadPublic = 0x169
    case policyAuthValue = 0x16b
    case policyCommandCode = 0x16c
    case policyOR = 0x171
    case readPublic = 0x173
    case startAuthSession = 0x176
    case getCapability = 0x17a
    case getRandom = 0x17b
    case pcrRead = 0x17e
    case policyPCR = 0x17f
    case readClock = 0x181
    case policyGetDigest = 0x189

    /// Whether a successful response begins with a handle.
    package var returnsHandle: Bool {
        [.createPrimary, .load, .contextLoad, .loadExternal, .startAuthSession].contains(self)
    }
}

/// An algorithm (`TPM_ALG_ID`, section 6.3).
package enum TPMAlgorithm: UInt16, Sendable {
    case rsa = 0x0001
    case aes = 0x0006
    case keyedHash = 0x0008
    case sha256 = 0x000b
    case none = 0x0010
    case ecdsa = 0x0018
    case ecc = 0x0023
    case cfb = 0x0043
}

/// A handle (`TPM_HANDLE`, section 7.4).
package struct TPMHandle: Hashable, Sendable {
    package let number: UInt32

    package init(_ number: UInt32) { self.number = number }

    /// The hierarchy of the owner (`TPM_RH_OWNER`).
    package static let owner = TPMHandle(0x4000_0001)
    /// No object or session (`TPM_RH_NULL`).
    package static let none = TPMHandle(0x4000_0007)
    /// The hierarchy of the maker's keys (`TPM_RH_ENDORSEMENT`).
    package static let endorsement = TPMHandle(0x4000_000b)
    /// A password instead of a session (`TPM_RS_PW`).
    package static let password = TPMHandle(0x4000_0009)
}

/// Attributes of an object (`TPMA_OBJECT`, section 8.3).
package struct TPMObjectAttributes: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let fixedTPM = TPMObjectAttributes(rawValue: 1 << 1)
    package static let fixedParent = TPMObjectAttributes(rawValue: 1 << 4)
    package static let sensitiveDataOrigin = TPMObjectAttributes(rawValue: 1 << 5)
    package static let userWithAuth = TPMObjectAttributes(rawValue: 1 << 6)
    package static let adminWithPolicy = TPMObjectAttributes(rawValue: 1 << 7)
    /// Wrong tries do not count towards the lockout of the whole TPM (`noDA`).
    package static let withoutLockout = TPMObjectAttributes(rawValue: 1 << 10)
    package static let restricted = TPMObjectAttributes(rawValue: 1 << 16)
    package static let decrypt = TPMObjectAttributes(rawValue: 1 << 17)
    package static let sign = TPMObjectAttributes(rawValue: 1 << 18)
}

/// Attributes of an NV index (`TPMA_NV`, section 13.4).
package struct TPMIndexAttributes: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The authorization value of the index permits writes, of a counter increments.
    package static let authorizationWrites = TPMIndexAttributes(rawValue: 1 << 2)
    /// The policy of the index permits writes.
    package static let policyWrites = TPMIndexAttributes(rawValue: 1 << 3)
    /// The type of the index is `TPM_NT_COUNTER`.
    package static let counter = TPMIndexAttributes(rawValue: 1 << 4)
    /// The type of the index is `TPM_NT_PIN_FAIL`: it counts wrong authorization values, and is blocked at a limit.
    package static let countsFailures = TPMIndexAttributes(rawValue: 1 << 7)
    package static let authorizationReads = TPMIndexAttributes(rawValue: 1 << 18)
    /// The policy of the index permits reads.
    package static let policyReads = TPMIndexAttributes(rawValue: 1 << 19)
    /// Wrong tries do not count towards the lockout of the whole TPM (`TPMA_NV_NO_DA`).
    package static let withoutLockout = TPMIndexAttributes(rawValue: 1 << 25)
    /// Set by the TPM with the first write.
    package static let written = TPMIndexAttributes(rawValue: 1 << 29)
}

/// Attributes of a session in one command (`TPMA_SESSION`, section 8.4).
package struct TPMSessionAttributes: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The session can be used again after the command.
    package static let continues = TPMSessionAttributes(rawValue: 1)
    /// The first parameter of the command is encrypted (`decrypt`).
    package static let encryptsCommand = TPMSessionAttributes(rawValue: 1 << 5)
    /// The first parameter of the response is encrypted (`encrypt`).
    package static let encryptsResponse = TPMSessionAttributes(rawValue: 1 << 6)
}

/// The type of a session (`TPM_SE`, section 6.11).
package enum TPMSessionType: UInt8, Sendable {
    case hmac = 0
    case policy = 1
}
