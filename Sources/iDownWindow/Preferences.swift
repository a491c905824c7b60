// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownSettings
import iDownView

/// The window with the service's settings; it makes each row from the setting's description.
final class Preferences {
    private let client: ManagerClient
    private let tasks: TaskActions
    private let window: Object
    /// Whether the window is destroyed; an answer of the service may arrive later.
    private var isClosed = false
    private var isShowing = true
    /// The values that are in force, or were sent to the service and not answered yet.
    private var kept: [Setting: Setting.Content] = [:]
    /// The number of changes that the user has made, and of those without an answer.
    private var (changes, pending) = (0, 0)
    /// Closures that show another value in the row of a setting.
    private var shows: [Setting: (Setting.Content) -> Void] = [:]
    /// The choices, kept here because GTK keeps only their widgets.
    private var choices: [Choice<String>] = []

    init(_ client: ManagerClient, _ tasks: TaskActions, over parent: Object) {
        self.client = client
        self.tasks = tasks
        window = Object(
            adw_preferences_window_get_type(),
            [
                "transient-for": .object(parent), "modal": true, "search-enabled": true,
                "title": .text(translated("Preferences")), "default-width": 560,
            ]
        ).adding(["preferences"])
    }

    func present() async throws(ManagerError) {
        build(try await client.settings())
        window.on("destroy") { _ in
            self.isClosed = true
            self.shows = [:]
        }
        // Settings may have changed elsewhere while the window was in the background.
        window.onChange(of: "is-active") {
            if self.window.flag("is-active") { Task { await self.renew() } }
        }
        isShowing = false
        window.nameParts()
        gtk_window_present(window.to())
    }

    private func build(_ settings: [(setting: Setting, content: Setting.Content)]) {
        let pages: [(title: String, icon: String, settings: [Setting])] = [
            (
                translated("Downloads"), "folder-download-symbolic",
                [
                    .downloadDirectory, .maxConcurrentDownloads, .maxConnectionsPerDownload,
                    .speedLimit, .retryFor, .keepCompleted, .useServerTime,
                ]
            ),
            (
                translated("Network"), "network-wired-symbolic",
                [.holdOnMetered, .proxy, .noProxy, .cookieFile]
            ),
            (
                translated("Desktop"), "computer-symbolic",
                [.notifications, .stayAwake, .holdOnLowBattery, .logLevel]
            ),
            (
                translated("Browsers"), "web-browser-symbolic",
                [
                    .browserHandOver, .browserLeastSize, .browserTypes, .browserLeaveTypes,
                    .browserHosts, .browserLeaveHosts, .browserPrivate,
                ]
            ),
        ]
        for page in pages {
            let object = Object(
                adw_preferences_page_get_type(),
                ["title": .text(page.title), "icon-name": .text(page.icon)]
            )
            let group = Object(adw_preferences_group_get_type())
            for setting in page.settings {
                guard let content = settings.first(where: { $0.setting == setting })?.content else {
                    continue
                }
                kept[setting] = content
                for row in rows(setting, content) {
                    adw_preferences_group_add(group.to(), row.widget)
                }
            }
            adw_preferences_page_add(object.to(), group.to())
            adw_preferences_window_add(window.to(), object.to())
        }
    }

    private func rows(_ setting: Setting, _ content: Setting.Content) -> [Object] {
        switch (setting.kind, content) {
        case (.flag, .flag(let isOn)): [flagRow(setting, isOn)]
        case (.number(let range), .number(let number)): [numberRow(setting, range, number)]
        case (.choice(let words), .text(let word)): [choiceRow(setting, words, word ?? "")]
        default: field(setting, content).rows
        }
    }

    private func flagRow(_ setting: Setting, _ isOn: Bool) -> Object {
        let row = Object(adw_action_row_get_type(), ["title": .text(setting.title.escaped)])
        let toggle = Object(
            gtk_switch_get_type(),
            ["valign": .choice(GTK_ALIGN_CENTER), "active": .flag(isOn)]
        )
        adw_action_row_add_suffix(row.to(), toggle.widget)
        adw_action_row_set_activatable_widget(row.to(), toggle.widget)
        shows[setting] = { if case .flag(let isOn) = $0 { toggle.set("active", .flag(isOn)) } }
        toggle.onChange(of: "active") { self.set(setting, .flag(toggle.flag("active"))) }
        return row
    }

    private func numberRow(
        _ setting: Setting,
        _ range: ClosedRange<UInt64>,
        _ number: UInt64
    ) -> Object {
        let row = Object(adw_action_row_get_type(), ["title": .text(setting.title.escaped)])
        let field = Object(
            gtk_spin_button_new_with_range(Double(range.lowerBound), Double(range.upperBound), 1)
        ).named(setting.title)
        field.set("valign", .choice(GTK_ALIGN_CENTER))
        field.ignoreWheel()
        field.set("value", .real(Double(number)))
        adw_action_row_add_suffix(row.to(), field.widget)
        shows[setting] = {
            if case .number(let number) = $0 { field.set("value", .real(Double(number))) }
        }
        field.on("value-changed") { _ in
            self.set(setting, .number(UInt64(field.number("value"))))
        }
        return row
    }

