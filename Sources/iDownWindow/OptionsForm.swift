// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownSettings
import iDownState
import iDownView

/// The form for a download's options; rarely used fields are in a section that is closed at first.
///
/// It marks an invalid value while the user types; the service would refuse the same values.
final class OptionsForm {
    let box: Object
    private let folder: Field
    private let options: [Option]
    private let whenDone = Choice(
        translated("When It Is Done"),
        [
            (AddOptions.WhenDone?.none, translated("Nothing")),
            (.open, translated("Open the file")), (.reveal, translated("Show it in its folder")),
        ]
    )
    private let onExisting = Choice(
        translated("If the Name Is Taken"),
        [
            (AddOptions.OnExisting.rename, translated("Take another name")),
            (.fail, translated("Fail")),
        ]
    )
    /// The switches that remove options whose values the service does not reveal; shown only for a
    /// task.
    private let removals: [Removal] = [
        Removal(translated("Remove Its Headers"), .headers),
        Removal(translated("Remove Its Cookies"), .cookies),
    ]

    /// Called when a value has changed; ``isValid`` tells whether all values are valid.
    var changed: () -> Void = {}

    /// Makes a form.
    ///
    /// - Parameters:
    ///   - window: The window that the form is in.
    ///   - first: A field to put before the others; nil for none.
    init(over window: Object, _ first: Field? = nil) {
        folder = .folder(translated("Folder"), over: window)
        options = Option.all
        let main = Object(adw_preferences_group_get_type())
        let usual = options.filter { !$0.isRare }.flatMap(\.field.rows)
        for row in (first?.rows ?? []) + folder.rows + usual {
            adw_preferences_group_add(main.to(), row.widget)
        }
        let more = Object(adw_preferences_group_get_type(), ["margin-top": 6])
        let rare = options.filter(\.isRare).flatMap(\.field.rows)
        for row in [whenDone.row, onExisting.row] + rare + removals.map(\.row) {
            adw_preferences_group_add(more.to(), row.widget)
        }
        // Named here, because the dialog cannot reach the parts of a closed section.
        more.nameParts()
        // AdwExpanderRow is not used, because assistive technology cannot open it (GTK 4.8).
        let expander = Object(
            gtk_expander_get_type(),
            ["label": .text(translated("More Options")), "child": .object(more)]
        ).named(translated("More Options"))
        box = .box(vertical: true, spacing: 12, [main, expander])
        for field in fields { field.changed = { [weak self] in self?.changed() } }
    }

    private var fields: [Field] { [folder] + options.map(\.field) }

    /// Fills the form with the options of a task; ``edits(of:)`` then finds what the user changed.
    func show(_ task: TaskProperties) {
        for option in options { option.field.show(option.text(task)) }
        whenDone.value = AddOptions.WhenDone(rawValue: task.whenDone)
        onExisting.value = AddOptions.OnExisting(rawValue: task.onExisting) ?? .rename
        folder.show(task.directory)
        let names = task.headerNames.joined(separator: ", ")
        let text = translated(
            "{names}; headers that are typed replace all of these",
            ["names": names]
        )
        removals[0].show(text, !task.headerNames.isEmpty)
        removals[1].show("", true)
        for option in options where option.clearable == nil && option.whenEmpty == nil {
            option.field.isNeeded = !option.text(task).isEmpty
        }
        limit(to: task.state)
    }

    /// Disables the options that a task in this state cannot change.
    func limit(to state: TaskProperties.State) {
        guard state == .completed else { return }
        for option in options where !option.isForFile { option.field.isEnabled = false }
        for row in [onExisting.row] + removals.map(\.row) { row.set("sensitive", false) }
    }

    /// The folder; empty while it is not known.
    var directory: String {
        get { folder.text }
        set { folder.text = newValue }
    }

    /// Enables or disables the options that describe a single file.
    func allowNames(_ isOne: Bool) {
        for option in options where option.isOfOneFile { option.field.isEnabled = isOne }
    }

    // MARK: Values

    /// Whether every value is valid.
    var isValid: Bool { fields.allSatisfy { $0.mistake == nil } }

