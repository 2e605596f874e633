// SPDX-License-Identifier: Apache-2.0

extension LAError.Code {
    /// Creates the code of a number; never fails, as on Apple systems. Apple: `LAError.Code.init(rawValue:)`.
    ///
    /// - Parameter rawValue: the number; `other` for one that has no name in this version.
    public init?(rawValue: Int) { self.init(rawValue) }

    init(_ number: Int) {
        self =
            switch number {
            case -1: .authenticationFailed
            case -2: .userCancel
            case -3: .userFallback
            case -4: .systemCancel
            case -5: .passcodeNotSet
            case -6: .biometryNotAvailable
            case -7: .biometryNotEnrolled
            case -8: .biometryLockout
            case -9: .appCancel
            case -10: .invalidContext
            case -11: .companionNotAvailable
            case -12: .biometryNotPaired
            case -13: .biometryDisconnected
            case -14: .invalidDimensions
            case -1004: .notInteractive
            default: .other(number)
            }
    }

    /// The number of the code. Apple: `LAError.Code.rawValue`.
    public var rawValue: Int {
        switch self {
        case .authenticationFailed: -1
        case .userCancel: -2
        case .userFallback: -3
        case .systemCancel: -4
        case .passcodeNotSet: -5
        case .biometryNotAvailable: -6
        case .biometryNotEnrolled: -7
        case .biometryLockout: -8
        case .appCancel: -9
        case .invalidContext: -10
        case .companionNotAvailable: -11
        case .biometryNotPaired: -12
        case .biometryDisconnected: -13
        case .invalidDimensions: -14
        case .notInteractive: -1004
        case .other(let number): number
        }
    }
}
