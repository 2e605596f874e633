// SPDX-License-Identifier: Apache-2.0

/// The result of a scan.
package enum SensorEvent: Equatable, Sendable {
    /// A finger or face of that enrolment set was recognised; `isVirtual` says whether the sensor that recognised it is a
    /// program. A machine can have a virtual and a real sensor at the same time.
    case match(EnrolmentSet, isVirtual: Bool)
    /// A finger or face was not recognised.
    case noMatch
    /// The scan could not be used and continues. Counts as no attempt.
    case guidance(SensorGuidance)
    /// Another program uses the sensor, so that the scan waits; or with false, it does not any more.
    case inUse(Bool)
    /// The sensor ended the scan because of a failure.
    case failed
    /// The sensor was disconnected, which ended the scan. A driver reports this before it reports the change of `state`.
    case disconnected
}
