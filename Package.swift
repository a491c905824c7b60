// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PackageDescription

// Every target of ours is built with the same rules: strict concurrency of language mode 6, and
// imports private to their file unless said otherwise.
var house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// `.ci/run` sets this, so that no change brings a warning in. For users a warning stays a warning,
// since their compiler may be newer and warn of more.
if Context.environment["IDOWN_WARNINGS_ARE_ERRORS"] == "1" {
    house.append(.treatAllWarnings(as: .error))
}

// The threads of Sources/Executors rest on an interface of Swift's runtime that is experimental and
// known for Swift 6.3 only. This is the one place that chooses them: built by another Swift, or with
// IDOWN_RUNTIME_THREADS=1, tasks run on the runtime's own threads. Everything works as before, but
// a process without work wakes up every second, and QuietTests say that they cannot tell.
var threads: [SwiftSetting] = []
#if compiler(>=6.3) && compiler(<6.4)
    if Context.environment["IDOWN_RUNTIME_THREADS"] != "1" { threads = [.define("OWN_THREADS")] }
#endif

/// A package from GitHub, up to its next minor version: a new one is tested before it is taken.
///
/// `make dist` puts the sources of all packages into `vendor`, and nothing is fetched then.
func dependency(_ owner: String, _ name: String, from oldest: Version) -> Package.Dependency {
    if FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/vendor/\(name)") {
        return .package(path: "vendor/\(name)")
    }
    return .package(url: "https://github.com/\(owner)/\(name)", .upToNextMinor(from: oldest))
}

// The documentation of the library DBus is made by a plugin, which nothing else needs: `make docs`.
var documentation: [Package.Dependency] = []
if Context.environment["IDOWN_DOCUMENTATION"] == "1" {
    documentation = [dependency("swiftlang", "swift-docc-plugin", from: "1.5.0")]
}

