// SPDX-License-Identifier: Apache-2.0

/// The budgets that the accepting process of a service counts, so that no user can take what another one needs
/// (docs/design/decisions/044-process-per-user.md).
package struct AcceptorLimits: Sendable {
    /// Descriptors that the accepting process may have; the hard limit of the process may be lower.
    package var descriptors = 8192
    /// Maximum users with a process at the same time; fewer where descriptors do not suffice.
    package var users = 1024
    /// The same for users that the service has no folder of and whose process is not ready.
    package var newcomers = 64
    /// Maximum connections of a user that wait for their process.
    package var waitingOfUser = 32
    /// Connections of all users that wait, from which on each user has `waitingShare` only.
    package var waiting = 256
    /// Connections that a user may let wait whatever the others do.
    package var waitingShare = 4
    /// Connections of a user in a second, on average, and at once. Each one costs a look-up of the program, which a flood of
    /// connections would have the user's process make on the processors that all users share.
    package var rateOfUser: Int64 = 400
    package var burstOfUser: Int64 = 800
    /// Maximum processes that are being started, so that starts of some users leave processor time to others.
    package var starting = 8
    /// The same for users that the service has no folder of: somebody can have thousands of subordinate user numbers.
    package var startingNewcomers = 2
    /// Seconds that a connection waits for its process; it is refused then.
    package var waitSeconds: Int64 = 10
    /// Seconds in which a process must be ready; it is killed then.
    package var startSeconds: Int64 = 10
    /// Seconds in which a process must take a connection; it is killed then, since it serves its user no more.
    package var stuckSeconds: Int64 = 60
    /// Seconds in which all processes must end when the service stops. What remains then is killed, and not waited for.
    package var stopSeconds: Int64 = 10
    /// Failures of a user's process within `failureSeconds` after which its user is refused for that time.
    package var failures = 5
    package var failureSeconds: Int64 = 10
    /// Seconds for which a user without an account is refused without starting a process.
    package var unknownSeconds: Int64 = 30
    /// Maximum users that are remembered for that.
    package var unknown = 65_536
    /// Seconds without any process after which a service ends that its service manager starts with a connection.
    package var idleSeconds: Int64 = 5

    /// Connections that a service which cannot start answers at most: more than wait at its sockets.
    static let queue = 4096

    package init() {}
}
