// SPDX-License-Identifier: Apache-2.0

/// What was measured at one number of items.
struct Measured: Sendable {
    let itemCount: Int

    // Latchkey, through the socket.
    var add = Samples()
    var read = Samples()
    var update = Samples()
    var delete = Samples()
    /// From no daemon to the first answer.
    var start = Samples()

    // Floors.
    var roundTrip = Samples()
    var tableRead = Samples()
    var tableInsert = Samples()
    /// The same insert, made by another process that is asked over a socket.
    var remoteInsert = Samples()
    var cipherOpen = Samples()

    // Counts.
    var readEffort = Effort()
    var addEffort = Effort()
    var tableInsertEffort = Effort()
    /// Anonymous memory of the daemon after all of it, idle.
    var anonymousBytes = 0

    /// Everything at once; nil where there are too few items to tell.
    var listing: Listing?

    init(itemCount: Int) { self.itemCount = itemCount }

    /// What a read cannot do without, in microseconds.
    var readFloor: Double { roundTrip.median + tableRead.median + cipherOpen.median }

    /// What a durable add cannot do without, in microseconds.
    var addFloor: Double { tableInsert.median + roundTrip.median }
}
