// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own, as a server that uses the library is one: only public names are visible.
let package = Package(
    name: "sign-in-server",
    dependencies: [.package(name: "latchkey-relying-party", path: "../..")],
    targets: [
        .executableTarget(
            name: "sign-in-server",
            dependencies: [.product(name: "SignInVerification", package: "latchkey-relying-party")])
    ],
    swiftLanguageModes: [.v6]
)
