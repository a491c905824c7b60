// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownView

/// A modal window over the main one, with a button that accepts and one that cancels.
final class Dialog {
    let object: Object
    private let button: Object
    private let message = Object.label(classes: ["mistake"], ["wrap": true, "visible": false])

    /// Whether the window and its widgets are destroyed; an answer of the service may arrive later.
    private(set) var isClosed = false

    /// Carries out what the user accepts; the button cannot be pressed again until this returns.
    var accepted: () async -> Void = {}
    private var isAtWork = false
    private var isAllowed = true
    /// Shows an error that arrives after the dialog was closed.
    var complainAfterwards: (String) -> Void = { _ in }

    /// The most characters of a button's text that fit into the narrowest window.
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
        // In a narrow window the title is cut first, then button texts that are longer than this,
        // as they may be in other languages.
        for button in [cancel, button] {
            let label = Object(gtk_button_get_child(button.to()))
            label.set("ellipsize", .choice(PANGO_ELLIPSIZE_END))
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
        // Enter in a text field presses the button.
        gtk_window_set_default_widget(object.to(), button.widget)
        // The dialog lives as long as its window: the handlers hold it.
        button.on("clicked") { _ in
            self.isAtWork = true
            self.showButton()
            Task {
                await self.accepted()
                self.isAtWork = false
                self.showButton()
            }
        }
        object.on("destroy") { _ in
            self.isClosed = true
            // Breaks the cycle: the closure holds the owner, which holds this dialog.
            self.accepted = {}
        }
        object.addKeys(GTK_PHASE_BUBBLE, [("Escape", "window.close")])
    }

    func allow(_ isAllowed: Bool) {
        self.isAllowed = isAllowed
        showButton()
    }

    private func showButton() {
        if !isClosed { button.set("sensitive", .flag(isAllowed && !isAtWork)) }
    }

    /// Shows what is wrong; an empty text hides the message.
    func complain(_ text: String) {
        guard !isClosed else { return }
        if !text.isEmpty, text != message.text("label") {
            Announcement.make(text, from: object)
        }
        message.set("label", .text(text))
        message.set("visible", .flag(!text.isEmpty))
    }

    /// Shows why the action failed.
    func refuse(_ text: String) {
        if isClosed { complainAfterwards(text) } else { complain(text) }
    }

    func present() {
        object.nameParts()
        gtk_window_present(object.to())
    }

    func close() {
        if !isClosed { gtk_window_close(object.to()) }
    }
}
