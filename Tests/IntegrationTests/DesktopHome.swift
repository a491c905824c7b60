// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownTesting

/// A home folder with applications, for the commands that change the desktop's files.
struct DesktopHome {
    let home: ServiceHome

    /// The folder of the system's applications; the home folder has another one.
    var systemApplications: String { home.path + "/share/applications" }
    var ownApplications: String { home.path + "/.local/share/applications" }
    /// The user's `mimeapps.list`.
    var associations: String { home.config + "/mimeapps.list" }

    var environment: [String: String] {
        var variables = home.variables
        variables["PATH"] = getenv("PATH").map { String(cString: $0) }
        return variables
    }

    /// Creates the folders, and installs browsers for the whole system.
    init(in folder: String, browsers: [String]) async throws {
        home = ServiceHome(in: folder)
        for path in ["/share", "/share/applications", "/etc", "/.local", "/.local/share"] {
            mkdir(home.path + path, 0o700)
        }
        mkdir(ownApplications, 0o700)
        for browser in browsers {
            try TestFile.write(
                """
                [Desktop Entry]
                Type=Application
                Name=\(browser)
                Exec=true %U
                MimeType=x-scheme-handler/http;x-scheme-handler/https;

                """,
                to: "\(systemApplications)/\(browser).desktop"
            )
        }
        try TestFile.write(
            """
            [Desktop Entry]
            Type=Application
            Name=idown
            Exec="\(try BuiltProgram("idown").path)" open %U
            MimeType=x-scheme-handler/idown;

            """,
            to: "\(ownApplications)/org.idown.Manager1.desktop"
        )
        try await updateCaches()
    }

    /// Updates the desktop's cache of installed applications.
    func updateCaches() async throws {
        for folder in [systemApplications, ownApplications] {
            let done = try await run("update-desktop-database", folder)
            try #require(done.succeeded, "\(done)")
        }
    }

    func idown(_ arguments: String...) async throws -> ChildProcess.Completed {
        try await ChildProcess.run(
            try BuiltProgram("idown").path,
            arguments,
            environment: environment
        )
    }

    func run(_ program: String, _ arguments: String...) async throws -> ChildProcess.Completed {
        try await ChildProcess.run(program, arguments, environment: environment)
    }

    /// Returns the text of a file; nil if it does not exist.
    func text(of path: String) throws -> String? {
        TestFile.exists(path) ? try TestFile.text(of: path) : nil
    }
}

/// Runs `body` with a desktop's home folder that is deleted afterwards.
func withDesktopHome(
    browsers: [String] = ["firefox", "vivaldi-stable"],
    _ body: (DesktopHome) async throws -> Void
) async throws {
    try await withTemporaryFolder { folder in
        try await body(try await DesktopHome(in: folder, browsers: browsers))
    }
}
