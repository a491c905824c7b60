// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownView

// The widgets of the views. A widget without a text of its own has an accessible label, which
// screen readers speak.
extension Object {
    static func box(
        vertical: Bool = false,
        spacing: Int = 6,
        margin: Int = 0,
        _ children: [Object]
    ) -> Object {
        let orientation = vertical ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL
        let box = Object(
            gtk_box_get_type(),
            ["orientation": .choice(orientation), "spacing": .number(spacing)]
        )
        if margin > 0 { box.setMargins(margin) }
        for child in children { gtk_box_append(box.to(), child.widget) }
        return box
    }

    static func label(
        _ text: String = "",
        classes: [String] = [],
        _ properties: KeyValuePairs<String, Property> = [:]
    ) -> Object {
        let label = Object(gtk_label_get_type(), ["label": .text(text), "xalign": 0.0])
        for (name, value) in properties { label.set(name, value) }
        return label.adding(classes)
    }

    /// Lets the wheel scroll the page that this field is on, in place of changing its value.
    func ignoreWheel() {
        let controllers = gtk_widget_observe_controllers(widget)
        defer { g_object_unref(UnsafeMutableRawPointer(controllers)) }
        for place in 0..<g_list_model_get_n_items(controllers) {
            guard let item = g_list_model_get_item(controllers, place) else { continue }
            defer { g_object_unref(item) }
            let type = gtk_event_controller_scroll_get_type()
            let instance = item.assumingMemoryBound(to: GTypeInstance.self)
            guard g_type_check_instance_is_a(instance, type) != 0 else { continue }
            gtk_event_controller_set_propagation_phase(OpaquePointer(item), GTK_PHASE_NONE)
        }
    }

    /// Makes a label for a name, a path or a URL, which is broken anywhere, and without hyphens,
    /// which would look like a part of it.
    static func wrappedName(_ text: String = "", classes: [String] = []) -> Object {
        let label = label(
            text,
            classes: classes,
            ["wrap": true, "wrap-mode": .choice(PANGO_WRAP_WORD_CHAR)]
        )
        let attributes = pango_attr_list_new()
        pango_attr_list_insert(attributes, pango_attr_insert_hyphens_new(0))
        gtk_label_set_attributes(label.opaque, attributes)
        pango_attr_list_unref(attributes)
        return label
    }

    /// Makes a label of one line, which is cut if there is too little room.
    static func line(characters: Int = -1, classes: [String] = []) -> Object {
        label(
            classes: classes,
            [
                "width-chars": .number(characters), "max-width-chars": .number(characters),
                "ellipsize": .choice(PANGO_ELLIPSIZE_END), "single-line-mode": true,
            ]
        )
    }

    /// Makes a line of text whose size does not depend on the text, so that another text is only
    /// drawn.
    ///
    /// A label with a new text makes GTK lay out the whole window again.
    static func cell(
        characters: Int,
        isRight: Bool = false,
        classes: [String] = []
    ) -> Object {
        let cell = Object(
            gtk_inscription_get_type(),
            [
                "min-lines": 1,
                "text-overflow": .choice(GTK_INSCRIPTION_OVERFLOW_ELLIPSIZE_END),
                "xalign": .real(isRight ? 1 : 0),
            ]
        ).adding(classes)
        cell.setCharacters(characters)
        return cell
    }

    /// Gives a cell room for this many characters.
    func setCharacters(_ count: Int) {
        set("min-chars", .number(count))
        set("nat-chars", .number(count))
    }

    /// A button with a picture, which needs a name.
    static func iconButton(_ icon: String, _ name: String, action: String? = nil) -> Object {
        let button = Object(
            gtk_button_get_type(),
            ["icon-name": .text(icon), "tooltip-text": .text(name), "action-name": .text(action)]
        )
        return button.named(name)
    }

    static func textButton(
        _ text: String,
        classes: [String] = [],
        action: String? = nil
    ) -> Object {
        Object(gtk_button_get_type(), ["label": .text(text), "action-name": .text(action)])
            .adding(classes)
    }

