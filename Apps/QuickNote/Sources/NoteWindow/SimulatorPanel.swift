// SPDX-License-Identifier: Apache-2.0

import LatchkeyKit
import QuickNoteCore
import Widgets

/// Buttons at the foot of the window that operate the sensor of a simulated machine.
@MainActor final class SimulatorPanel {
    let box: Widget
    private let match: Button
    private let other: Button
    private let cancel: Button
    private let allow: Button
    private let enrol: Button
    private let words = Label("Simulated sensor", wraps: false, styles: ["caption", "warning"])

    init(model: QuickNoteModel) {
        func play(_ words: String) -> @MainActor () -> Void { { Task { await SimulatedSensor.play(words) } } }
        match = Button(styles: ["flat"], play("touch"))
        other = Button(styles: ["flat"]) { Task { await SimulatedSensor.play("touch", "--other") } }
        allow = Button("Allow", styles: ["flat"]) { Task { await SimulatedSensor.play("face", "allow") } }
        cancel = Button("Cancel the Prompt", styles: ["flat"], play("cancel"))
        enrol = Button(styles: ["flat"]) {
            Task {
                await SimulatedSensor.play("enrol")
                await model.start()
            }
        }
        words.setToolTip("For tests: it protects nothing.")
        words.expand(across: true)
        words.setMargin(0, sides: 6)
        box = Scroller(Box(.across, spacing: 2, [words, match, other, allow, cancel, enrol]))
        box.setStyle("toolbar")
        box.isVisible = false
    }

    /// Whether the machine is simulated.
    var isSimulated = false

    /// Shows the actions that are possible now.
    func show(_ model: QuickNoteModel) {
        guard isSimulated, let sensor = model.support.sensor else {
            box.isVisible = false
            return
        }
        let (isAsking, noun) = (model.askingWords != nil, sensor.bodyPart.capitalized)
        match.title = "Play \(noun)"
        other.title = "Play Another \(noun)"
        enrol.title = "Enrol Another"
        for button in [match, other, cancel, allow] { button.isSensitive = isAsking }
        allow.isVisible = sensor == .faceID
        box.isVisible = true
    }
}
