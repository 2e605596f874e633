// SPDX-License-Identifier: Apache-2.0

import LatchkeyClient
import LatchkeyModel

/// Copies the items of this provider to another keyring, which serves the session meanwhile. What is there already is passed
/// over, so an interrupted copy can be repeated.
///
/// This program reads as every other one does: the person is asked for items that other programs stored, in one prompt for each
/// `Limits.secretsRead` items, which also asks for what these items demand.
struct SecretExport: Sendable {
    let target: OtherKeyring
    let keeper: any SecretKeeper
    let texts: SecretsTexts
    let isDryRun: Bool
    /// Called with the label of a collection and how many of its items are done.
    let progress: @Sendable (String, Int, Int) -> Void

    func run() throws(Failure) -> CopyReport {
        let process = try AskingProcess.own
        var report = CopyReport(isDryRun: isDryRun)
        let session = try target.openSession()
        let labels = try use(.collections, process)
        let items = Dictionary(grouping: try use(.everyItem, process), by: \.collection)
        for (collection, items) in items.sorted(by: { $0.key < $1.key }) {
            let isLogin = collection.hasBytes(of: SecretService.login)
            let label =
                labels.first { $0.identifier.hasBytes(of: collection) }?.label
                ?? (isLogin ? SecretService.loginLabel : collection)
            let path: String?
            do throws(Failure) {
                path = try self.path(label, isLogin: isLogin)
            } catch {
                // The person made no collection, or left it locked. Those of other collections are copied.
                guard error.status == .interactionNotAllowed else { throw error }
                report.failed += items.map { ($0.label ?? $0.identifier, error.message) }
                continue
            }
            var done = 0
            while done < items.count {
                progress(label, done, items.count)
                let part = Array(items[done...].prefix(Limits.secretsRead))
                try copy(part, to: path, session, process, &report)
                done += part.count
            }
            progress(label, done, items.count)
        }
        return report
    }

    private func use(_ action: SecretAction, _ process: AskingProcess) throws(Failure) -> [KeptItem] {
        try keeper.use(action, for: process, CallCancellation()).map(KeptItem.init)
    }

    /// The collection of the other keyring with that label, which is unlocked; a new one if there is none. Nil in a dry run that
    /// would make one.
    private func path(_ label: String, isLogin: Bool) throws(Failure) -> String? {
        let known =
            isLogin ? try target.login() : try target.collections().first { $0.label.hasBytes(of: label) }?.path
        if let known {
            try target.unlock(known)
            return known
        }
        return isDryRun ? nil : try target.createCollection(label, alias: isLogin ? "default" : "")
    }

    private func copy(
        _ items: [KeptItem], to path: String?, _ session: OtherKeyring.Session, _ process: AskingProcess,
        _ report: inout CopyReport
    ) throws(Failure) {
        var missing: [KeptItem] = []
        for item in items {
            if let path, try target.contains(item, in: path) { report.present += 1 } else { missing.append(item) }
        }
        guard let path, !isDryRun, !missing.isEmpty else {
            report.copied += missing.count
            return
        }
        let read = try use(.read(missing.map(\.identifier)), process)
        for item in missing {
            do throws(Failure) {
                // Left out are those that were deleted meanwhile, and those that this program may never read.
                guard let secret = read.first(where: { $0.identifier.hasBytes(of: item.identifier) })?.secret else {
                    throw texts.notRead
                }
                try target.store(item, secret, in: path, session)
                report.copied += 1
            } catch {
                try report.failed(item.label ?? item.identifier, error)
            }
        }
    }
}
