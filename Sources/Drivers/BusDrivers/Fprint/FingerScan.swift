// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel
import LatchkeySeams

/// The scan for one evaluation, on every device on which the user has enrolled a finger. Used on the bus's thread only.
final class FingerScan {
    let evaluation: UInt64
    private let bus: SystemBus
    private let events: @Sendable (SensorEvent) -> Void
    private var devices: [DeviceScan] = []
    private var running = 0
    private var deadline: SystemBus.Timer?
    /// The devices that other programs have claimed.
    private var busy: Set<String> = []
    private var isReportedInUse = false
    /// Called when no device is claimed any more.
    private let ended: () -> Void

    init(
        _ evaluation: UInt64, _ bus: SystemBus, events: @escaping @Sendable (SensorEvent) -> Void,
        ended: @escaping () -> Void
    ) {
        (self.evaluation, self.bus, self.events, self.ended) = (evaluation, bus, events, ended)
    }

    /// Whether `end` was called, or the end was reported.
    private(set) var isOver = false

    /// Begins with these devices, of which there is at least one.
    func begin(_ scans: [DeviceScan], milliseconds: Int64) {
        devices = scans
        running = scans.count
        // fprintd has no time limit, and a sensor that scans for long becomes hot.
        deadline = bus.after(milliseconds: milliseconds) { [weak self] in self?.fail(.failed) }
    }

    /// Ends the scan without a device, or on all devices, and reports why.
    func fail(_ event: SensorEvent) {
        let isFirst = !isOver
        end()
        if isFirst { events(event) }
        if devices.isEmpty { ended() }
    }

    func end() {
        isOver = true
        if let deadline { bus.cancel(deadline) }
        for device in devices { device.end() }
    }

    func report(_ event: DeviceScan.Event, of device: DeviceScan) {
        switch event {
        case .match(let set, let isVirtual): if !isOver { events(.match(set, isVirtual: isVirtual)) }
        case .noMatch: if !isOver { events(.noMatch) }
        case .guidance(let guidance): if !isOver { events(.guidance(guidance)) }
        case .inUse(let isInUse):
            if isInUse { busy.insert(device.device) } else { busy.remove(device.device) }
            reportUse()
        case .ended(let verdict):
            running -= 1
            busy.remove(device.device)
            // While another device scans, the person can use that one.
            if running == 0, !isOver {
                end()
                events(verdict ?? .failed)
            }
            if running == 0 { ended() } else { reportUse() }
        }
    }

    /// Reports whether every device that could be used is claimed by another program.
    private func reportUse() {
        let isInUse = running > 0 && busy.count == running
        guard isInUse != isReportedInUse, !isOver else { return }
        isReportedInUse = isInUse
        events(.inUse(isInUse))
    }

    func received(_ result: String, isDone: Bool, of device: String) {
        for scan in devices where scan.device == device { scan.received(result, isDone: isDone) }
    }

    /// Ends the scans on a device that is gone, or on all of them, as fprintd is gone.
    func lost(_ device: String?, _ event: SensorEvent) {
        for scan in devices where device == nil || scan.device == device { scan.lost(event) }
    }
}
