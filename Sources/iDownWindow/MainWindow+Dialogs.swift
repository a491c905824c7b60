// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

// The dialogs of the application's menu.
extension MainWindow {
    func openPreferences() {
        let preferences = Preferences(client, tasks, over: object)
        open { () throws(ManagerError) in try await preferences.present() }
    }

    func openAbout() {
        let about = Object(
            adw_about_window_get_type(),
            [
                "transient-for": .object(object), "modal": true, "application-name": "idown",
                "application-icon": "org.idown.Manager1", "version": .text(Contract.version),
                "developer-name": .text(translated("The idown developers")),
                "website": "https://idown.org",
                "license-type": .choice(GTK_LICENSE_APACHE_2_0),
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
                    (translated("Add Copied Links"), "<Control>v"),
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
                    (translated("Show Details"), "<Alt>Return"),
                    (translated("Select All"), "<Control>a"),
                    (translated("Undo"), "<Control>z"),
                ]
            ),
        ]
        // Not GtkShortcutsWindow, whose columns do not fit into a narrow window.
        let window = Object(
            adw_preferences_window_get_type(),
            [
                "transient-for": .object(object), "modal": true, "search-enabled": false,
                "title": .text(translated("Keyboard Shortcuts")), "default-width": 480,
            ]
        )
        // The page needs a title, because the hidden tab takes its accessible name from it.
        let page = Object(
            adw_preferences_page_get_type(),
            ["title": .text(translated("Keyboard Shortcuts"))]
        )
        for (title, shortcuts) in groups {
            let group = Object(adw_preferences_group_get_type(), ["title": .text(title)])
            for (name, keys) in shortcuts {
                let row = Object(adw_action_row_get_type(), ["title": .text(name.escaped)])
                row.set("title-lines", 0)
                let label = Object(gtk_shortcut_label_new(keys))
                label.set("valign", .choice(GTK_ALIGN_CENTER))
                adw_action_row_add_suffix(row.to(), label.widget)
                adw_preferences_group_add(group.to(), row.widget)
            }
            adw_preferences_page_add(page.to(), group.to())
        }
        adw_preferences_window_add(window.to(), page.to())
        window.nameParts()
        gtk_window_present(window.to())
    }
}
