// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Whether the request that a thread answers is over: its client is gone, or it has waited too long. Transactions ask right
/// before they begin and before they commit, so that a request whose client has given up has no effect.
///
/// Bound to the thread, because every operation of the service is answered on one thread from begin to end, and a parameter
/// of each of them would be passed on to no other use.
package enum CurrentRequest {
    package typealias Question = @Sendable () -> Bool

    private final class Box {
        let question: Question
        init(_ question: @escaping Question) { self.question = question }
    }

    /// A key of values of threads; nil if the system has none left, and then no request is ever over.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()

    /// Runs a function for a request.
    ///
    /// - Parameter isOver: whether the request is over. Called on any thread, until `body` returns.
    package static func run<Result>(unless isOver: @escaping Question, _ body: () throws -> Result) rethrows -> Result {
        guard let key else { return try body() }
        let box = Box(isOver)
        pthread_setspecific(key, Unmanaged.passUnretained(box).toOpaque())
        defer { pthread_setspecific(key, nil) }
        return try withExtendedLifetime(box, body)
    }

    /// Whether the request of this thread is over; always false for a thread without one, such as that of a command.
    package static var isOver: Question {
        guard let key, let box = pthread_getspecific(key) else { return { false } }
        return Unmanaged<Box>.fromOpaque(box).takeUnretainedValue().question
    }
}

extension StorageFailure {
    package static let requestIsOver = StorageFailure("The client is gone, or the request has waited too long.")
}

/// How a database is used now, for metrics.
package struct DatabaseUse: Sendable {
    /// The most connections that are lent at the same time.
    package let connections: Int
    package let inUse: Int
    /// How many threads wait for one, or for a transaction to begin.
    package let waiting: Int

    package init(connections: Int, inUse: Int, waiting: Int) {
        (self.connections, self.inUse, self.waiting) = (connections, inUse, waiting)
    }
}
