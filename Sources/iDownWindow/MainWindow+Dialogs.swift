// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

// The dialogs of the application's menu.
extension MainWindow {
    func openPreferences() { Preferences(client, tasks, over: object).present() }

    func openAbout() {
        let about = Object(
            adw_about_window_get_type(),
            [
                "transient-for": .object(object), "modal": true, "application-name": "idown",
                "application-icon": "org.idown.Manager1", "version": .text(Contract.version),
                "developer-name": .text(translated("The idown developers")),
                "website": "https://idown.org",
                "license-type": .number(Int(GTK_LICENSE_APACHE_2_0.rawValue)),
                "comments": .text(translated("Downloads that go on where they stopped.")),
            ]
        )
        about.nameParts()
        gtk_window_present(about.to())
    }

    func openShortcuts() {
        let groups: [(String, [(String, String)])] = [
            (
                translated("Window"),
                [
                    (translated("Add a Download"), "<Control>n"),
                    (translated("Search"), "<Control>f"),
                    (translated("Start All"), "<Control>r"),
                    (translated("Pause All"), "<Control>p"),
                    (translated("Preferences"), "<Control>comma"),
                    (translated("Show Details"), "F9"),
                    (translated("Close"), "<Control>w <Control>q"),
                    (translated("Keyboard Shortcuts"), "<Control>question"),
                ]
            ),
            (
                translated("Selected Downloads"),
                [
                    (translated("Pause, Resume, Retry or Open"), "Return space"),
                    (translated("Menu"), "Menu <Shift>F10"),
                    (translated("Remove from the list"), "Delete"),
                    (translated("Remove and move the file to the trash"), "<Shift>Delete"),
                    (translated("Copy Link"), "<Control>c"),
                    (translated("Select All"), "<Control>a"),
                ]
            ),
        ]
        func element(_ type: String, _ properties: [(String, String)], _ children: String) -> String
        {
            let lines = properties.map { "<property name=\"\($0)\">\($1.escaped)</property>" }
            return "<object class=\"\(type)\">\(lines.joined())\(children)</object>"
        }
        let content = groups.map { title, keys in
            let rows = keys.map { name, key in
                "<child>"
                    + element(
                        "GtkShortcutsShortcut",
                        [("title", name), ("accelerator", key)],
                        ""
                    ) + "</child>"
            }
            return "<child>" + element("GtkShortcutsGroup", [("title", title)], rows.joined())
                + "</child>"
        }.joined()
        let section =
            "<child>" + element("GtkShortcutsSection", [("section-name", "all")], content)
            + "</child>"
        let text =
            "<interface>"
            + "<object class=\"GtkShortcutsWindow\" id=\"shortcuts\">"
            + "<property name=\"modal\">1</property>\(section)</object></interface>"
        let builder = Object(gtk_builder_new_from_string(text, -1))
        defer { builder.drop() }
        guard let window = gtk_builder_get_object(builder.opaque, "shortcuts") else { return }
        gtk_window_set_transient_for(Object(window).to(), object.to())
        gtk_window_present(Object(window).to())
    }
}
