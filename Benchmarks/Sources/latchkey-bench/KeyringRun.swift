// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What was measured of gnome-keyring at one number of items.
struct MeasuredKeyring: Sendable {
    let itemCount: Int
    var read = Samples()
    var add = Samples()
}

/// Measures gnome-keyring where it is there; its calls take milliseconds to seconds, so there are fewer of them.
enum KeyringRun {
    private static let sizes = [1000, 10_000]
    /// Up to here it is filled by its own calls, in half a minute, and encrypts as it does for everybody.
    private static let sizeFilledByCalls = 1000
    private static let reads = 200
    private static let adds = 30
    /// Nanoseconds after which no further add is begun.
    private static let addingTime: Int64 = 5_000_000_000

    /// Measures at each size that Latchkey was measured at. Why there is nothing to compare with is said in one line.
    static func measure(_ options: Options, _ place: Workspace) -> [MeasuredKeyring] {
        guard let client = ProcessInfo.processInfo.environment["LATCHKEY_BENCH_KEYRING"], !client.isEmpty else {
            skip("LATCHKEY_BENCH_KEYRING does not name its client; make bench builds it")
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
        // The first one waits until the file is loaded.
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
