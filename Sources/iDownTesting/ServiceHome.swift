// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A home folder of a test's own, which contains all XDG base directories.
package struct ServiceHome: Sendable {
    /// The absolute path of the home, without symbolic links.
    package let path: String

    /// Makes the folders that a session has when a service starts.
    package init(in folder: String) {
        path = folder + "/home"
        for name in ["", "/.config", "/.cache", "/run", "/services"] { mkdir(path + name, 0o700) }
    }

    /// The download folder.
    package var downloads: String { path + "/Downloads" }
    /// The service's state folder, with lock and list.
    package var state: String { path + "/.local/state/idown" }
    /// The list of tasks.
    package var store: String { state + "/tasks.sqlite" }
    /// The user's settings folders.
    package var config: String { path + "/.config" }
    /// A folder whose services the bus can activate.
    package var services: String { path + "/services" }
    /// The log of an activated service.
    package var activatedLog: String { path + "/activated.log" }

    /// Returns the path of a file in the download folder.
    package func download(_ name: String) -> String { "\(downloads)/\(name)" }

    /// The environment variables that make a program use only these folders.
    package var variables: [String: String] {
        [
            "HOME": path,
            "XDG_CONFIG_HOME": path + "/.config",
            "XDG_DATA_HOME": path + "/.local/share",
            "XDG_STATE_HOME": path + "/.local/state",
            "XDG_CACHE_HOME": path + "/.cache",
            "XDG_RUNTIME_DIR": path + "/run",
            "XDG_DATA_DIRS": path + "/share",
            "XDG_CONFIG_DIRS": path + "/etc",
            // Keeps this machine's own network, battery and sleep out of the test.
            "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent",
        ]
    }

    /// Makes the service known to a bus that reads ``services``.
    ///
    /// A script sets the environment, because the bus would pass on that of the tests.
    package func install(_ program: BuiltProgram, as name: String) throws(TestFile.Failure) {
        let script = path + "/start-service"
        let exports = variables.map { "export \($0)='\($1)'\n" }.sorted().joined()
        try TestFile.write(
            """
            #!/bin/sh
            \(exports)exec '\(program.path)' 2>>'\(activatedLog)'

            """,
            to: script
        )
        chmod(script, 0o700)
        try TestFile.write(
            "[D-BUS Service]\nName=\(name)\nExec=\(script)\n",
            to: "\(services)/\(name).service"
        )
    }
}