    /// The options as typed; nil for each empty field.
    var values: AddOptions {
        var values = AddOptions()
        values.directory = directory.isEmpty ? nil : directory
        for option in options where option.field.isEnabled && !option.field.text.isEmpty {
            _ = option.read(option.field.text, &values)
        }
        values.whenDone = whenDone.value
        values.onExisting = onExisting.value == .rename ? nil : onExisting.value
        return values
    }

    /// Returns the changes to the task that ``show(_:)`` was called with.
    func edits(of task: TaskProperties) -> EditOptions {
        var edits = EditOptions()
        for removal in removals where removal.isOn && removal.row.flag("sensitive") {
            edits.cleared.insert(removal.clearable)
        }
        if !directory.isEmpty, directory != task.directory { edits.values.directory = directory }
        for option in options
        where option.field.isEnabled && option.field.text != option.text(task) {
            let text = option.field.text
            if let clearable = option.clearable, text.isEmpty {
                edits.cleared.insert(clearable)
            } else if let text = text.isEmpty ? option.whenEmpty : text {
                _ = option.read(text, &edits.values)
            }
        }
        if (whenDone.value?.rawValue ?? "") != task.whenDone {
            edits.values.whenDone = whenDone.value
            if whenDone.value == nil { edits.cleared.insert(.whenDone) }
        }
        if onExisting.row.flag("sensitive"), onExisting.value.rawValue != task.onExisting {
            edits.values.onExisting = onExisting.value
        }
        if !edits.values.headers.isEmpty { edits.cleared.remove(.headers) }
        if edits.values.cookies != nil { edits.cleared.remove(.cookies) }
        return edits
    }
}

/// An option with a text field.
private struct Option {
    private let name: String
    let field: Field
    /// Reads a text into the options; returns false if it does not have the right form.
    let read: (String, inout AddOptions) -> Bool
    /// Returns the option of a task as text; empty if the task does not have it.
    let text: (TaskProperties) -> String
    /// The text that an edit reads in place of an empty one; nil if an empty field changes nothing.
    var whenEmpty: String?
    var isRare = true

    /// What to clear to remove the option; nil for an option that every task has.
    var clearable: EditOptions.Clearable? { EditOptions.Clearable(rawValue: name) }
    /// Whether it describes a single file, so that it is allowed for one download only.
    var isOfOneFile: Bool { AddOptions.namesOfOneFile.contains(name) }
    /// Whether it can be changed after the file is complete.
    var isForFile: Bool { EditOptions.namesForCompleted.contains(name) }

    /// Makes an option.
    ///
    /// - Parameters:
    ///   - name: Its name in the contract.
    ///   - title: The title of its field.
    ///   - form: The expected form, in words.
    ///   - hasLines: Whether the text may have several lines.
    ///   - text: Returns the option of a task as text.
    ///   - read: Reads a text into options; returns false if it is not valid.
    init(
        _ name: String,
        _ title: String,
        expected form: String,
        hasLines: Bool = false,
        text: @escaping (TaskProperties) -> String = { _ in "" },
        read: @escaping (String, inout AddOptions) -> Bool
    ) {
        self.name = name
        field = Field(title, hasLines: hasLines) { text in
            var options = AddOptions()
            // The service decodes with the same rules.
            let isRight = read(text, &options) && (try? AddOptions(options.dictionary)) != nil
            return isRight || text.isEmpty ? nil : Field.mistake(expected: form)
        }
        self.read = read
        self.text = text
    }

    /// Returns a copy with changed properties.
    func with(_ change: (inout Option) -> Void) -> Option {
        var option = self
        change(&option)
        return option
    }

    /// All options: first those of the file, then those of the transfer, then those of the
    /// requests.
    static var all: [Option] { file + transfer + requests }