    private func choiceRow(_ setting: Setting, _ words: [String], _ word: String) -> Object {
        let choice = Choice(setting.title, words.map { ($0, Self.title(ofChoice: $0)) })
        choice.value = word
        choices.append(choice)
        shows[setting] = { if case .text(let word?) = $0 { choice.value = word } }
        choice.chosen = { self.set(setting, .text($0)) }
        return choice.row
    }

    /// Makes a text field, which is checked at every letter and sent by its button or Enter.
    private func field(_ setting: Setting, _ content: Setting.Content) -> Field {
        let title = setting.title
        let field: Field =
            if case .folder = setting.kind { .folder(title, over: window) } else {
                Field(title, for: setting)
            }
        field.text = SettingName.text(of: content, setting)
        field.row.set("show-apply-button", true)
        let apply = { [unowned field] in
            guard let content = SettingName.content(field.text, of: setting) else { return }
            guard self.kept[setting] != content else { return }
            self.set(setting, content)
        }
        shows[setting] = { [unowned field] in field.text = SettingName.text(of: $0, setting) }
        field.chosen = apply
        field.row.on("apply") { _ in apply() }
        // Closing the window sends the typed text as well. This handler keeps the field alive.
        window.answer("close-request") { _ in
            withExtendedLifetime(field) { apply() }
            return false
        }
        return field
    }

    /// Returns the title of one of a setting's words.
    private static func title(ofChoice word: String) -> String {
        switch word {
        case "error": translated("Errors")
        case "warning": translated("Errors and Warnings")
        case "notice": translated("What Matters")
        case "info": translated("What Happens")
        case "debug": translated("Everything")
        default: word
        }
    }

    private func set(_ setting: Setting, _ content: Setting.Content) {
        guard !isShowing else { return }
        kept[setting] = content
        changes += 1
        pending += 1
        Task {
            do throws(ManagerError) {
                try await client.set(setting, to: content)
            } catch { tell(error.text) }
            pending -= 1
            await renew()
        }
    }

    /// Shows the values in force, for example after a refusal; text that is being typed stays.
    private func renew() async {
        let before = changes
        // The answer would be outdated while a change is under way, and is if one was made meanwhile.
        guard pending == 0, let settings = try? await client.settings(), !isClosed,
            changes == before
        else { return }
        isShowing = true
        defer { isShowing = false }
        for (setting, content) in settings where kept[setting] != content {
            kept[setting] = content
            shows[setting]?(content)
        }
    }

    private func tell(_ text: String) {
        guard !isClosed else { return tasks.say(text) }
        let toast = Object(adw_toast_new(""))
        // The toast's own title is one line, which is cut.
        adw_toast_set_custom_title(toast.opaque, Object.label(text, ["wrap": true]).widget)
        adw_preferences_window_add_toast(window.to(), toast.opaque)
    }
}

extension Setting {
    /// The title of the setting's row.
    fileprivate var title: String {
        switch self {
        case .maxConcurrentDownloads: translated("Downloads at Once")
        case .maxConnectionsPerDownload: translated("Connections per Download")
        case .speedLimit: translated("Speed Limit of All Downloads")
        case .downloadDirectory: translated("Folder")
        case .holdOnMetered: translated("Wait on Metered Networks")
        case .holdOnLowBattery: translated("Wait When the Battery Is Low")
        case .keepCompleted: translated("Keep Completed Downloads in the List For")
        case .proxy: translated("Proxy")
        case .noProxy: translated("Hosts Without Proxy")
        case .cookieFile: translated("Cookie File")
        case .notifications: translated("Notifications")
        case .stayAwake: translated("Keep the Computer Awake While Downloading")
        case .retryFor: translated("Try Again For")
        case .whenDoneCommand, .allowHiddenFolders: rawValue
        case .useServerTime: translated("Give Files the Server's Time")
        case .logLevel: translated("Log Level")
        case .browserHandOver: translated("Take Downloads Over From Browsers")
        case .browserLeastSize: translated("Least Size")
        case .browserTypes: translated("Types to Take, All if Empty")
        case .browserLeaveTypes: translated("Types to Leave to the Browser")
        case .browserHosts: translated("Hosts to Take From, All if Empty")
        case .browserLeaveHosts: translated("Hosts to Leave to the Browser")
        case .browserPrivate: translated("Take Downloads of Private Windows Over")
        }
    }
}
