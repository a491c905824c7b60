// SPDX-License-Identifier: Apache-2.0

/// A browser that can start a native host, and the folders in which it looks for manifests.
package struct Browser: Hashable, Sendable {
    /// Browsers that read manifests and extensions in the same way.
    package enum Family: String, Hashable, Sendable {
        case chromium, mozilla
    }

    /// The name for people.
    package let name: String
    package let family: Family
    /// The names of its programs.
    package let programs: [String]
    /// The folder of its profiles; below the home for Mozilla's family, and below the folder for
    /// settings for Chromium's.
    package let profiles: String
    /// The folder, below the one for settings, in which newer versions keep the profiles of new
    /// users; nil if it is ``profiles``.
    package var newProfiles: String?
    /// The folder for the user's manifests of native hosts, below the same folder.
    package let userHosts: String
    /// The folder for all users' manifests of native hosts.
    package let systemHosts: String
    /// Its name as a Flatpak.
    package let flatpak: String
    /// Its name as a Snap; nil where there is none.
    package let snap: String?

    /// All browsers that idown knows.
    package static let all: [Browser] = [
        chromium(
            "Chromium",
            ["chromium", "chromium-browser"],
            "chromium",
            "org.chromium.Chromium"
        ),
        chromium(
            "Chrome",
            ["google-chrome", "google-chrome-stable"],
            "google-chrome",
            "com.google.Chrome",
            systemHosts: "/etc/opt/chrome/native-messaging-hosts",
            snap: nil
        ),
        chromium(
            "Edge",
            ["microsoft-edge", "microsoft-edge-stable"],
            "microsoft-edge",
            "com.microsoft.Edge",
            systemHosts: "/etc/opt/edge/native-messaging-hosts",
            snap: nil
        ),
        chromium(
            "Brave",
            ["brave-browser", "brave-browser-stable", "brave"],
            "BraveSoftware/Brave-Browser",
            "com.brave.Browser",
            snap: "brave"
        ),
        chromium(
            "Vivaldi",
            ["vivaldi", "vivaldi-stable"],
            "vivaldi",
            "com.vivaldi.Vivaldi",
            snap: "vivaldi"
        ),
        Browser(
            name: "Firefox",
            family: .mozilla,
            programs: ["firefox", "firefox-esr"],
            profiles: ".mozilla/firefox",
            newProfiles: "mozilla/firefox",
            userHosts: ".mozilla/native-messaging-hosts",
            systemHosts: "/usr/lib/mozilla/native-messaging-hosts",
            flatpak: "org.mozilla.firefox",
            snap: "firefox"
        ),
        Browser(
            name: "LibreWolf",
            family: .mozilla,
            programs: ["librewolf"],
            profiles: ".librewolf",
            userHosts: ".librewolf/native-messaging-hosts",
            systemHosts: "/usr/lib/librewolf/native-messaging-hosts",
            flatpak: "io.gitlab.librewolf-community",
            snap: nil
        ),
    ]

    /// Returns a browser of Chromium's family; one without a system folder of its own reads
    /// Chromium's.
    private static func chromium(
        _ name: String,
        _ programs: [String],
        _ profiles: String,
        _ flatpak: String,
        systemHosts: String = "/etc/chromium/native-messaging-hosts",
        snap: String? = "chromium"
    ) -> Browser {
        Browser(
            name: name,
            family: .chromium,
            programs: programs,
            profiles: profiles,
            userHosts: "\(profiles)/NativeMessagingHosts",
            systemHosts: systemHosts,
            flatpak: flatpak,
            snap: snap
        )
    }

    /// Where a package puts the extension for all users; nil for a browser that takes extensions
    /// from its vendor's shop only.
    package var systemExtension: String? {
        switch (family, name) {
        case (.mozilla, _):
            "/usr/share/mozilla/extensions/{ec8030f7-c20a-464f-9b0e-13a3a9e97384}/"
                + BrowserExtension.mozillaID
        case (.chromium, "Chromium"): "/usr/share/chromium/extensions/idown"
        case (.chromium, _): nil
        }
    }
}

extension Browser.Family {
    /// Returns the manifest of the native host.
    ///
    /// - Parameter program: The absolute path of `idown`.
    /// - Returns: A JSON object.
    package func manifest(of program: String) -> String {
        let path = program.reduce(into: "") { text, letter in
            if letter == "\"" || letter == "\\" { text.append("\\") }
            text.append(letter)
        }
        let (key, extensionID) =
            switch self {
            case .chromium: ("allowed_origins", BrowserExtension.origin)
            case .mozilla: ("allowed_extensions", BrowserExtension.mozillaID)
            }
        return """
            {
              "name": "\(BrowserExtension.hostName)",
              "description": "Hands downloads over to idown",
              "path": "\(path)",
              "type": "stdio",
              "\(key)": ["\(extensionID)"]
            }

            """
    }
}