    static func scrolled(_ child: Object, isWide: Bool = false) -> Object {
        Object(
            gtk_scrolled_window_get_type(),
            [
                "child": .object(child), "vexpand": .flag(!isWide),
                "hscrollbar-policy": .choice(isWide ? GTK_POLICY_AUTOMATIC : GTK_POLICY_NEVER),
                "vscrollbar-policy": .choice(isWide ? GTK_POLICY_NEVER : GTK_POLICY_AUTOMATIC),
            ]
        )
    }

    static func menuButton(_ icon: String, _ name: String, _ menu: Object) -> Object {
        Object(
            gtk_menu_button_get_type(),
            [
                "icon-name": .text(icon), "menu-model": .object(menu), "primary": true,
                "tooltip-text": .text(name),
            ]
        ).named(name)
    }

    /// A row of a list of settings, with a title above other widgets.
    static func contentRow(_ title: String?, _ children: [Object]) -> Object {
        let heading = title.map { [Object.label($0, classes: ["caption", "dim-label"])] } ?? []
        let row = Object(
            adw_preferences_row_get_type(),
            [
                "child": .object(.box(vertical: true, margin: 9, heading + children)),
                "activatable": false, "focusable": false,
            ]
        )
        return title.map(row.named) ?? row
    }

    /// A page that stands in place of a list.
    static func statusPage(_ icon: String, _ title: String, _ text: String) -> Object {
        Object(
            adw_status_page_get_type(),
            ["icon-name": .text(icon), "title": .text(title), "description": .text(text)]
        )
    }

    func adding(_ classes: [String]) -> Object {
        for name in classes { gtk_widget_add_css_class(widget, name) }
        return self
    }

    func setClass(_ name: String, _ isSet: Bool) {
        if isSet {
            gtk_widget_add_css_class(widget, name)
        } else {
            gtk_widget_remove_css_class(widget, name)
        }
    }

    func setMargins(_ margin: Int) {
        for side in ["top", "bottom", "start", "end"] { set("margin-\(side)", .number(margin)) }
    }

    /// Sets the accessible name, which screen readers speak.
    @discardableResult
    func named(_ name: String) -> Object {
        tell(GTK_ACCESSIBLE_PROPERTY_LABEL, name)
        return self
    }

    /// Sets the accessible description, which screen readers speak after the name.
    func described(_ text: String) { tell(GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text) }

    /// Tells screen readers whether the text of a field is invalid.
    func setInvalid(_ isInvalid: Bool) {
        cgtk_set_invalid(
            opaque,
            isInvalid ? GTK_ACCESSIBLE_INVALID_TRUE : GTK_ACCESSIBLE_INVALID_FALSE
        )
    }

    private func tell(_ property: GtkAccessibleProperty, _ text: String) {
        var value = GValue()
        gtk_accessible_property_init_value(property, &value)
        g_value_set_string(&value, text)
        var properties = [property]
        gtk_accessible_update_property_value(opaque, 1, &properties, &value)
        g_value_unset(&value)
    }
}

// Parts that the libraries add would be spoken by the names of their classes.
extension Object {
    /// Binds keys to actions while the focus is inside this widget.
    ///
    /// In the capture phase these keys come before those of the widgets inside, in the bubble phase
    /// after them.
    func addKeys(_ phase: GtkPropagationPhase, _ shortcuts: [(key: String, action: String)]) {
        let keys = Object(gtk_shortcut_controller_new())
        keys.set("propagation-phase", .choice(phase))
        for (key, action) in shortcuts {
            let shortcut = gtk_shortcut_new(
                gtk_shortcut_trigger_parse_string(key),
                gtk_named_action_new(action)
            )
            gtk_shortcut_controller_add_shortcut(keys.opaque, shortcut)
        }
        gtk_widget_add_controller(widget, keys.opaque)
    }
}

extension Object {
    /// Names the inner parts of this widget, which screen readers would speak of as `GtkScrollbar`.
    ///
    /// A role can be given only before the widget is shown.
    func nameParts() {
        var next = gtk_widget_get_first_child(widget)
        while let child = next {
            Object(child).nameItself()
            Object(child).nameParts()
            next = gtk_widget_get_next_sibling(child)
        }
    }