    private static var file: [Option] {
        [
            Option(
                "filename",
                translated("File Name"),
                expected: translated(
                    "one name without slashes, tabs and a dot before it, with at most 244 bytes"
                ),
                text: \.fileName
            ) { text, options in
                options.filename = text
                return (try? FileName(option: text)) != nil
            }.with { $0.isRare = false },
            Option(
                "checksum",
                translated("Checksum (sha-256=…)"),
                expected: translated(
                    "sha-256, sha-512, sha-1 or md5, then = and all hexadecimal digits"
                ),
                text: \.checksum
            ) { text, options in
                options.checksum = text
                return (try? Checksum(parsing: text)) != nil
            }.with { $0.isRare = false },
            Option(
                "expected-size",
                translated("Expected Size"),
                expected: SettingName.range(of: .browserLeastSize),
                text: { $0.expectedSize == 0 ? "" : Quantity.text(ofBytes: $0.expectedSize) }
            ) { text, options in
                options.expectedSize = Quantity.bytes(text)
                return options.expectedSize != nil
            },
            Option(
                "mirrors",
                translated("Mirrors (links with blanks between them)"),
                expected: translated("links with blanks between them, 100 at most"),
                text: { $0.mirrors.joined(separator: " ") }
            ) { text, options in
                let links = LinkText(text)
                options.mirrors = links.links
                return links.mistakes.isEmpty && links.metalinks.isEmpty
            },
        ]
    }

    private static var transfer: [Option] {
        [
            Option(
                "speed-limit",
                translated("Speed Limit (such as 500k or 2M)"),
                expected: SettingName.range(of: .speedLimit),
                text: { $0.speedLimit == 0 ? "" : Quantity.text(ofRate: $0.speedLimit) }
            ) { text, options in
                options.speedLimit = Quantity.rate(text)
                return options.speedLimit != nil
            }.with { ($0.isRare, $0.whenEmpty) = (false, "off") },
            Option(
                "connections",
                translated("Connections (1 to 16)"),
                expected: SettingName.range(of: .maxConnectionsPerDownload),
                text: { $0.maxConnections == 0 ? "" : "\($0.maxConnections)" }
            ) { text, options in
                options.connections = UInt32(text)
                return options.connections != nil
            },
            Option(
                "priority",
                translated("Priority (higher starts first)"),
                expected: translated("a whole number such as 5 or -5"),
                text: { $0.priority == 0 ? "" : "\($0.priority)" }
            ) { text, options in
                options.priority = Int32(text)
                return options.priority != nil
            }.with { $0.whenEmpty = "0" },
            Option(
                "retry-for",
                translated("Try Again For"),
                expected: SettingName.range(of: .retryFor),
                text: { Quantity.text(ofSeconds: $0.retryFor) }
            ) { text, options in
                options.retryFor = Quantity.seconds(text)
                return options.retryFor != nil
            },
        ]
    }

    private static var requests: [Option] {
        let form = translated("one line of at most 8 KiB")
        let longForm = translated("one line of at most 32 KiB")
        return [
            Option("referrer", translated("Page With the Link"), expected: form, text: \.referrer) {
                $1.referrer = $0
                return true
            },
            Option("user-agent", translated("User-Agent Header"), expected: form, text: \.userAgent)
            {
                $1.userAgent = $0
                return true
            },
            Option("cookies", translated("Cookies (name=value; name=value)"), expected: longForm) {
                $1.cookies = $0
                return true
            },
            Option(
                "headers",
                translated("Headers (Name: value), one in a line"),
                expected: translated(
                    "lines such as Accept-Language: en, each name once and none that idown sends itself"
                ),
                hasLines: true
            ) { text, options in
                let lines = text.split(whereSeparator: \.isNewline)
                options.headers = lines.compactMap { AddOptions.Header(line: String($0)) }
                let names = Set(options.headers.map { $0.name.lowercased() })
                return names.count == lines.count
            },
        ]
    }
}

/// A switch that removes an option whose value the service does not reveal.
private struct Removal {
    let row: Object
    let clearable: EditOptions.Clearable
    private let toggle = Object(gtk_switch_get_type(), ["valign": .choice(GTK_ALIGN_CENTER)])

    init(_ title: String, _ clearable: EditOptions.Clearable) {
        self.clearable = clearable
        row = Object(
            adw_action_row_get_type(),
            ["title": .text(title.escaped), "visible": false]
        )
        adw_action_row_add_suffix(row.to(), toggle.widget)
        adw_action_row_set_activatable_widget(row.to(), toggle.widget)
    }

    var isOn: Bool { toggle.flag("active") }

    func show(_ text: String, _ isVisible: Bool) {
        row.set("subtitle", .text(text.escaped))
        row.set("visible", .flag(isVisible))
    }
}
