// SPDX-License-Identifier: Apache-2.0

private import FoundationEssentials

/// Which of the parts that a browser needs to hand downloads over are in place.
package struct BrowserReport: Codable, Hashable, Sendable {
    /// How a browser was installed.
    package enum Kind: String, Codable, Sendable {
        case system, flatpak, snap
    }

    package let browser: String
    package let kind: Kind
    /// The path of the native host's manifest; empty if none works.
    package let host: String
    /// The path of the extension; empty if none was found.
    package let `extension`: String
    /// The folder of the extension, where no package brings it and the user has to load it; else
    /// empty.
    package let folder: String

    enum CodingKeys: String, CodingKey {
        case browser = "Browser"
        case kind = "Kind"
        case host = "Host"
        case `extension` = "Extension"
        case folder = "Folder"
    }

    package init(
        browser: String,
        kind: Kind,
        host: String = "",
        extension: String = "",
        folder: String = ""
    ) {
        self.browser = browser
        self.kind = kind
        self.host = host
        self.extension = `extension`
        self.folder = folder
    }

    /// Reads the output of `idown browser status --json`; nil if it is not a report.
    package static func all(in json: String) -> [Self]? {
        try? JSONDecoder().decode([Self].self, from: Data(json.utf8))
    }

    /// Whether the browser hands downloads over.
    package var isReady: Bool { !host.isEmpty && !`extension`.isEmpty }

    /// What is in place, and what is missing.
    package var text: String {
        let values = [
            "browser": browser, "kind": kind == .flatpak ? "Flatpak" : "Snap", "folder": folder,
        ]
        return switch (kind, host.isEmpty, `extension`.isEmpty) {
        case (.flatpak, _, _), (.snap, _, _):
            translated("{browser} ({kind}): its sandbox lets it start no other program", values)
        case (.system, false, false): translated("{browser}: hands its downloads over", values)
        case (.system, true, false):
            translated(
                "{browser}: the extension may not start idown; use: idown browser enable",
                values
            )
        case (.system, _, true) where !folder.isEmpty:
            translated(
                "{browser}: the extension is missing; on the page chrome://extensions turn on Developer mode and load the folder {folder}",
                values
            )
        case (.system, false, true):
            translated(
                "{browser}: the extension is missing; the package idown-browser has it",
                values
            )
        case (.system, true, true):
            translated("{browser}: not set up; the package idown-browser does it", values)
        }
    }

    /// The lines about all browsers.
    package static func text(of reports: [Self]) -> String {
        reports.isEmpty
            ? translated("No browser was found that idown knows.")
            : reports.map(\.text).joined(separator: "\n")
    }
}
