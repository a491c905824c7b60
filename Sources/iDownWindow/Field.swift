// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownSettings
import iDownView

/// A text field; if its text is not valid, a line below it says why.
final class Field {
    /// The rows to add to a group: the field, and the line below it.
    var rows: [Object] { [row, note] }
    let row: Object
    private let note: Object
    private let words = Object.label(classes: ["caption", "mistake"], ["wrap": true])
    /// The object that holds the text and signals its changes: the row, or the buffer of a text
    /// view.
    private let source: Object
    /// The objects whose error screen readers speak: in a row the text has the focus, and the row
    /// has the name.
    private let spoken: [Object]
    private let judge: (String) -> String?

    /// Called when the text has changed.
    var changed: () -> Void = {}
    /// Called when the text was chosen in a dialog instead of being typed.
    var chosen: () -> Void = {}
    /// What is wrong with the text; nil if it is valid.
    private(set) var mistake: String?
    /// The value in use, which is valid although nobody could type it: a number may have made a
    /// name longer.
    private var current: String?
    /// Whether the widgets are destroyed; the folder dialog may answer later.
    private var isGone = false

    /// Makes an empty field.
    ///
    /// - Parameters:
    ///   - title: The title above the text.
    ///   - hasLines: Whether the text may have several lines.
    ///   - judge: Returns what is wrong with a text; nil if it is valid.
    init(_ title: String, hasLines: Bool = false, judge: @escaping (String) -> String?) {
        self.judge = judge
        if hasLines {
            let view = Object(
                gtk_text_view_get_type(),
                ["wrap-mode": .choice(GTK_WRAP_WORD), "accepts-tab": false]
            ).adding(["lines"]).named(title)
            row = .contentRow(title, [view])
            source = Object(gtk_text_view_get_buffer(view.to()))
            spoken = [view]
        } else {
            row = Object(
                adw_entry_row_get_type(),
                ["title": .text(title.escaped), "activates-default": true]
            )
            source = row
            spoken = [row, Object(gtk_editable_get_delegate(row.opaque))]
        }
        note = .contentRow(nil, [words])
        note.set("visible", false)
        source.on("changed") { [weak self] _ in
            self?.look()
            self?.changed()
        }
        row.on("destroy") { [weak self] _ in self?.isGone = true }
    }

    /// The text in the field.
    var text: String {
        get { source.text("text") }
        set { source.set("text", .text(newValue)) }
    }

    /// Shows the value in use, which is valid.
    func show(_ value: String) {
        current = value
        text = value
    }

    /// Whether the user can type; a disabled field is always valid.
    var isEnabled: Bool {
        get { row.flag("sensitive") }
        set {
            row.set("sensitive", .flag(newValue))
            look()
        }
    }

    /// Whether an empty text is a mistake.
    var isNeeded = false {
        didSet { look() }
    }

    private func look() {
        let isMissing = isNeeded && text.isEmpty
        let isJudged = isEnabled && text != current
        let mistake =
            !isJudged ? nil : isMissing ? translated("This cannot be empty.") : judge(text)
        guard mistake != self.mistake else { return }
        self.mistake = mistake
        row.setClass("error", mistake != nil)
        words.set("label", .text(mistake ?? ""))
        note.named(mistake ?? "")
        note.set("visible", .flag(mistake != nil))
        for object in spoken {
            object.setInvalid(mistake != nil)
            object.described(mistake ?? "")
        }
    }
}

extension Field {
    /// Returns the message for a text that does not have the expected form.
    static func mistake(expected form: String) -> String {
        translated("This cannot be used. Expected: {form}.", ["form": form])
    }

    /// A field for the value of a setting.
    convenience init(_ title: String, for setting: Setting) {
        self.init(title) { text in
            let isRight = SettingName.content(text, of: setting) != nil
            return isRight ? nil : Self.mistake(expected: SettingName.range(of: setting))
        }
    }

    /// A field for a folder, with a button that opens the list of folders.
    static func folder(_ title: String, over window: Object) -> Field {
        let field = Field(title) { text in
            guard SettingName.content(text, of: .downloadDirectory) == nil else { return nil }
            let form = translated("the whole path of a folder, such as /home/me/Files")
            return mistake(expected: form)
        }
        let name = translated("Choose a Folder")
        let button = Object.iconButton("folder-open-symbolic", name).adding(["flat"])
        button.set("valign", .choice(GTK_ALIGN_CENTER))
        button.on("clicked") { [weak field] _ in
            guard let field else { return }
            FileChooser.choose(
                name,
                GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
                over: window,
                from: field.text
            ) { paths in
                guard !field.isGone else { return }
                field.text = paths[0]
                field.chosen()
            }
        }
        adw_entry_row_add_suffix(field.row.to(), button.widget)
        return field
    }
}

/// The desktop's file dialog: GtkFileChooserNative.
enum FileChooser {
    /// Asks for files or folders.
    ///
    /// - Parameters:
    ///   - title: The title of the dialog.
    ///   - action: Whether to choose files or a folder; several files may be chosen.
    ///   - window: The window below the dialog.
    ///   - folder: The folder to show first; empty for the last one used.
    ///   - chosen: Called with the paths, unless the user has cancelled.
    static func choose(
        _ title: String,
        _ action: GtkFileChooserAction,
        over window: Object,
        from folder: String = "",
        _ chosen: @escaping ([String]) -> Void
    ) {
        let dialog = Object(gtk_file_chooser_native_new(title, window.to(), action, nil, nil))
        dialog.set("modal", true)
        dialog.set("select-multiple", .flag(action == GTK_FILE_CHOOSER_ACTION_OPEN))
        if !folder.isEmpty {
            let file = Object(g_file_new_for_path(folder))
            gtk_file_chooser_set_current_folder(dialog.opaque, file.opaque, nil)
            file.drop()
        }
        dialog.on("response") { arguments in
            defer { dialog.drop() }
            guard arguments.number(1) == Int(GTK_RESPONSE_ACCEPT.rawValue) else { return }
            let files = Object(gtk_file_chooser_get_files(dialog.opaque))
            defer { files.drop() }
            var paths: [String] = []
            for place in 0..<g_list_model_get_n_items(files.opaque) {
                let file = Object(g_list_model_get_item(files.opaque, place))
                defer { file.drop() }
                guard let path = g_file_get_path(file.opaque) else { continue }
                paths.append(String(cString: path))
                g_free(path)
            }
            if !paths.isEmpty { chosen(paths) }
        }
        gtk_native_dialog_show(dialog.to())
    }
}
