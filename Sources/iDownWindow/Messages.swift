// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownView

/// A message over the window's lower edge that disappears by itself; it may have a button.
///
/// AdwToast is not used: libadwaita 1.2 crashes when a toast is dismissed while it slides in.
final class Messages {
    /// The overlay that shows the message; its child is the content of the window.
    let overlay = Object(gtk_overlay_get_type())
    private let revealer = Object(
        gtk_revealer_get_type(),
        ["halign": .choice(GTK_ALIGN_CENTER), "valign": .choice(GTK_ALIGN_END)]
    )
    private let label = Object.label(
        "",
        // On one line while there is room.
        [
            "wrap": true, "max-width-chars": 50,
            "natural-wrap-mode": .choice(GTK_NATURAL_WRAP_NONE), "hexpand": true,
        ]
    )
    private let button = Object.textButton("", classes: ["flat"])
    private let line = Object(
        gtk_box_get_type(),
        ["spacing": 6, "accessible-role": .choice(GTK_ACCESSIBLE_ROLE_ALERT)]
    ).adding(["osd", "message"])
    private var shown: Message?
    /// The messages that wait until the shown message, which has a button, is over.
    private var next: [Message] = []
    private var timer: Task<Void, Never>?

    /// The most messages that wait; if there are more, the oldest is dropped.
    private static let mostWaiting = 3

    private struct Message {
        let text: String
        let button: String?
        let isUrgent: Bool
        let ended: (_ isPressed: Bool) -> Void
    }

    init() {
        let close = Object.iconButton("window-close-symbolic", translated("Close"))
        close.adding(["flat", "circular"]).on("clicked") { [weak self] _ in self?.end() }
        button.on("clicked") { [weak self] _ in self?.end(isPressed: true) }
        for part in [label, button, close] { gtk_box_append(line.to(), part.widget) }
        line.setMargins(12)
        revealer.set("child", .object(line))
        revealer.set("transition-type", .choice(GTK_REVEALER_TRANSITION_TYPE_SLIDE_UP))
        revealer.set("visible", false)
        // Hidden after the slide, so that the invisible message takes no clicks.
        revealer.onChange(of: "child-revealed") { [weak self] in
            guard let self, self.shown == nil else { return }
            self.revealer.set("visible", false)
        }
        gtk_overlay_add_overlay(overlay.opaque, revealer.widget)
    }

    /// Shows a message in place of the current one, or waits until a current one with a button is
    /// over.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - button: The button's text; nil for none.
    ///   - isUrgent: Whether the message is shown now even if the current one has a button.
    ///   - ended: Called once, with whether the button was pressed.
    func show(
        _ text: String,
        button: String? = nil,
        isUrgent: Bool = false,
        ended: @escaping (_ isPressed: Bool) -> Void = { _ in }
    ) {
        let message = Message(text: text, button: button, isUrgent: isUrgent, ended: ended)
        guard shown?.button == nil || isUrgent else {
            next = (next + [message]).suffix(Self.mostWaiting)
            return
        }
        let waiting = next
        next = []
        end()
        next = waiting
        put(message)
    }

    private func put(_ message: Message) {
        shown = message
        label.set("label", .text(message.text))
        line.named(message.text)
        Announcement.make(message.text, from: overlay)
        button.set("label", .text(message.button ?? ""))
        button.set("visible", .flag(message.button != nil))
        revealer.set("visible", true)
        gtk_revealer_set_reveal_child(revealer.opaque, 1)
        // Longer with a button, because some users need time to reach it.
        let seconds = message.button == nil ? 5 : 8
        timer = Task { [weak self] in
            try? await Task.sleep(for: .seconds(seconds))
            while let self, !Task.isCancelled, self.isInUse {
                try? await Task.sleep(for: .seconds(1))
            }
            if !Task.isCancelled { self?.end() }
        }
    }

    /// Drops all messages without calling `ended`, before the window is destroyed.
    func stop() {
        timer?.cancel()
        (shown, next) = (nil, [])
    }

    /// Presses the button of the shown message if the message is urgent: its button is Undo.
    func undo() {
        if shown?.isUrgent == true { end(isPressed: true) }
    }

    /// Whether the pointer or the focus is on the message.
    private var isInUse: Bool {
        let flags = gtk_widget_get_state_flags(revealer.widget).rawValue
        let use = GTK_STATE_FLAG_PRELIGHT.rawValue | GTK_STATE_FLAG_FOCUS_WITHIN.rawValue
        return flags & use != 0
    }

    /// Hides the message, calls its `ended`, and shows the next one.
    private func end(isPressed: Bool = false) {
        timer?.cancel()
        guard let message = shown else { return }
        shown = nil
        gtk_revealer_set_reveal_child(revealer.opaque, 0)
        message.ended(isPressed)
        // `ended` may have shown another message already.
        if shown == nil, !next.isEmpty { put(next.removeFirst()) }
    }
}
