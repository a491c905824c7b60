// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus
import iDownSettings
import iDownView

/// `idown config`: the service's settings.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Shows and changes the settings.",
        usage: """
            idown config [--json] [<name> [<value>]]
            idown config edit
            idown config path
            """,
        discussion: """
            Without a name it shows all settings, with a name one of them, and with a value it \
            changes the setting; the value default sets it back. Every value is shown as it can be \
            typed. A password in the URL of a proxy is not shown.

            idown config edit opens the settings file in $VISUAL or $EDITOR; what you save is \
            checked before it becomes the settings. If another program changed them meanwhile, they \
            stay as they are, and the command says where your text is. idown config path prints the path of the file.

            These can be set:

            \(SettingName.documentation)

            The others are shown here and changed with idown config edit: \
            \(Setting.allCases.filter(\.isReadOnly).map(SettingName.text).joined(separator: ", ")). idown-settings(5) explains all of them.

            Rates are in bytes per second: 500k, 10M, 1.5GiB/s. k, M and G, with or without iB, \
            are powers of 1024; kB, MB and GB are powers of 1000. Days are 30, 30d or 4w.

            Examples:
              idown config
              idown config speed-limit 10M
              idown config speed-limit off
              idown config download-directory ~/Downloads
              idown config edit
              idown config --json | jq .SpeedLimit
            """
    )

    /// Words in place of a setting's name; no setting has these names.
    private static let edit = "edit"
    private static let path = "path"
    /// The word in place of a value that sets a setting back.
    private static let usual = "default"

    private static let names = Setting.allCases.map(SettingName.text)

    @Flag(help: "Print a JSON object; the keys are the names on the bus and in the file.")
    var json = false

    @Argument(
        help: ArgumentHelp("A setting; or edit, or path.", valueName: "name"),
        completion: .list([edit, path] + names)
    )
    var name: String?

    @Argument(
        help: ArgumentHelp("Its new value.", valueName: "value"),
        completion: .custom { words, _, _ in
            let setting = words.lazy.compactMap(SettingName.setting).first
            guard let setting, !setting.isReadOnly else { return [] }
            return SettingName.words(of: setting) + [usual]
        }
    )
    var value: String?

    func validate() throws {
        guard let name else { return }
        guard let value else {
            guard name == Self.edit || name == Self.path else { return _ = try setting(name) }
            if json { throw ValidationError("--json is for settings, not for config \(name)") }
            return
        }
        let setting = try setting(name)
        guard !setting.isReadOnly else {
            throw ValidationError(
                "\(SettingName.text(setting)) can be changed in the settings file only, with:"
                    + " idown config edit"
            )
        }
        _ = try content(value, of: setting)
    }

    func run() async throws {
        if name == Self.edit || name == Self.path {
            guard let path = Self.file()?.path else { throw ExitStatus.failed.exit }
            return name == Self.edit ? try SettingsEditor.edit(path) : try Output.data(path)
        }
        let setting = try name.map { try self.setting($0) }
        if let setting, let value {
            let content = try content(value, of: setting)
            return try await Service.use { client in
                if setting.place == .settings {
                    try await client.require(.settings, to: "change \(SettingName.text(setting))")
                }
                let before = Self.keptFiles()
                try await client.set(setting, to: content)
                // Without a settings file there is no mistake in one.
                for path in before.map({ Self.keptFiles()?.subtracting($0) ?? [] })?.sorted() ?? []
                {
                    Output.complain(
                        "the settings file had a mistake: a new one has the settings that hold, and"
                            + " the old one is kept as \(path)"
                    )
                }
            }
        }
        let all = try await settings()
        guard let setting else { return try show(all) }
        guard let found = all.first(where: { $0.setting == setting }) else {
            throw ManagerError(.unknownProperty, "the running service has no \(name ?? "")")
        }
        if json { return try Output.json(SettingsJSON([found])) }
        try Output.data(Self.text(of: found.content, setting))
    }

    /// The settings files that the service has kept because of a mistake.
    ///
    /// - Returns: Their paths; nil if there is no settings file.
    private static func keptFiles() -> Set<String>? {
        // The service writes through a link.
        let file = DesktopFolders().configHome + "/idown/settings.json"
        guard let path = Disk.resolved(file) else { return nil }
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        let files = DesktopFolders.names(in: folder).map { "\(folder)/\($0)" }
        return Set(files.filter { $0.hasPrefix(path + ".broken-") })
    }

    private static func text(of content: Setting.Content, _ setting: Setting) -> String {
        Terminal.output.reader.line(SettingName.text(of: content, setting))
    }

    /// Returns the settings of the service that runs; without one, those that the next service would
    /// have.
    private func settings() async throws -> [(setting: Setting, content: Setting.Content)] {
        let file = Self.file()
        var values = file?.values ?? [:]
        // If idownd is not found, the bus may still know where it is.
        var asksService = file == nil
        if !asksService { asksService = await isServiceRunning() }
        if asksService {
            try await Service.use { client in
                for (setting, content) in try await client.settings() { values[setting] = content }
            }
        }
        return Setting.allCases.compactMap { setting in values[setting].map { (setting, $0) } }
    }

    private func isServiceRunning() async -> Bool {
        guard let client = try? await ManagerClient.connect(patience: Service.patience) else {
            return false
        }
        let isRunning = try? await client.isRunning()
        await client.close()
        return isRunning ?? false
    }

    private func show(_ settings: [(setting: Setting, content: Setting.Content)]) throws {
        guard !json else { return try Output.json(SettingsJSON(settings)) }
        let lines = settings.map { (SettingName.text($0), Self.text(of: $1, $0)) }
        let width = lines.map { $0.0.utf8.count }.max() ?? 0
        try Output.data(
            lines: lines.map { name, value in
                "\(CellText(name).padded(to: width))  \(value.isEmpty ? "-" : value)"
            }
        )
    }

    /// Returns the report on the settings file, and prints the mistakes in it.
    ///
    /// Nil, after a message, if idownd cannot be run to read the file.
    static func file() -> SettingsFileReport? {
        guard let file = ServiceProgram.ask("--settings").flatMap(SettingsFileReport.init) else {
            Output.complain(
                "idownd, which reads the settings file, is neither beside idown nor in PATH"
            )
            return nil
        }
        for mistake in file.mistakes {
            Output.complain("the settings file is not used: \(mistake) (idown config edit)")
        }
        for failure in file.failures {
            Output.complain("downloads fail: \(failure) (idown config edit)")
        }
        for note in file.notes { Output.complain("\(note); it has no effect (idown config edit)") }
        return file
    }

    private func setting(_ name: String) throws -> Setting {
        guard let setting = SettingName.setting(name) else {
            let suggestion = Spelling.nearest(to: name.lowercased(), among: Self.names)
                .map { "; did you mean \($0)?" }
            throw ValidationError(
                "there is no setting \(CellText(name).cut(to: 60))"
                    + (suggestion ?? "; there are \(Self.names.joined(separator: ", "))")
            )
        }
        return setting
    }

    private func content(_ text: String, of setting: Setting) throws -> Setting.Content {
        guard text != Self.usual else { return setting.usual }
        // The sign for a setting that is not set.
        var text = text == "-" ? "" : text
        let isNone = setting.kind == .file && text.lowercased() == "none"
        if setting.kind == .folder || setting.kind == .file, !text.isEmpty, !isNone {
            text = try WorkingFolder.absolute(text)
        }
        let name = SettingName.text(setting)
        guard let content = SettingName.content(text, of: setting) else {
            throw ValidationError("\(name) \(SettingName.mistake(in: text, for: setting))")
        }
        if setting.kind == .file, case .text(let path?) = content {
            var status = stat()
            let isFolder = stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            guard isFolder || access(path, R_OK) != 0 else {
                let text = try InputFile.text(of: path)
                do throws(CookieFile.BadLine) {
                    _ = try CookieFile(text)
                } catch {
                    throw ValidationError("\(name): \(error.text(CellText(path)))")
                }
                return content
            }
            let reason = String(cString: strerror(isFolder ? EISDIR : errno))
            throw ValidationError("\(name): \(CellText(path)) cannot be read: \(reason)")
        }
        return content
    }
}
