// SPDX-License-Identifier: Apache-2.0

/// The measurements at one number of items.
struct Measured: Sendable {
    let itemCount: Int

    // Latchkey, called through the socket.
    var add = Samples()
    var read = Samples()
    var update = Samples()
    var delete = Samples()
    /// From starting a daemon to its first answer.
    var start = Samples()

    // Floors.
    var roundTrip = Samples()
    var tableRead = Samples()
    var tableInsert = Samples()
    /// The same insert, made by another process on request over a socket.
    var remoteInsert = Samples()
    var cipherOpen = Samples()

    // Counts.
    var readEffort = Effort()
    var addEffort = Effort()
    var tableInsertEffort = Effort()
    /// Anonymous memory of the idle daemon after all measurements, in bytes.
    var anonymousBytes = 0

    /// The listing of all items; nil when there are too few items for a meaningful result.
    var listing: Listing?

    init(itemCount: Int) { self.itemCount = itemCount }

    /// The sum of the floors that a read includes, in microseconds.
    var readFloor: Double { roundTrip.median + tableRead.median + cipherOpen.median }

    /// The sum of the floors that a durable add includes, in microseconds.
    var addFloor: Double { tableInsert.median + roundTrip.median }
}
