// SPDX-License-Identifier: Apache-2.0

import LatchkeySeams

// In tiers `user` and `simulated` the authority stores its counters and permissions in the keychain's own files.
extension Keychain: CounterStore, FacePermissionStore {}
