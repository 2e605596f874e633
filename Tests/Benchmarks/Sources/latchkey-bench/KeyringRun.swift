// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The measurements of gnome-keyring at one number of items.
struct MeasuredKeyring: Sendable {
    let itemCount: Int
    var read = Samples()
    var add = Samples()
}

/// Measures gnome-keyring if it is installed, with fewer calls, because each takes milliseconds to seconds.
enum KeyringRun {
    private static let sizes = [1000, 10_000]
    /// Up to this size the keyring is filled through its API, in half a minute, and is encrypted as usual.
    private static let sizeFilledByCalls = 1000
    private static let reads = 200
    private static let adds = 30
    /// Nanoseconds after which no further add is started.
    private static let addingTime: Int64 = 5_000_000_000

    /// Measures at each size at which Latchkey was measured. If that is impossible, prints the reason in one line.
    static func measure(_ options: Options, _ place: Workspace) -> [MeasuredKeyring] {
        guard let client = ProcessInfo.processInfo.environment["LATCHKEY_BENCH_KEYRING"], !client.isEmpty else {
            skip("LATCHKEY_BENCH_KEYRING does not name its client, which make bench builds")
            return []
        }
        var all: [MeasuredKeyring] = []
        for size in sizes where options.sizes.contains(size) {
            print("measuring gnome-keyring at \(size) items", to: .standardError)
            do throws(BenchFailure) {
                all.append(try measure(size, client, place.folder("keyring-\(size)")))
            } catch {
                skip("at \(size) items \(error.message)")
            }
        }
        return all
    }

    private static func skip(_ reason: String) { print("gnome-keyring: skipped, \(reason)", to: .standardError) }

    private static func measure(_ size: Int, _ client: String, _ path: String) throws(BenchFailure) -> MeasuredKeyring {
        let isFilledByCalls = size <= sizeFilledByCalls
        let keyring = try Keyring(client: client, at: path, holding: isFilledByCalls ? nil : 0..<size)
        var measured = MeasuredKeyring(itemCount: size)
        var untimed = Samples()
        if isFilledByCalls { for number in 0..<size { try keyring.call("add", Item(number: number), &untimed) } }
        // The first read waits until the daemon has loaded the file.
        try keyring.call("read", Item(number: 0), &untimed)
        for turn in 0..<reads {
            try keyring.call("read", Item(number: Int(scramble(UInt64(turn)) % UInt64(size))), &measured.read)
        }
        let began = Samples.now
        for number in size..<size + adds where measured.add.count < 2 || Samples.now - began < addingTime {
            try keyring.call("add", Item(number: number), &measured.add)
        }
        try keyring.call("read", Item(number: size), &untimed)
        return measured
    }
}
