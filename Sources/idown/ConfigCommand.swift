// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// `idown config`: the service's settings.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Shows and changes the settings of the service.",
        discussion: """
            Without a name all settings are shown, with a name one, and with a value it is \
            changed. What is shown can be given as a value again.

            \(SettingName.documentation)

            Rates are numbers of bytes a second: 500k, 10M, 1.5GiB/s; k, M, G, with or without iB, \
            are powers of 1024, kB, MB, GB powers of 1000. Days are 30, 30d or 4w.

            Examples:
              idown config
              idown config speed-limit 10M
              idown config speed-limit off
              idown config download-directory ~/Downloads
              idown config --json | jq .SpeedLimit
            """
    )

    @Flag(help: "Prints a JSON object; its keys are the names of the D-Bus properties.")
    var json = false

    @Argument(
        help: ArgumentHelp("A setting.", valueName: "name"),
        completion: .list(ServiceSetting.allCases.map(SettingName.text))
    )
    var name: String?

    @Argument(help: ArgumentHelp("Its new value.", valueName: "value"))
    var value: String?

    func validate() throws {
        guard let name else { return }
        let setting = try setting(name)
        if let value { _ = try content(value, of: setting) }
    }

    func run() async throws {
        try await Service.use { client in
            guard let name else { return try show(try await client.settings()) }
            let setting = try setting(name)
            if let value {
                return try await client.set(setting, to: try content(value, of: setting))
            }
            let found = try await client.settings().filter { $0.setting == setting }
            guard let content = found.first?.content else {
                throw ManagerError(.unknownProperty, "the running service has no \(name)")
            }
            if json { return try show(found) }
            try Output.data(SettingName.text(of: content, setting))
        }
    }

    private func show(
        _ settings: [(setting: ServiceSetting, content: ServiceSetting.Content)]
    ) throws {
        guard !json else {
            return try Output.json(SettingsJSON(settings))
        }
        let width = settings.map { SettingName.text($0.setting).utf8.count }.max() ?? 0
        try Output.data(
            lines: settings.map { setting, content in
                let name = CellText(SettingName.text(setting)).padded(to: width)
                return "\(name)  \(SettingName.text(of: content, setting))"
            }
        )
    }

    private func setting(_ name: String) throws -> ServiceSetting {
        guard let setting = SettingName.setting(name) else {
            let names = ServiceSetting.allCases.map(SettingName.text).joined(separator: ", ")
            throw ValidationError(
                "there is no setting \(CellText(name).cut(to: 60)); there are \(names)"
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