    private func nameItself() {
        let type = cgtk_type_of(raw)
        switch type {
        case gtk_scrollbar_get_type(): named(translated("Scroll Bar"))
        case gtk_list_box_get_type(): named(translated("Options"))
        case adw_view_switcher_get_type(): named(translated("Pages"))
        case gtk_search_entry_get_type(): named(text("placeholder-text"), translated("Search"))
        case gtk_toggle_button_get_type() where !text("icon-name").isEmpty:
            named(text("tooltip-text"), translated("Search"))
        case gtk_image_get_type(): take(GTK_ACCESSIBLE_ROLE_PRESENTATION)
        default:
            if gtk_accessible_get_accessible_role(opaque) == GTK_ACCESSIBLE_ROLE_WIDGET {
                take(GTK_ACCESSIBLE_ROLE_GROUP)
            }
        }
    }

    private func named(_ name: String, _ other: String) { named(name.isEmpty ? other : name) }

    private func take(_ role: GtkAccessibleRole) {
        if gtk_widget_get_realized(widget) == 0 {
            set("accessible-role", .choice(role))
        }
    }
}

/// A menu: g_menu_new.
struct Menu {
    let model = Object(g_menu_new())

    @discardableResult
    func item(_ title: String, _ action: String) -> Menu {
        g_menu_append(model.opaque, title, action)
        return self
    }

    @discardableResult
    func section(_ title: String? = nil, _ fill: (Menu) -> Void) -> Menu {
        let menu = Menu()
        fill(menu)
        g_menu_append_section(model.opaque, title, menu.model.to())
        menu.model.drop()
        return self
    }

    @discardableResult
    func submenu(_ title: String, _ fill: (Menu) -> Void) -> Menu {
        let menu = Menu()
        fill(menu)
        g_menu_append_submenu(model.opaque, title, menu.model.to())
        menu.model.drop()
        return self
    }
}

/// The actions that menus, buttons and keys refer to by name: GActionMap.
struct Actions {
    /// The action group of a row, the window or the application.
    let map: Object

    /// Adds an action.
    @discardableResult
    func add(_ name: String, _ body: @escaping () -> Void) -> Object {
        let action = Object(g_simple_action_new(name, nil)).on("activate") { _ in body() }
        return put(action)
    }

    /// Adds an action whose state is one of several words, such as an order.
    @discardableResult
    func add(_ name: String, choice: String, _ body: @escaping (String) -> Void) -> Object {
        let action = Object(
            g_simple_action_new_stateful(
                name,
                g_variant_type_checked_("s"),
                g_variant_new_string(choice)
            )
        )
        action.on("activate") { arguments in
            guard let variant = arguments.variant(1), let text = g_variant_get_string(variant, nil)
            else { return }
            action.setState(choice: String(cString: text))
            body(String(cString: text))
        }
        return put(action)
    }

    /// Adds an action that is on or off.
    @discardableResult
    func add(_ name: String, isOn: Bool, _ body: @escaping (Bool) -> Void) -> Object {
        let action = Object(
            g_simple_action_new_stateful(name, nil, g_variant_new_boolean(isOn ? 1 : 0))
        )
        action.on("activate") { _ in
            let isOn = !action.isOn
            action.setState(isOn: isOn)
            body(isOn)
        }
        return put(action)
    }

    private func put(_ action: Object) -> Object {
        g_action_map_add_action(map.opaque, action.opaque)
        // The group holds a reference.
        action.drop()
        return action
    }

    func remove(_ name: String) { g_action_map_remove_action(map.opaque, name) }

    /// Enables or disables an action.
    func enable(_ name: String, _ isEnabled: Bool) {
        guard let action = g_action_map_lookup_action(map.opaque, name) else { return }
        g_simple_action_set_enabled(action, isEnabled ? 1 : 0)
    }
}

// The state of an action.
extension Object {
    var isOn: Bool {
        guard let state = g_action_get_state(opaque) else { return false }
        defer { g_variant_unref(state) }
        return g_variant_get_boolean(state) != 0
    }

    func setState(isOn: Bool) {
        g_simple_action_set_state(opaque, g_variant_new_boolean(isOn ? 1 : 0))
    }

    func setState(choice: String) {
        g_simple_action_set_state(opaque, g_variant_new_string(choice))
    }
}

extension String {
    /// A new random UUID: g_uuid_string_random.
    static var unique: String {
        guard let text = g_uuid_string_random() else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// The text escaped for Pango markup, which libadwaita's titles use: g_markup_escape_text.
    var escaped: String {
        guard let text = g_markup_escape_text(self, -1) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
}
