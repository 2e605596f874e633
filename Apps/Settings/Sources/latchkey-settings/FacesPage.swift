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
        guard answers != shown else { return }
        shown = answers
        group.show(
            answers.map { answer in
                let ask = Button(FaceWords.ask) { [weak self] in self?.withdraw(answer.app, mayAskAgain: true) }
                ask.setAccessibleName(FaceWords.askName(answer.app))
                let refuse = Button(FaceWords.refuse) { [weak self] in self?.withdraw(answer.app, mayAskAgain: false) }
                refuse.setAccessibleName(FaceWords.refuseName(answer.app))
                return Row(
                    answer.app, subtitle: answer.isAllowed ? FaceWords.allowed : FaceWords.refused,
                    icon: "auth-face-symbolic", suffix: answer.isAllowed ? [ask, refuse] : [ask])
            })
    }

    private func withdraw(_ app: String, mayAskAgain: Bool) {
        host.perform(
            .keychain(FaceWords.changing, done: FaceWords.done(app, mayAskAgain: mayAskAgain)) {
                (control) throws(SettingsFailure) in try control.withdrawFace(from: app, mayAskAgain: mayAskAgain)
            })
    }
}
