// SPDX-License-Identifier: Apache-2.0

public import Widgets

/// Buttons at the foot of a window that operate the sensor of a simulated machine.
@MainActor public final class SensorPanel {
    /// The widget; hidden on a machine that is not simulated.
    public let box: Widget
    private let match: Button
    private let other: Button
    private let cancel: Button
    private let allow: Button
    private let enroll: Button
    private let words = Label("This machine is simulated", wraps: false, styles: ["caption", "warning"])
    private let leaving = Label(
        "It is for tests and protects nothing; your own keychain is not touched. To leave it, close this window, and open "
            + "the app from the menu of your desktop.", styles: ["caption"])
    private let leave: Button
    private let kind = Kind()
    private var isSimulated = false

    /// The kind of the sensor, which the buttons ask for when they are pressed.
    @MainActor private final class Kind {
        var isFace = false
        /// The action of `latchkey sim` that the sensor accepts.
        var action: String { isFace ? "look" : "touch" }
    }

    /// Creates a hidden panel.
    ///
    /// - Parameter enrolled: called after another finger or face was enrolled.
    public init(enrolled: @escaping @MainActor () async -> Void) {
        func play(_ words: String) -> @MainActor () -> Void { { Task { await SimulatedSensor.play(words) } } }
        let kind = kind
        match = Button(styles: ["flat"]) { Task { await SimulatedSensor.play(kind.action) } }
        other = Button(styles: ["flat"]) { Task { await SimulatedSensor.play(kind.action, "--other") } }
        allow = Button("Allow", styles: ["flat"]) { Task { await SimulatedSensor.play("face", "allow") } }
        cancel = Button("Cancel the Prompt", styles: ["flat"], play("cancel"))
        enroll = Button(styles: ["flat"]) {
            Task {
                await SimulatedSensor.play("enroll")
                await enrolled()
            }
        }
        leave = Button("How to Leave", styles: ["flat"]) { [leaving] in leaving.isVisible.toggle() }
        leaving.setMargin(6, sides: 6)
        leaving.isVisible = false
        words.expand(across: true)
        words.setMargin(0, sides: 6)
        let buttons = Scroller(Box(.across, spacing: 2, [words, leave, match, other, allow, cancel, enroll]))
        buttons.setStyle("toolbar")
        box = Box(.down, [leaving, buttons])
        box.isVisible = false
    }

    /// Asks the daemon whether the machine is simulated. Call `show` afterwards.
    public func look() async { isSimulated = await SimulatedSensor.isThere() }

    /// Shows the actions that are possible now.
    ///
    /// - Parameters:
    ///   - bodyPart: what the sensor recognises, such as "finger"; nil without a sensor.
    ///   - isFace: whether it is a face.
    ///   - isAsking: whether a prompt waits for the sensor.
    public func show(bodyPart: String?, isFace: Bool, isAsking: Bool) {
        box.isVisible = isSimulated
        for button in [match, other, cancel, allow, enroll] { button.isVisible = bodyPart != nil }
        guard isSimulated, let bodyPart else { return }
        kind.isFace = isFace
        let noun = bodyPart.capitalized
        match.title = "Play \(noun)"
        other.title = "Play Another \(noun)"
        enroll.title = "Enroll Another"
        for button in [match, other, cancel, allow] { button.isSensitive = isAsking }
        allow.isVisible = isFace
    }
}
