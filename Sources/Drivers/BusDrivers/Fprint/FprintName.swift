// SPDX-License-Identifier: Apache-2.0

/// The names of fprintd's D-Bus interface.
enum FprintName {
    static let service = "net.reactivated.Fprint"
    static let manager = "net.reactivated.Fprint.Manager"
    static let device = "net.reactivated.Fprint.Device"
    static let managerPath = "/net/reactivated/Fprint/Manager"
    /// The path above all devices.
    static let root = "/net/reactivated/Fprint"
    private static let error = "net.reactivated.Fprint.Error."

    /// Whether an error says that a device is gone: fprintd's own, or that of GDBus for a path without an object.
    static func isGone(_ error: BusError) -> Bool {
        guard case .refused(let name, _) = error else { return false }
        return Refusal(error) == .noSuchDevice || name == "org.freedesktop.DBus.Error.UnknownObject"
            || name == "org.freedesktop.DBus.Error.UnknownMethod"
    }

    /// An error by which fprintd refuses a call.
    enum Refusal: String {
        case claimDevice = "ClaimDevice"
        case alreadyInUse = "AlreadyInUse"
        case `internal` = "Internal"
        case permissionDenied = "PermissionDenied"
        case noEnrolledPrints = "NoEnrolledPrints"
        case noActionInProgress = "NoActionInProgress"
        case invalidFingername = "InvalidFingername"
        case noSuchDevice = "NoSuchDevice"

        /// The refusal that an error contains; nil for an error that fprintd has not made.
        init?(_ error: BusError) {
            guard case .refused(let name, _) = error, name.hasPrefix(FprintName.error) else { return nil }
            self.init(rawValue: String(name.dropFirst(FprintName.error.count)))
        }
    }
}
