// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// Copies the items of another keyring. What is here already is passed over, so an interrupted copy can be repeated.
///
/// The items belong to this program afterwards: the person is asked when the program that had stored one reads it for the
/// first time, because no keyring says which program that was.
struct SecretImport: Sendable {
    let source: OtherKeyring
    let keeper: any SecretKeeper
    let isDryRun: Bool
    /// Called with the label of a collection and how many of its items are done.
    let progress: @Sendable (String, Int, Int) -> Void
    /// How often `progress` is called.
    private static let step = 100

    func run() throws(Failure) -> CopyReport {
        let process = try AskingProcess.own
        var report = CopyReport(isDryRun: isDryRun)
        let session = try source.openSession()
        for (path, label) in try source.collections() {
            try source.unlock(path)
            let target = try target(label, isLogin: try source.isLogin(path), process)
            let items = try source.items(of: path)
            for (index, path) in items.enumerated() {
                if index % Self.step == 0 { progress(label, index, items.count) }
                try copy(path, to: target, session, process, &report)
            }
            progress(label, items.count, items.count)
        }
        return report
    }

    private func use(_ action: SecretAction, _ process: AskingProcess) throws(Failure) -> [KeptItem] {
        try keeper.use(action, for: process, CallCancellation()).map(KeptItem.init)
    }

    /// The identifier of the collection with that label; a new one if there is none. Nil in a dry run that would make one.
    private func target(_ label: String, isLogin: Bool, _ process: AskingProcess) throws(Failure) -> String? {
        if isLogin { return SecretService.login }
        let collections = try use(.collections, process)
        if let known = collections.first(where: { $0.label?.hasBytes(of: label) == true }) { return known.identifier }
        guard !isDryRun else { return nil }
        guard let made = try use(.createCollection(label: label), process).first else { throw .unexpectedReply }
        return made.identifier
    }

    private func copy(
        _ path: String, to collection: String?, _ session: OtherKeyring.Session, _ process: AskingProcess,
        _ report: inout CopyReport
    ) throws(Failure) {
        var label = path
        do throws(Failure) {
            let item = try source.item(path)
            label = item.label
            if let collection {
                let present = try use(.search(collection: collection, item.pairs), process)
                guard !present.contains(where: { $0.pairs == item.pairs && $0.label?.hasBytes(of: item.label) == true })
                else {
                    report.present += 1
                    return
                }
            }
            guard let collection, !isDryRun else {
                report.copied += 1
                return
            }
            let (contentType, secret) = try source.secret(path, session)
            let new = NewSecret(
                collection: collection, label: item.label, contentType: contentType, pairs: item.pairs, secret: secret)
            _ = try use(.store(new, replaces: false), process)
            report.copied += 1
        } catch {
            try report.failed(label, error)
        }
    }
}
