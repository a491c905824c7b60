# SPDX-License-Identifier: Apache-2.0
"""Every text is translated, and stands where its language wants it."""

import re

from session import wait
from tests.case import Case, SCREEN
from window import Role, activate


class InLanguage(Case):
    """The language xx marks what is translated, and is longer than others."""

    def use(self, language):
        if SCREEN == "x11":
            # GTK gives the window of a row's tooltip a name that is no text.
            self.desktop.mouse("mousemove", 1270, 890)
        self.window.close()
        self.open_again(LANGUAGE=language)
        if not self.is_changed:
            self.is_changed = True
            self.addCleanup(self.use, "en")

    is_changed = False

    # What GTK and libadwaita say in their own dialogs, which they translate themselves: the keys, the
    # search for settings, and the pages of the about dialog.
    LIBRARY = re.compile(
        r"((Ctrl|Alt|Shift)\+)*([A-Z]|F\d+|Delete|Return|Menu)|Ctrl|Alt|Shift|Search( Results)?|No Results Found|"
        r"Try a different search\.?|About|Acknowledgements|Back|Credits|Details|Legal|Website|"
        r"Troubleshooting|Debugging Information|What’s New|(_Copy Text )?Copy Text|"
        r"(_Save as… )?Save as…|This application comes with .*|To assist in troubleshooting.*|"
        r"(Gtk|Adw)[A-Z]\w+")

    def fill(self):
        self.add("kept name.bin")
        self.add("paused.bin", "paused")
        self.add("lost.bin", "failed")
        self.add("running.bin", "downloading")

    def untranslated(self, within, *others):
        """What is said, but neither marked nor from the outside: names, numbers and links."""
        outside = re.compile(
            r"[\W\d_]*|idown|org\.idown\.Window|(kept name|paused|lost|running)\.bin|"
            r"https?://.*|/.*|[\d.,:/ ]*([KMGT]i)?B(/s| / [\d.,]+ ([KMGT]i)?B)?|[\d/]+ [\d:]+|127\.0\.0\.1.*|application/.*|"
            r"Minimize|Maximize|Close|Restore|(Minimize|Maximize|Close|Restore) the window|"
            r"GtkLabel")
        return [(text, node) for node in self.window.nodes(within, rows=True)
                for text in (node.name, node.description) if "⟦" not in text
                and not any(known.fullmatch(text) for known in (outside, *others))]

    def dialogs(self):
        """Opens each dialog in turn."""
        def row(name, action):
            return lambda: self.window.row(name).act(f"row.{action}")
        for show in (
            lambda: self.window.act("add"), row("paused.bin", "edit"), row("lost.bin", "fresh-link"),
            lambda: self.window.act("browsers"),
            *(lambda name=name: activate(f"app.{name}")
              for name in ("preferences", "shortcuts", "about")),
        ):
            show()
            dialog = wait(lambda: next((frame for frame in self.window.application.children
                                        if frame.name != "idown" and frame.is_showing), None),
                          "a dialog")
            more = self.window.seek(lambda name: "More Options" in name, Role.PUSH_BUTTON, dialog)
            if more:
                more.act("activate")
            yield dialog
            dialog.act("window.close")
            wait(lambda: len(self.window.application.children) == 1, "the dialog's end")


class Languages(InLanguage):
    def test_every_text_of_the_window_is_translated(self):
        self.use("xx")

        def look(*others):
            self.assertEqual(self.untranslated(self.window.frame, *others), [])
        self.window.find(lambda name: "No Downloads Yet" in name, Role.LABEL)
        look()
        self.fill()
        self.window.row("kept name.bin", "⟦").act("row.details")
        self.window.find("⟦Completed ~ ~ ~⟧", Role.LABEL)
        look()
        self.window.row("running.bin", "⟦").act("row.details")
        self.window.find(lambda name: name.startswith("127.0.0.1") and "HTTP" in name.upper())
        look()
        self.window.find(lambda name: "History" in name, Role.PUSH_BUTTON).act("activate")
        self.window.row("lost.bin", "⟦").act("row.details")
        self.window.find(lambda name: "⟦Attempt 1 begins" in name, Role.LABEL)
        look()
        self.window.act("menu")
        self.window.find(lambda name: "Give a Fresh Link" in name, Role.MENU_ITEM)
        look(self.LIBRARY)
        self.window.row("kept name.bin").act("row.verify")
        self.window.find(lambda name: "The file is as it should be" in name)
        self.window.row("paused.bin", "⟦").act("row.remove")
        self.window.find(lambda name: "Undo" in name, Role.PUSH_BUTTON)
        look(self.LIBRARY)

    def test_every_text_of_the_dialogs_is_translated(self):
        self.fill()
        self.use("xx")
        wrong = [found for dialog in self.dialogs()
                 for found in self.untranslated(dialog, self.LIBRARY)]
        self.assertEqual(wrong, [])

    def test_what_a_server_refuses_is_told_in_the_language(self):
        self.use("xx")
        self.window.act("add")
        self.window.field("⟦Links, one in a line ~ ~ ~⟧").write(self.site.url("/none/at-all.bin"))
        self.window.find("⟦The server does not have the file ~ ~ ~⟧")

    def test_german_and_chinese(self):
        self.fill()
        for language, state in (("de", "Angehalten"), ("zh_CN", "已暂停")):
            self.use(language)
            self.window.row("paused.bin", state)

    def test_titles_stand_above_their_columns(self):
        self.add("below.bin", "paused")
        for language in ("xx", "ar:xx"):
            self.use(language)
            row = self.window.row("below.bin", "⟦")
            bar = next(node for node in row.walk() if node.role == Role.PROGRESS_BAR)
            wait(lambda: bar.is_seen, "a row that has its place")
            name, source, size, state, left = [
                node for node in row.walk() if node.role == Role.LABEL and node.is_seen][:5]
            for title, cell in (("Name", name), ("Source", source), ("Progress", bar), ("Size", size),
                                ("State", state), ("Time Left", left)):
                title = self.window.find(f"⟦Sort by ⟦{title} ~ ~ ~⟧ ~ ~ ~⟧", Role.PUSH_BUTTON)
                self.assertEqual(title.extents()[::2], cell.extents()[::2], f"{title} in {language}")

    def test_arabic_goes_from_right_to_left(self):
        self.add("right.bin", "paused")
        self.use("ar:xx")
        row = self.window.row("right.bin", "⟦")
        label = next(node for node in row.walk() if node.role == Role.LABEL)
        left, _, width, _ = row.extents()
        self.assertGreater(label.extents()[0], left + width / 2)
