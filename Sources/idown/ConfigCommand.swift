// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
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
            changes the setting. Every value is shown as it can be typed. A password in the URL of \
            a proxy is not shown.

            idown config edit opens the settings file in $VISUAL or $EDITOR; what you save is \
            checked before it becomes the settings. idown config path prints the path of the file.

            These can be set:

            \(SettingName.documentation)

            The others are shown here and changed with idown config edit: \
            \(FileSetting.allCases.map(\.name).joined(separator: ", ")). idown-settings(5) \
            explains all of them.

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

    /// Words in the place of a name; no setting is called like them.
    private static let edit = "edit"
    private static let path = "path"

    private static let names =
        ServiceSetting.allCases.map(SettingName.text) + FileSetting.allCases.map(\.name)

    @Flag(help: "Print a JSON object; the keys are the names on the bus and in the file.")
    var json = false

    @Argument(
        help: ArgumentHelp("A setting; or edit, or path.", valueName: "name"),
        completion: .list([edit, path] + names)
    )
    var name: String?

    @Argument(help: ArgumentHelp("Its new value.", valueName: "value"))
    var value: String?

    func validate() throws {
        guard let name else { return }
        guard let value else {
            let isKnown = name == Self.edit || name == Self.path || FileSetting(name: name) != nil
            if !isKnown { _ = try setting(name) }
            return
        }
        if let setting = FileSetting(name: name) {
            throw ValidationError(
                "\(setting.name) can be changed in the settings file only, with: idown config edit"
            )
        }
        _ = try content(value, of: try setting(name))
    }

    func run() async throws {
        if name == Self.edit || name == Self.path {
            guard let path = Self.file()?.path else { throw ExitStatus.failed.exit }
            return name == Self.edit ? try SettingsEditor.edit(path) : try Output.data(path)
        }
        if let setting = name.flatMap({ FileSetting(name: $0) }) { return try show(setting) }
        try await Service.use { client in
            guard let name else {
                return try show(try await client.settings(), Self.file())
            }
            let setting = try setting(name)
            if let value {
                return try await client.set(setting, to: try content(value, of: setting))
            }
            let found = try await client.settings().filter { $0.setting == setting }
            guard let content = found.first?.content else {
                throw ManagerError(.unknownProperty, "the running service has no \(name)")
            }
            if json { return try show(found, nil) }
            try Output.data(SettingName.text(of: content, setting))
        }
    }

    private func show(
        _ settings: [(setting: ServiceSetting, content: ServiceSetting.Content)],
        _ file: SettingsFileReport?
    ) throws {
        guard !json else { return try Output.json(SettingsJSON(settings, file)) }
        var lines = settings.map { (SettingName.text($0), SettingName.text(of: $1, $0)) }
        if let file { lines += FileSetting.allCases.map { ($0.name, file.text(of: $0)) } }
        let width = lines.map { $0.0.utf8.count }.max() ?? 0
        try Output.data(
            lines: lines.map { name, value in
                "\(CellText(name).padded(to: width))  \(value.isEmpty ? "-" : value)"
            }
        )
    }

    private func show(_ setting: FileSetting) throws {
        guard let file = Self.file() else { throw ExitStatus.failed.exit }
        if json { return try Output.json([setting.rawValue: file.values[setting] ?? ""]) }
        try Output.data(file.text(of: setting))
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
        for note in file.notes { Output.complain("\(note); it has no effect (idown config edit)") }
        return file
    }

    private func setting(_ name: String) throws -> ServiceSetting {
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

    private func content(
        _ text: String,
        of setting: ServiceSetting
    ) throws -> ServiceSetting.Content {
        let text = setting == .downloadDirectory ? try WorkingFolder.absolute(text) : text
        guard let content = SettingName.content(text, of: setting) else {
            throw ValidationError(
                "\(SettingName.text(setting)) is \(SettingName.range(of: setting))"
            )
        }
        return content
    }
}
