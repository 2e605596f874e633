// SPDX-License-Identifier: Apache-2.0

/// The version of this release, which every program prints for `--version` (semver.org).
package let productVersion = "0.1.0"
