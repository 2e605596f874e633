// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// A package of its own: it sees of Latchkey what every app sees, and `swift build` of Latchkey does not build it. The
// floors need C libraries, and package access stops at the package, so it brings module maps of its own.

let package = Package(
    name: "latchkey-benchmarks",
    dependencies: [.package(name: "latchkey", path: "..")],
    targets: [
        .systemLibrary(name: "CBenchLinux"),
        .systemLibrary(name: "CBenchOpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CBenchSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "latchkey-bench",
            dependencies: [
                "CBenchLinux", "CBenchOpenSSL", "CBenchSQLite", .product(name: "Security", package: "latchkey"),
            ],
            swiftSettings: [
                .treatAllWarnings(as: .error), .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("ExistentialAny"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
