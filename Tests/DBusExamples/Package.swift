// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

// The examples of the library DBus as another project would have them: a package of its own. Only
// the library is compiled for it, none of the other targets and packages.
let package = Package(
    name: "DBusExamples",
    dependencies: [.package(name: "idown", path: "../..")],
    targets: [
        .executableTarget(name: "serve", dependencies: [.product(name: "DBus", package: "idown")]),
        .executableTarget(name: "call", dependencies: [.product(name: "DBus", package: "idown")]),
    ],
    swiftLanguageModes: [.v6]
)
