// SPDX-License-Identifier: Apache-2.0

/// The version of the project, which a test compares with that of the keychain: the packages share no code.
let productVersion = "0.1.0"
