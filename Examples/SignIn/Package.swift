// swift-tools-version: 6.0
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The package of an example app that signs in to a server with a key of the Secure Enclave. `make demo PART=server` runs it.
let package = Package(
    name: "SignIn",
    dependencies: [.package(name: "latchkey", path: "../..")],
    targets: [
        .executableTarget(
            name: "SignIn",
            dependencies: [
                .product(name: "LatchkeyKit", package: "latchkey"),
                .product(name: "LatchkeySignIn", package: "latchkey"),
            ]),
        // What signing in costs beside bare requests and a bare signature: scripts/bench sign-in.
        .executableTarget(
            name: "SignInBench",
            dependencies: [
                .product(name: "LatchkeyKit", package: "latchkey"),
                .product(name: "LatchkeySignIn", package: "latchkey"),
                .product(name: "Security", package: "latchkey"),
            ]),
    ]
)
