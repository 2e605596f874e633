// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// apps: lists and revokes the answers to apps that asked to use Face ID.
enum Apps {
    static func run(_ options: Options) throws(CommandFailure) {
        guard !options.has(.revoke) || !options.has(.forget) else {
            throw .usage("--revoke and --forget cannot be used together", "Choose one.")
        }
        try failing { () throws(Failure) in
            if let app = options[.revoke] {
                try change(app, mayAskAgain: false, options)
            } else if let app = options[.forget] {
                try change(app, mayAskAgain: true, options)
            } else {
                try list(options)
            }
        }
    }

    private static func list(_ options: Options) throws(Failure) {
        let answers = try Client.command.call(Request.FacePermissions())
        if options.isJSON {
            let rows = answers.map { answer in
                JSON.object([("app", .text(answer.application)), ("faceID", .boolean(answer.isAllowed))])
            }
            return Output.write(JSON.array(rows).line + "\n")
        }
        guard !answers.isEmpty else { return Output.write(localized("No app has asked to use Face ID.") + "\n") }
        Output.write(Table.text(answers.map { [$0.application, $0.isAllowed ? "Face ID" : localized("no Face ID")] }))
    }

    private static func change(_ app: String, mayAskAgain: Bool, _ options: Options) throws(Failure) {
        try Client.command.call(Request.FacePermissionChange(application: app, mayAskAgain: mayAskAgain))
        guard !options.isJSON else { return Output.write("{}\n") }
        let name = app.withoutControls
        Output.writeDone(
            mayAskAgain ? localized("\(name) may ask for Face ID again.") : localized("\(name) may not use Face ID."))
    }
}
