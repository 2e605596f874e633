// SPDX-License-Identifier: Apache-2.0

import LatchkeyModel

extension Sample {
    /// One value for each attribute; texts of 23, 24 and 256 bytes are the first and last ones of a head's length.
    static let everyAttribute: Attributes = [
        .accessGroup: .text("com.example.notes"),
        .account: .text("ada@example.com"),
        .service: .text("0123456789abcdefghijklm"),
        .synchronizable: .boolean(true),
        .creationDate: .date(1_700_000_000_000_000),
        .modificationDate: .date(-1),
        .itemDescription: .text("0123456789abcdefghijklmn"),
        .comment: .text(String(repeating: "0123456789abcdef", count: 16)),
        .creator: .number(.max),
        .type: .number(.min),
        .label: .text("na\u{00ef}ve \u{1f511}"),
        .isInvisible: .boolean(false),
        .isNegative: .boolean(true),
        .generic: .data([0, 255, 10]),
    ]

    static let itemRequests = [
        Sample(
            "add-item-least", id: 2,
            .addItem(
                Request.AddItem(
                    itemClass: .genericPassword, attributes: [:], accessControl: AccessControl(), secret: nil,
                    returns: [], authentication: Authentication()))),
        Sample(
            "add-item-empty-secret", id: 3,
            .addItem(
                Request.AddItem(
                    itemClass: .genericPassword, attributes: [.account: .text("")],
                    accessControl: AccessControl(accessibility: .afterFirstUnlock, constraints: .userPresence),
                    secret: SecretBytes([]), returns: .persistentReference, authentication: Authentication()))),
        Sample(
            "add-item-full", id: 4,
            .addItem(
                Request.AddItem(
                    itemClass: .genericPassword, attributes: everyAttribute,
                    accessControl: AccessControl(
                        accessibility: .whenPasscodeSetThisDeviceOnly,
                        constraints: [.biometryCurrentSet, .or, .devicePasscode, .privateKeyUsage]),
                    secret: SecretBytes("hunter2\0\n".utf8 + [0xff, 0xfe]), returns: .known,
                    authentication: Authentication(
                        context: handle, skipsProtected: true,
                        prompting: Prompting(
                            reason: "save", fallbackTitle: "Use passcode", cancelTitle: "",
                            interactionAllowed: false))))),
        Sample(
            "copy-items-all", id: 5,
            .copyItems(
                Request.CopyItems(
                    query: ItemQuery(itemClass: nil), limit: .all, returns: .attributes,
                    authentication: Authentication()))
        ),
        Sample(
            "copy-items-with-password",
            .copyItems(
                Request.CopyItems(
                    query: ItemQuery(itemClass: .genericPassword), limit: .one, returns: .data,
                    authentication: Authentication(applicationPassword: SecretBytes("p".utf8))))),
        Sample(
            "copy-items-with-reuse",
            .copyItems(
                Request.CopyItems(
                    query: ItemQuery(itemClass: .genericPassword), limit: .one, returns: .data,
                    authentication: Authentication(reuseSeconds: 300)))),
        Sample(
            "copy-items-one", id: 6,
            .copyItems(
                Request.CopyItems(
                    query: ItemQuery(
                        itemClass: .genericPassword, attributes: [.account: .text("ada"), .service: .text("mail")],
                        accessibility: .whenUnlocked, anySynchronizable: true),
                    limit: .one, returns: [.data, .attributes],
                    authentication: Authentication(context: handle, prompting: Prompting(reason: "read mail"))))),
        Sample(
            "copy-items-by-reference", id: 7,
            .copyItems(
                Request.CopyItems(
                    query: ItemQuery(itemClass: nil, persistentReference: Array(0..<34)), limit: .one, returns: .data,
                    authentication: Authentication(skipsProtected: true)))),
        Sample(
            "update-items", id: 8,
            .updateItems(
                Request.UpdateItems(
                    query: ItemQuery(itemClass: .genericPassword, attributes: [.account: .text("ada")]),
                    changes: [.label: .text("mail")],
                    accessControl: AccessControl(
                        accessibility: .alwaysThisDeviceOnly, constraints: [.biometryAny, .and, .devicePasscode]),
                    secret: SecretBytes("new".utf8), authentication: Authentication()))),
        Sample(
            "update-items-least", id: 9,
            .updateItems(
                Request.UpdateItems(
                    query: ItemQuery(itemClass: nil), changes: [:], accessControl: nil, secret: nil,
                    authentication: Authentication()))),
        Sample(
            "delete-items", id: 10,
            .deleteItems(ItemQuery(itemClass: .genericPassword, attributes: [.service: .text("mail")]))),
        Sample("list-items", id: 11, .listItems(ItemQuery(itemClass: .genericPassword))),
    ]
}
