// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// The fields of a download's options; a wrong value is marked while it is typed.
final class OptionsForm {
    let box: Object
    private let folder = Object(adw_action_row_get_type(), ["title": .text(translated("Folder"))])
    private let name = OptionsForm.entry(translated("File Name"))
    private let checksum = OptionsForm.entry(translated("Checksum (sha-256=…)"))
    private let limit = OptionsForm.entry(translated("Speed Limit (such as 500k or 2M)"))
    private let connections = OptionsForm.entry(translated("Connections (1 to 16)"))
    private let priority = OptionsForm.entry(translated("Priority (higher starts first)"))
    private let referrer = OptionsForm.entry(translated("Page With the Link"))
    private let userAgent = OptionsForm.entry(translated("User-Agent Header"))
    private let mirrors = OptionsForm.entry(translated("Mirrors (links with blanks between them)"))
    private let window: Object
    private var start = AddOptions()

    /// A value has changed; whether all are valid stands in ``isValid``.
    var changed: () -> Void = {}
    private(set) var directory: String?

    init(over window: Object, _ first: [Object] = []) {
        self.window = window
        let main = Object(adw_preferences_group_get_type())
        for row in first + [name, folder, limit, checksum] {
            adw_preferences_group_add(main.to(), row.widget)
        }
        let more = Object(
            adw_expander_row_get_type(),
            ["title": .text(translated("More Options"))]
        ).named(translated("More Options"))
        for row in [connections, priority, referrer, userAgent, mirrors] {
            adw_expander_row_add_row(more.to(), row.widget)
        }
        let other = Object(adw_preferences_group_get_type())
        adw_preferences_group_add(other.to(), more.widget)
        box = .box(vertical: true, spacing: 12, [main, other])
        let choose = Object.iconButton("folder-open-symbolic", translated("Choose a Folder"))
        choose.set("valign", 3)
        choose.adding(["flat"]).on("clicked") { [weak self] _ in self?.chooseFolder() }
        adw_action_row_add_suffix(folder.to(), choose.widget)
        for row in rows {
            row.on("changed") { [weak self] _ in
                self?.mark()
                self?.changed()
            }
        }
    }

    private var rows: [Object] {
        [name, checksum, limit, connections, priority, referrer, userAgent, mirrors]
    }

    static func entry(_ title: String) -> Object {
        Object(adw_entry_row_get_type(), ["title": .text(title.escaped)])
    }

    /// Shows the options of a task, which ``edits`` then compares with.
    func show(_ task: TaskProperties) {
        name.set("text", .text(task.fileName))
        checksum.set("text", .text(task.checksum))
        limit.set("text", .text(task.speedLimit == 0 ? "" : Quantity.text(ofRate: task.speedLimit)))
        connections.set("text", .text(task.maxConnections == 0 ? "" : "\(task.maxConnections)"))
        priority.set("text", .text(task.priority == 0 ? "" : "\(task.priority)"))
        referrer.set("text", .text(task.referrer))
        userAgent.set("text", .text(task.userAgent))
        mirrors.set("text", .text(task.mirrors.joined(separator: " ")))
        show(directory: task.directory)
        start = options
    }

    /// Shows the folder.
    func show(directory: String) {
        self.directory = directory
        folder.set("subtitle", .text(directory.escaped))
    }

    /// Whether the name and the checksum can be given: they are one file's.
    func allowNames(_ isOne: Bool) {
        for row in [name, checksum, mirrors] { row.set("sensitive", .flag(isOne)) }
    }

    // MARK: Values

    /// Whether every value can be sent.
    var isValid: Bool {
        isLimitValid && isWhole(connections, 1...16) && isWhole(priority, -1_000_000...1_000_000)
            && isChecksumValid && !name.text("text").contains("/")
            && !name.text("text").hasPrefix(".")
    }

    private var isLimitValid: Bool {
        let text = limit.text("text")
        return text.isEmpty || Quantity.rate(text) != nil
    }

    private var isChecksumValid: Bool {
        let text = checksum.text("text")
        guard !text.isEmpty else { return true }
        let parts = text.split(separator: "=", maxSplits: 1)
        let lengths = ["md5": 32, "sha-1": 40, "sha-256": 64, "sha-512": 128]
        guard parts.count == 2, let length = lengths[String(parts[0])] else { return false }
        return parts[1].utf8.count == length && parts[1].allSatisfy(\.isHexDigit)
    }

    private func isWhole(_ row: Object, _ range: ClosedRange<Int>) -> Bool {
        let text = row.text("text")
        return text.isEmpty || Int(text).map(range.contains) == true
    }

    private func mark() {
        name.setClass(
            "error",
            name.text("text").contains("/") || name.text("text").hasPrefix(".")
        )
        limit.setClass("error", !isLimitValid)
        checksum.setClass("error", !isChecksumValid)
        connections.setClass("error", !isWhole(connections, 1...16))
        priority.setClass("error", !isWhole(priority, -1_000_000...1_000_000))
    }

    /// The options as they were typed; what is empty is nil.
    var options: AddOptions {
        func text(_ row: Object) -> String? {
            let text = row.text("text")
            return text.isEmpty ? nil : text
        }
        var options = AddOptions()
        options.directory = directory
        options.filename = text(name)
        options.checksum = text(checksum)
        options.speedLimit = text(limit).flatMap(Quantity.rate)
        options.connections = text(connections).flatMap { UInt32($0) }
        options.priority = text(priority).flatMap { Int32($0) }
        options.referrer = text(referrer)
        options.userAgent = text(userAgent)
        options.mirrors = mirrors.text("text").split(separator: " ").map(String.init)
        return options
    }

    /// What is different from the task that was shown.
    var edits: EditOptions {
        var edits = EditOptions()
        let now = options
        func change<Content: Equatable>(
            _ path: WritableKeyPath<AddOptions, Content?>,
            _ clearable: EditOptions.Clearable?
        ) {
            guard now[keyPath: path] != start[keyPath: path] else { return }
            edits.values[keyPath: path] = now[keyPath: path]
            if now[keyPath: path] == nil, let clearable { edits.cleared.insert(clearable) }
        }
        change(\.directory, nil)
        change(\.filename, nil)
        change(\.checksum, .checksum)
        change(\.connections, .connections)
        change(\.referrer, .referrer)
        change(\.userAgent, .userAgent)
        change(\.speedLimit, nil)
        change(\.priority, nil)
        // Zero is what an empty field means.
        if now.speedLimit == nil, start.speedLimit != nil { edits.values.speedLimit = 0 }
        if now.priority == nil, start.priority != nil { edits.values.priority = 0 }
        if now.mirrors != start.mirrors {
            edits.values.mirrors = now.mirrors
            if now.mirrors.isEmpty { edits.cleared.insert(.mirrors) }
        }
        return edits
    }

    private func chooseFolder() {
        let dialog = Object(
            gtk_file_chooser_native_new(
                translated("Choose a Folder"),
                window.to(),
                GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
                nil,
                nil
            )
        )
        dialog.set("modal", true)
        if let directory {
            let file = Object(g_file_new_for_path(directory))
            gtk_file_chooser_set_current_folder(dialog.opaque, file.opaque, nil)
            file.drop()
        }
        dialog.on("response") { [weak self] arguments in
            defer { dialog.drop() }
            guard arguments.number(1) == Int(GTK_RESPONSE_ACCEPT.rawValue),
                let file = gtk_file_chooser_get_file(dialog.opaque),
                let path = g_file_get_path(file)
            else { return }
            self?.show(directory: String(cString: path))
            g_free(path)
            self?.changed()
        }
        gtk_native_dialog_show(dialog.to())
    }
}
