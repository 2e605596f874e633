// SPDX-License-Identifier: Apache-2.0

import LatchkeyKeychain
import LatchkeyModel

// Taking a keychain out and putting it in: for the person, not for an app.

extension Session {
    func export(_ request: Request.ExportItems, _ answer: @escaping Answer) throws(Failure) {
        try checkOwner(request.context)
        let keychain = try keychain()
        let caller = caller
        service.parts.work.submit(.any) {
            do throws(Failure) {
                // Written down before the first secret leaves.
                if request.after == 0 { try keychain.record(.exported, caller: caller) }
                let page = try keychain.page(after: request.after)
                answer(.exported(Reply.ExportedItems(items: page.items, leftOut: page.leftOut, next: page.next)))
            } catch {
                answer(.failure(error))
            }
        }
    }

    func restore(_ request: Request.ImportItem, _ answer: @escaping Answer) throws(Failure) {
        try checkOwner(request.context)
        let keychain = try keychain()
        let caller = caller
        service.parts.work.submit(.oneItem) {
            do throws(Failure) {
                try keychain.restore(request.item, caller: caller)
                answer(.done)
            } catch {
                answer(.failure(error))
            }
        }
    }

    /// The context has to have proven that its owner is there; a keychain without a passcode has nobody to ask for.
    private func checkOwner(_ context: ContextHandle) throws(Failure) {
        let proof = try proof(of: context)
        guard service.authenticator.state.isPasscodeSet else { return }
        guard proof.satisfies(Policy.deviceOwnerAuthentication.plan) else {
            throw Failure(.interactionNotAllowed, "A backup needs the finger or the passcode first.")
        }
    }
}
