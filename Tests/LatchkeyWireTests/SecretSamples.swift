// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Sample {
    /// In the order of the bytes of the names, which is not the order of a dictionary.
    static let pairs: SecretPairs = {
        guard
            let pairs = SecretPairs([
                .init("xdg:schema", "org.example.Mail"), .init("user", "ada"), .init("", ""), .init("Z", "\u{e9}"),
            ])
        else { preconditionFailure("the names differ") }
        return pairs
    }()

    private static func secrets(
        _ name: String, _ action: SecretAction, isPinned: Bool = true, mayAsk: Bool = true
    ) -> Sample {
        Sample(
            name,
            .useSecrets(
                Request.UseSecrets(
                    process: ProcessName(processID: 77, startTime: 1234, userID: 1000), isPinned: isPinned,
                    action: action, prompting: Prompting(interactionAllowed: mayAsk))))
    }

    /// One request of the Secret Service for each action, and those with and without optional parts.
    static let secrets = [
        secrets(
            "secrets-store",
            .store(
                NewSecret(
                    collection: "login", label: "mail", contentType: "text/plain", pairs: pairs,
                    secret: SecretBytes("pw".utf8)),
                replaces: true)),
        secrets(
            "secrets-store-least",
            .store(
                NewSecret(collection: "login", label: "", contentType: "", pairs: .none, secret: SecretBytes([])),
                replaces: false), isPinned: false),
        secrets("secrets-search", .search(collection: nil, .none)),
        secrets("secrets-search-collection", .search(collection: "login", pairs)),
        secrets("secrets-read", .read(["1", "2"])),
        secrets("secrets-read-silently", .read(["1"]), mayAsk: false),
        secrets(
            "secrets-change",
            .change(
                "1",
                SecretChanges(
                    label: "post", pairs: SecretPairs.none, contentType: "text/html", secret: SecretBytes("new".utf8)))),
        secrets("secrets-change-nothing", .change("1", SecretChanges())),
        secrets("secrets-delete", .delete("1")),
        secrets("secrets-collections", .collections),
        secrets("secrets-create-collection", .createCollection(label: "Work")),
        secrets("secrets-rename-collection", .renameCollection("c1", label: "Home")),
        secrets("secrets-delete-collection", .deleteCollection("c1")),
        secrets("secrets-answers", .answers),
        secrets("secrets-forget-answer", .forgetAnswer(item: "1", answer: "a1")),
        secrets("secrets-every-item", .everyItem), secrets("secrets-unlock", .unlock),
        secrets("secrets-protect-new", .protectNew(collection: "login", AccessControl(constraints: .userPresence))),
        secrets("secrets-protect-item", .protectItem("1", AccessControl(constraints: .devicePasscode))),
    ]
}
