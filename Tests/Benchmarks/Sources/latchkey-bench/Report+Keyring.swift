// SPDX-License-Identifier: Apache-2.0

extension Report {
    static func times(_ keyring: MeasuredKeyring) -> [Time] {
        [("gnome-keyring: add", keyring.add), ("gnome-keyring: read", keyring.read)].map { name, samples in
            Time(
                items: keyring.itemCount, call: name, isFloor: false, medianMicroseconds: samples.median,
                percentile99Microseconds: samples.percentile99, samples: samples.count)
        }
    }

    /// The ratios of gnome-keyring's medians to those of Latchkey at the same number of items.
    static func comparison(_ keyring: MeasuredKeyring, _ measured: [Measured]) -> [Goal] {
        guard let ours = measured.first(where: { $0.itemCount == keyring.itemCount }) else { return [] }
        func goal(_ name: String, _ theirs: Samples, _ ours: Samples, _ least: Double) -> Goal {
            Goal(
                items: keyring.itemCount, name: name, value: theirs.median / ours.median, goal: least, unit: "x",
                isLeast: true)
        }
        return [
            goal("gnome-keyring's read / read", keyring.read, ours.read, keyring.itemCount < 10_000 ? 20 : 100),
            goal("gnome-keyring's add / durable add", keyring.add, ours.add, 100),
        ]
    }
}
