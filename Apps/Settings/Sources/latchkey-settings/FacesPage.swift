// SPDX-License-Identifier: Apache-2.0

import LatchkeyDesktop
import Widgets

/// The answers to apps that asked to use the user's face.
@MainActor final class FacesPage: SettingsPage {
    let content: Widget
    private unowned let host: any PageHost
    private let control = KeychainControl()
    private let group = RowGroup(description: FaceWords.description, name: WindowWords.page(.faces))
    private let place = EmptyPlace()
    private let stack: Stack
    private var shown: [KeychainControl.FaceAnswer]?
    /// Whether a switch was turned since the rows were made.
    private var isTurned = false
    private let reading = Reading<[KeychainControl.FaceAnswer]>()

    init(_ host: any PageHost) {
        self.host = host
        stack = Stack([
            "empty": Page(place, width: 480), "list": Page(Box(.down, [group]), width: 600, isCentred: false),
        ])
        content = stack
        place.show(icon: "auth-face-symbolic", title: FaceWords.emptyTitle, words: FaceWords.empty)
    }

    func refresh(_ overview: KeychainOverview?) {
        guard overview != nil else { return }
        let control = control
        reading.begin { () throws(SettingsFailure) in
            try control.faceAnswers()
        } done: { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let failure): host.show(failure)
            case .success(let answers): show(answers)
            }
        }
    }

    private func show(_ answers: [KeychainControl.FaceAnswer]) {
        stack.page = answers.isEmpty ? "empty" : "list"
        // Also after an operation that failed, whose switch shows what was not done.
        guard answers != shown || isTurned else { return }
        (shown, isTurned) = (answers, false)
        group.show(
            answers.map { answer in
                SwitchRow(
                    answer.app.asShownLine, subtitle: answer.isAllowed ? FaceWords.allowed : FaceWords.refused,
                    icon: "auth-face-symbolic", name: FaceWords.name(answer.app.asShownLine), isOn: answer.isAllowed
                ) { [weak self] isOn in
                    // Only the prompt can allow it: turned on, the app asks at its next use.
                    self?.withdraw(answer.app, mayAskAgain: isOn)
                }
            })
    }

    private func withdraw(_ app: String, mayAskAgain: Bool) {
        isTurned = true
        host.perform(
            .keychain(FaceWords.changing, done: FaceWords.done(app.asShownLine, mayAskAgain: mayAskAgain)) {
                (control) throws(SettingsFailure) in try control.withdrawFace(from: app, mayAskAgain: mayAskAgain)
            })
    }
}
