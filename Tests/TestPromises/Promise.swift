// SPDX-License-Identifier: Apache-2.0

package import Testing

/// Marks a test as evidence for promises of `docs/design/promises.md`.
///
///     @Test(.promise("rollback.refused")) func anOlderDatabaseIsRefused() { ... }
///
/// The mark has no effect on the test. `scripts/generate promises` reads the identifiers from the sources, so they must be
/// literals.
package struct Promise: TestTrait {
    /// The identifiers of the promises.
    package let identifiers: [String]
}

extension Trait where Self == Promise {
    /// The promises that a test shows, by their identifiers.
    package static func promise(_ identifiers: String...) -> Self { Self(identifiers: identifiers) }
}
