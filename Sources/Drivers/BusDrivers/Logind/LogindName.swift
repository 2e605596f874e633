// SPDX-License-Identifier: Apache-2.0

/// The names of logind's D-Bus interface (org.freedesktop.login1(5)).
enum LogindName {
    static let service = "org.freedesktop.login1"
    static let manager = "org.freedesktop.login1.Manager"
    static let managerPath = "/org/freedesktop/login1"
    static let session = "org.freedesktop.login1.Session"
    static let sessions = "/org/freedesktop/login1/session"
    static let properties = "org.freedesktop.DBus.Properties"
}
