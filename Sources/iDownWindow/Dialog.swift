// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownView

/// A window over the main one, with one button that does it and one that does not.
final class Dialog {
    let object: Object
    private let button: Object
    private let message = Object.label(classes: ["mistake"], ["wrap": true, "visible": false])

    /// Whether the window is gone, and its widgets with it: an answer may come later.
    private(set) var isClosed = false

    /// The button was pressed.
    var accepted: () -> Void = {}
    /// Says what went wrong once the dialog is gone.
    var complainAfterwards: (String) -> Void = { _ in }

    /// The characters of a button for which there is room in the narrowest window.
    private static let mostCharacters = 11

    init(
        over parent: Object,
        title: String,
        button text: String,
        cancel: String = translated("Cancel"),
        _ children: [Object]
    ) {
        object = Object(
            adw_window_get_type(),
            [
                "transient-for": .object(parent), "modal": true, "title": .text(title),
                "default-width": 520, "default-height": 620, "destroy-with-parent": true,
            ]
        )
        let heading = Object.line(characters: 1, classes: ["title"])
        heading.set("label", .text(title))
        heading.set("max-width-chars", -1)
        let header = Object(
            adw_header_bar_get_type(),
            ["show-end-title-buttons": false, "title-widget": .object(heading)]
        )
        let cancel = Object.textButton(cancel, action: "window.close")
        button = .textButton(text, classes: ["suggested-action"])
        // In a narrow window the title gives way, then words that are longer than these in some language.
        for button in [cancel, button] {
            let label = Object(gtk_button_get_child(button.to()))
            label.set("ellipsize", 3)
            label.set("width-chars", .number(min(label.text("label").count, Self.mostCharacters)))
        }
        adw_header_bar_pack_start(header.opaque, cancel.widget)
        adw_header_bar_pack_end(header.opaque, button.widget)
        let content = Object.box(vertical: true, spacing: 12, margin: 12, [message] + children)
        let clamp = Object(adw_clamp_get_type(), ["child": .object(content)])
        adw_window_set_content(
            object.to(),
            Object.box(vertical: true, spacing: 0, [header, .scrolled(clamp)]).widget
        )
        // The dialog lives as long as its window: the handlers hold it.
        button.on("clicked") { _ in self.accepted() }
        object.on("destroy") { _ in
            self.isClosed = true
            // It holds its owner, which holds this.
            self.accepted = {}
        }
        object.addKeys(GTK_PHASE_BUBBLE, [("Escape", "window.close")])
    }

    func allow(_ isAllowed: Bool) {
        if !isClosed { button.set("sensitive", .flag(isAllowed)) }
    }

    /// Says what is wrong; nothing for an empty text.
    func complain(_ text: String) {
        guard !isClosed else { return }
        if !text.isEmpty, text != message.text("label") {
            Announcement.make(text, from: object)
        }
        message.set("label", .text(text))
        message.set("visible", .flag(!text.isEmpty))
    }

    /// Says why what was accepted was not done, and lets the user try again.
    func refuse(_ text: String) {
        guard !isClosed else { return complainAfterwards(text) }
        complain(text)
        allow(true)
    }

    func present() {
        object.nameParts()
        gtk_window_present(object.to())
    }

    func close() {
        if !isClosed { gtk_window_close(object.to()) }
    }
}
