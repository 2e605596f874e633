// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A separate package, so that it uses only Latchkey's public products and is not part of Latchkey's own build. It has
// its own module maps for the C libraries of the floors, because those of Latchkey are not visible outside its package.

let package = Package(
    name: "latchkey-benchmarks",
    dependencies: [.package(name: "latchkey", path: "../..")],
    targets: [
        .systemLibrary(name: "CBenchLinux"),
        .systemLibrary(name: "CBenchOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CBenchSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "latchkey-bench",
            dependencies: [
                "CBenchLinux", "CBenchOpenSSL", "CBenchSQLite", .product(name: "Security", package: "latchkey"),
                .product(name: "LocalAuthentication", package: "latchkey"),
            ],
            swiftSettings: [
                .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("ExistentialAny"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
