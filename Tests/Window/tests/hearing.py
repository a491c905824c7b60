# SPDX-License-Identifier: Apache-2.0
"""What people hear who do not see the window."""

import re
import subprocess

from session import wait
from tests.case import Case
from window import CONTROLS, Role, activate


class Access(Case):
    """Names, descriptions and actions, as assistive technology gets them."""

    def check(self, within):
        wrong = []
        for node in self.window.nodes(within, rows=True):
            name, is_control = node.name, node.role in CONTROLS
            if not name and is_control and node.is_seen:
                wrong.append(("no name", node))
            elif re.match(r"_|(Gtk|Adw)[A-Z]", name) and is_control:
                wrong.append(("a class's name", node))
            elif re.fullmatch(r"(.+) \1", name):
                wrong.append(("a name twice", node))
        self.assertEqual(wrong, [])

    def test_every_control_has_a_name(self):
        self.add("named.bin")
        self.add("named2.bin", "paused")
        self.window.row("named.bin", "Completed").act("row.details")
        self.window.choose("named.bin", "named2.bin")
        self.window.row("named.bin").act("row.remove")
        self.window.row("named.bin", "Will be removed")
        self.check(self.window.frame)

    def test_every_control_of_the_dialogs_has_a_name(self):
        self.add("dialogs.bin", "paused")
        dialog = self.open_add_dialog()
        self.window.unfold("More Options", dialog)
        self.check(dialog)
        self.window.row("dialogs.bin", "Paused").act("row.edit")
        dialog = self.window.find("Change a Download", Role.FRAME)
        self.window.unfold("More Options", dialog)
        self.check(dialog)

    def test_every_control_of_the_preferences_and_of_the_shortcuts_has_a_name(self):
        for action, title in (("preferences", "Preferences"), ("shortcuts", "Keyboard Shortcuts")):
            activate(f"app.{action}")
            frame = self.window.find(title, Role.FRAME)
            self.check(frame)
            frame.act("window.close")
            self.window.gone(title, Role.FRAME)

    def test_the_shortcuts_tell_every_key_of_a_row(self):
        activate("app.shortcuts")
        frame = self.window.find("Keyboard Shortcuts", Role.FRAME)
        for title in ("Show Details", "Copy Link", "Remove from the list"):
            self.window.find(title, Role.LABEL, frame, rows=True)

    def test_a_row_tells_its_name_and_its_verbs(self):
        self.add("verbs.bin", "paused")
        row = self.window.row("verbs.bin", "Paused")
        for verb in ("resume", "cancel", "copy-link", "fresh-link", "edit", "details"):
            self.assertIn(f"row.{verb}", row.actions)
        self.assertRegex(row.description, r"^Paused, \d+%")


class Announcing(Case):
    """What is said of changes of state, by a stand-in for a function of GTK 4.14."""

    STAND_IN = """#include <stdio.h>
        #include <stdlib.h>
        void gtk_accessible_announce(void *self, const char *text, int priority) {
            FILE *file = fopen(getenv("ANNOUNCED"), "a");
            fprintf(file, "%s\\n", text);
            fclose(file);
        }"""

    def setUp(self):
        library = self.desktop.work / "announce.so"
        source = self.desktop.work / "announce.c"
        self.said = self.desktop.work / "announced"
        self.said.write_text("")
        source.write_text(self.STAND_IN)
        subprocess.run(["clang", "-shared", "-fPIC", "-o", library, source], check=True)
        self.window.close()
        self.open_again(LD_PRELOAD=str(library), ANNOUNCED=str(self.said))
        self.addCleanup(self.open_again)
        self.addCleanup(lambda: self.window.close())

    def wait_for(self, text):
        wait(lambda: text in self.said.read_text().splitlines(), f"{text} being said")

    def test_every_state_of_a_row_is_said(self):
        self.add("heard.bin", "paused")
        self.window.row("heard.bin", "Paused").act("row.resume")
        self.wait_for("heard.bin: Downloading")
        self.window.row("heard.bin").act("row.pause")
        self.wait_for("heard.bin: Paused")

    def test_what_was_added_here_is_said_where_no_row_shows_it(self):
        self.window.act("search")
        self.window.field("Search in names and links").write("something else")
        self.window.find("Nothing Found")
        dialog = self.open_add_dialog()
        self.type_links(self.serve("unseen.bin", size=1000))
        self.window.click("Add", dialog)
        self.wait_for("unseen.bin: Completed")

    def test_messages_and_mistakes_are_said(self):
        self.add("told.bin")
        self.window.row("told.bin", "Completed").act("row.remove")
        self.wait_for("1 download is removed")
        self.window.click("Undo")
        self.open_add_dialog()
        self.type_links("file:nonsense")
        self.wait_for("Line 1 is no link: file:nonsense")

    def test_of_many_the_number_is_said(self):
        for number in range(5):
            self.add(f"many{number}.bin", "paused")
        for number in range(5):
            self.window.row(f"many{number}.bin", "Paused")
        self.window.act("start-all")
        for number in range(5):
            self.window.row(f"many{number}.bin", "Downloading")
        self.window.act("pause-all")
        self.wait_for("5 downloads have another state")
