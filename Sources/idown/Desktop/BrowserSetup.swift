// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import iDownBrowser
import iDownView

/// Finds and installs what each browser of this user needs: the native host's manifest, and idown's
/// extension.
struct BrowserSetup {
    private let folders: DesktopFolders

    init(_ folders: DesktopFolders) { self.folders = folders }

    /// Returns a report on each installed browser.
    func reports() -> [BrowserReport] {
        Browser.all.flatMap { browser in
            var reports: [BrowserReport] = []
            if isInstalled(browser) {
                reports.append(
                    BrowserReport(
                        browser: browser.name,
                        kind: .system,
                        host: works(manifest(browser)) ? manifest(browser) : "",
                        extension: ownExtension(browser) ?? "",
                        folder: browser.systemExtension == nil ? folderToLoad ?? "" : ""
                    )
                )
            }
            if isFlatpak(browser) { reports.append(sandboxed(browser, .flatpak)) }
            if isSnap(browser) { reports.append(sandboxed(browser, .snap)) }
            return reports
        }
    }

    /// Returns the report on a sandboxed browser, which cannot start a program outside its sandbox.
    private func sandboxed(_ browser: Browser, _ kind: BrowserReport.Kind) -> BrowserReport {
        BrowserReport(browser: browser.name, kind: kind)
    }

    // MARK: Changing

    /// Puts the manifest into the user's own folder of every browser that finds none that works.
    ///
    /// - Returns: The files that were written, and the first failure.
    func enable(_ program: String) -> (written: [String], failure: TextFile.Failure?) {
        var written: [String] = []
        var failure: TextFile.Failure?
        for browser in Browser.all where isInstalled(browser) {
            let path = userManifest(browser)
            let text = browser.family.manifest(of: program)
            // One that cannot be read is replaced: the browser cannot read it either.
            guard (try? TextFile.read(path)) != text else { continue }
            if works(systemManifest(browser)), works(manifest(browser)) { continue }
            do throws(TextFile.Failure) {
                try TextFile.replace(path, with: text)
                written.append(path)
            } catch {
                failure = failure ?? error
            }
        }
        return (written, failure)
    }

    /// Removes the manifest from the user's own folders.
    ///
    /// - Returns: The files that were removed.
    /// - Throws: `TextFile.Failure`.
    func disable() throws(TextFile.Failure) -> [String] {
        var removed: [String] = []
        for browser in Browser.all {
            let path = userManifest(browser)
            guard access(path, F_OK) == 0 else { continue }
            try TextFile.replace(path, with: nil)
            removed.append(path)
        }
        return removed
    }

    // MARK: Looking

    private func base(_ browser: Browser) -> String {
        switch browser.family {
        case .chromium: folders.configHome
        case .mozilla: folders.home
        }
    }

    private func userManifest(_ browser: Browser) -> String {
        "\(base(browser))/\(browser.userHosts)/\(BrowserExtension.manifestName)"
    }

    /// Returns the manifest that the browser reads: the user's own, even if its program is gone.
    private func manifest(_ browser: Browser) -> String {
        let own = userManifest(browser)
        return access(own, F_OK) == 0 ? own : systemManifest(browser)
    }

    private func systemManifest(_ browser: Browser) -> String {
        "\(browser.systemHosts)/\(BrowserExtension.manifestName)"
    }

    private func isInstalled(_ browser: Browser) -> Bool {
        // Ubuntu's programs of these names only start the Snap.
        browser.programs.contains { name in
            ProgramPath.find(name).map { !$0.hasPrefix("/snap/") } ?? false
        } || profiles(browser).contains { access($0, F_OK) == 0 }
    }

    private func profiles(_ browser: Browser) -> [String] {
        ["\(base(browser))/\(browser.profiles)"]
            + [browser.newProfiles].compactMap(\.self).map { "\(folders.configHome)/\($0)" }
    }

    private func isFlatpak(_ browser: Browser) -> Bool {
        ["/var/lib/flatpak", "\(folders.dataHome)/flatpak"].contains {
            access("\($0)/app/\(browser.flatpak)", F_OK) == 0
        }
    }

    private func isSnap(_ browser: Browser) -> Bool {
        browser.snap.map { access("/snap/\($0)/current", F_OK) == 0 } ?? false
    }

    /// Whether a manifest is there, is for idown's extension, and leads to a program.
    private func works(_ manifest: String) -> Bool {
        struct Manifest: Decodable {
            let path: String
            let allowed_origins: [String]?
            let allowed_extensions: [String]?
        }
        guard let text = (try? TextFile.read(manifest)).flatMap(\.self),
            let content = try? JSONDecoder().decode(Manifest.self, from: Data(text.utf8))
        else { return false }
        let isForIdown =
            content.allowed_origins?.contains(BrowserExtension.origin) == true
            || content.allowed_extensions?.contains(BrowserExtension.mozillaID) == true
        return isForIdown && access(content.path, X_OK) == 0
    }

    /// Returns the extension that the browser finds: a package's, or one in a profile.
    private func ownExtension(_ browser: Browser) -> String? {
        if let path = browser.systemExtension, access(path, F_OK) == 0 { return path }
        let places =
            switch browser.family {
            case .chromium: ["Extensions/\(BrowserExtension.chromiumID)"]
            case .mozilla: ["", ".xpi"].map { "extensions/\(BrowserExtension.mozillaID)\($0)" }
            }
        let profiles = profiles(browser).flatMap { profiles in
            DesktopFolders.names(in: profiles).map { "\(profiles)/\($0)" }
        }
        return profiles.flatMap { profile in places.map { "\(profile)/\($0)" } }
            .first { access($0, F_OK) == 0 } ?? profiles.compactMap(loadedExtension).first
    }

    /// Returns the folder from which the user has loaded the extension into a profile of Chromium's
    /// family.
    private func loadedExtension(_ profile: String) -> String? {
        struct Extension: Decodable {
            enum CodingKeys: CodingKey { case path }

            let path: String?

            // Those of others may have any form.
            init(from decoder: any Decoder) {
                let values = try? decoder.container(keyedBy: CodingKeys.self)
                path = try? values?.decode(String.self, forKey: .path)
            }
        }
        struct Extensions: Decodable { let settings: [String: Extension]? }
        struct Preferences: Decodable { let extensions: Extensions? }
        return ["Secure Preferences", "Preferences"].lazy.compactMap { name in
            let text = (try? TextFile.read("\(profile)/\(name)")).flatMap(\.self) ?? ""
            return try? JSONDecoder().decode(Preferences.self, from: Data(text.utf8))
        }.compactMap { $0.extensions?.settings?[BrowserExtension.chromiumID]?.path }
            .first { access("\($0)/manifest.json", F_OK) == 0 }
    }

    /// The extension that a package has installed for those browsers that do not load it themselves.
    private var folderToLoad: String? {
        folders.dataFolders.map { "\($0)/webext/idown" }.first { access($0, F_OK) == 0 }
    }
}
