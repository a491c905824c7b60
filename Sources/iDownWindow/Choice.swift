// SPDX-License-Identifier: Apache-2.0

import CGtk

/// A row with a button for each of a few values, one of which is chosen.
///
/// It uses toggle buttons because assistive technology cannot choose in AdwComboRow, a menu or
/// radio buttons (GTK 4.8).
final class Choice<Value: Equatable> {
    let row: Object
    private let buttons: [(value: Value, button: Object)]

    /// Called when a value is chosen.
    var chosen: (Value) -> Void = { _ in }

    /// Makes a row in which the first value is chosen.
    init(_ title: String, _ choices: [(value: Value, title: String)]) {
        buttons = choices.map { value, title in
            (value, Object(gtk_toggle_button_get_type(), ["label": .text(title)]).adding(["flat"]))
        }
        row = .contentRow(title, buttons.map(\.button))
        buttons[0].button.set("active", true)
        for (value, button) in buttons {
            if button != buttons[0].button {
                gtk_toggle_button_set_group(button.to(), buttons[0].button.to())
            }
            button.on("toggled") { [weak self] _ in
                if button.flag("active") { self?.chosen(value) }
            }
        }
    }

    var value: Value {
        get { (buttons.first { $0.button.flag("active") } ?? buttons[0]).value }
        set { buttons.first { $0.value == newValue }?.button.set("active", true) }
    }
}