/// Whether the window is built: where pkg-config finds libadwaita.
///
/// The Makefile says what pkg-config says, because SwiftPM keeps what a manifest gave until the
/// manifest or the environment changes. Without the Makefile its usual folders are looked at.
let hasWindow: Bool = {
    if let said = Context.environment["IDOWN_WINDOW"] { return said == "1" }
    let manager = FileManager.default
    let libraries = (try? manager.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    var folders = ["/usr/local/lib", "/usr/local/share", "/usr/share", "/usr/lib64", "/usr/lib"]
        .map { "\($0)/pkgconfig" }
    folders += libraries.map { "/usr/lib/\($0)/pkgconfig" }
    folders += (Context.environment["PKG_CONFIG_PATH"] ?? "").split(separator: ":").map(String.init)
    return folders.contains { manager.fileExists(atPath: "\($0)/libadwaita-1.pc") }
}()

let windowTargets: [Target] = [
    // GTK 4 and libadwaita 1: macros with casts.
    .systemLibrary(
        name: "CGtk",
        pkgConfig: "libadwaita-1",
        providers: [.apt(["libadwaita-1-dev"])]
    ),
    // The window: a client of the bus that has nothing of its own. GTK is for the main thread alone.
    .target(
        name: "iDownWindow",
        dependencies: [
            "CGtk", "DBus", "Executors", "iDownBus", "iDownSettings", "iDownState", "iDownView",
        ],
        swiftSettings: house + [.defaultIsolation(MainActor.self)]
    ),
    .executableTarget(
        name: "idown-window",
        dependencies: ["Executors", "iDownWindow"],
        swiftSettings: house
    ),
]

let package = Package(
    name: "idown",
    products: [
        .executable(name: "idown", targets: ["idown"]),
        .executable(name: "idownd", targets: ["idownd"]),
        .library(name: "iDownBus", targets: ["iDownBus", "iDownSettings"]),
        // D-Bus for any Swift program: depends on libdbus-1 only.
        .library(name: "DBus", targets: ["DBus"]),
    ] + (hasWindow ? [.executable(name: "idown-window", targets: ["idown-window"])] : []),
    dependencies: [
        // The store: one SQLite file, WAL, transactions, migrations.
        dependency("groue", "GRDB.swift", from: "7.10.0"),
        // The command line: help, validation, completions.
        dependency("apple", "swift-argument-parser", from: "1.8.2"),
        // Log lines, to stderr in journald's form.
        dependency("apple", "swift-log", from: "1.16.2"),
        // Signals and an orderly shutdown.
        dependency("swift-server", "swift-service-lifecycle", from: "2.13.0"),
        // Children in tests: Foundation's Process leaves SIGTERM blocked in the child.
        dependency("swiftlang", "swift-subprocess", from: "1.0.2"),
    ] + documentation,
    targets: [
        // MARK: Borders to C: a module map and what Swift cannot import, nothing else.

        // libdbus-1: variadic functions and cast macros.
        .systemLibrary(
            name: "CDBus",
            pkgConfig: "dbus-1",
            providers: [.apt(["libdbus-1-dev"])]
        ),
        // libcurl: curl_easy_setopt and curl_easy_getinfo are variadic.
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]
        ),
        // OpenSSL's digests: MD5, SHA-1, SHA-2, with the processor's own instructions. libcurl loads
        // the library anyway. swift-crypto would compile one of its own from 370 files in C++, which
        // took almost half of the time of a clean build.
        .systemLibrary(
            name: "CCrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]
        ),
        // expat: the metalinks' XML.
        .systemLibrary(
            name: "CExpat",
            pkgConfig: "expat",
            providers: [.apt(["libexpat1-dev"])]
        ),
        // zlib, brotli and zstd: compressed bodies. libcurl 7.88 has all three and cannot tell a body that
        // ends too early, or is damaged, from a whole one.
        .systemLibrary(
            name: "CCompression",
            providers: [.apt(["zlib1g-dev", "libbrotli-dev", "libzstd-dev"])]
        ),
        // An empty archive of ICU's data, in place of Foundation's.
        .target(name: "CICUData"),
        // What the C library has and Swift's Glibc lacks: renameat2, fallocate, openat, xattr, gettext.
        .systemLibrary(name: "CLinux"),
        // ncursesw: variables and macros with casts.
        .systemLibrary(name: "CCurses", providers: [.apt(["libncurses-dev"])]),

        // MARK: Swift over C: not one word about downloads.

        .target(name: "DBus", dependencies: ["CDBus"], swiftSettings: house),
        .target(name: "Curl", dependencies: ["CCurl"], swiftSettings: house),

        // Swift over Dispatch: the threads under tasks, which let a process sleep.
        .target(name: "Executors", swiftSettings: house + threads),

        // Other programs: posix_spawn(3).
        .target(name: "Processes", dependencies: ["CLinux"], swiftSettings: house),

        // The desktop's keyring.
        .target(name: "Secrets", dependencies: ["DBus"], swiftSettings: house),

        // MARK: The four rooms of the design: state in the middle, the spokes around it.

        // What the user can set, each described once: no other target.
        .target(name: "iDownSettings", swiftSettings: house),
        // Pure decisions: no clock, no disk, no other target.
        .target(name: "iDownState", swiftSettings: house),
        // The store: records, migrations, checkpoints, settings, folders.
        .target(
            name: "iDownData",
            dependencies: [
                "iDownSettings",
                "iDownState",
                .product(name: "GRDB", package: "GRDB.swift"),
                // SQLite by itself: GRDB lets go of a connection that it cannot open.
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: house
        ),
        // The engine: requests, answers, files.
        .target(
            name: "iDownloader",
            dependencies: [
                "CCompression",
                "CCrypto",
                "CExpat",
                "CLinux",
                "Curl",
                "Executors",
                "iDownState",
            ],
            swiftSettings: house
        ),
        // The contract in Swift: names, dictionaries, errors, the typed client.
        .target(name: "iDownBus", dependencies: ["DBus", "iDownSettings"], swiftSettings: house),
        // The hub: runs the effects that the state machine asks for.
        .target(
            name: "iDownService",
            dependencies: [
                "CLinux",
                "DBus",
                "Executors",
                "iDownBus",
                "iDownData",
                "iDownSettings",
                "iDownState",
                "iDownloader",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house
        ),
        // Presentation: values in, text out, in the user's language.
        .target(
            name: "iDownView",
            dependencies: ["CLinux", "DBus", "iDownBus", "iDownSettings"],
            swiftSettings: house
        ),
        // The desktop's services, each optional: the network, power, sleep, notifications, progress.
        .target(
            name: "iDownDesktop",
            dependencies: [
                "DBus",
                "Executors",
                "Processes",
                "iDownSettings",
                "iDownState",
                "iDownView",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house
        ),
        // What browsers' extensions and the native host say to each other, and where browsers look:
        // values alone.
        .target(
            name: "iDownBrowser",
            dependencies: ["iDownBus", "iDownSettings"],
            swiftSettings: house
        ),

        // MARK: Programs: composition roots.

        .executableTarget(
            name: "idownd",
            dependencies: [
                "CICUData",
                "CLinux",
                "Curl",
                "DBus",
                "Executors",
                "iDownBus",
                "iDownData",
                "iDownDesktop",
                "iDownService",
                "iDownSettings",
                "iDownState",
                "iDownView",
                "iDownloader",
                "Secrets",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: house
        ),
        .executableTarget(
            name: "idown",
            dependencies: [
                "CCurses",
                "DBus",
                "Processes",
                "iDownBrowser",
                "iDownBus",
                "iDownSettings",
                "iDownView",
                "Secrets",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house
        ),

        // MARK: Tests: one target a room, whole processes, and the peers.

        .target(
            name: "iDownTesting",
            dependencies: [
                "DBus",
                "iDownloader",
                .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "DBusTests",
            dependencies: ["DBus", "iDownTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "CurlTests",
            dependencies: ["Curl", "iDownTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "ExecutorsTests",
            dependencies: ["Executors", "iDownTesting"],
            swiftSettings: house + threads
        ),
        .testTarget(
            name: "iDownStateTests",
            dependencies: ["iDownState", "iDownTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "iDownDataTests",
            dependencies: ["iDownData", "iDownSettings", "iDownState", "iDownTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "iDownloaderTests",
            dependencies: ["Curl", "iDownState", "iDownTesting", "iDownloader"],
            swiftSettings: house
        ),
        .testTarget(
            name: "iDownBusTests",
            dependencies: ["DBus", "iDownBus", "iDownSettings", "iDownTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "iDownServiceTests",
            dependencies: [
                "CDBus",
                "CLinux",
                "Curl",
                "DBus",
                "iDownBus",
                "iDownData",
                "iDownService",
                "iDownSettings",
                "iDownState",
                "iDownTesting",
                "iDownloader",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "iDownDesktopTests",
            dependencies: [
                "DBus",
                "iDownDesktop",
                "iDownSettings",
                "iDownState",
                "iDownView",
                "iDownTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house
        ),
        .testTarget(
            name: "iDownBrowserTests",
            dependencies: ["iDownBrowser", "iDownBus", "iDownSettings", "iDownTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "iDownViewTests",
            dependencies: ["DBus", "iDownBus", "iDownSettings", "iDownView", "iDownTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "SecretsTests",
            dependencies: ["DBus", "Secrets", "iDownTesting"],
            swiftSettings: house
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["DBus", "iDownBus", "iDownSettings", "iDownTesting"],
            swiftSettings: house + threads
        ),
    ] + (hasWindow ? windowTargets : []),
    swiftLanguageModes: [.v6]
)
