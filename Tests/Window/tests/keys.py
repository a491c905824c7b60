# SPDX-License-Identifier: Apache-2.0
"""Keys and the mouse on the rows of the list."""

import re

from session import wait
from tests.case import Case
from window import Role


class Keys(Case):
    def press(self, row, *clicks):
        """Clicks a row with the mouse."""
        self.window.place(0, 0, 1000, 700)
        self.window.focus()
        left, top, _, height = row.place_at_rest()
        # GTK clicks on what was below the pointer when that moved last. The row of the test before had
        # the same place.
        for x in (left + 50, left + 60):
            self.desktop.mouse("mousemove", x, top + height // 2)
        self.desktop.mouse("click", *clicks)
        self.window.find("1 selected", Role.LABEL)

    def test_a_double_click_does_what_enter_does(self):
        self.add("double.bin", "downloading")
        self.press(self.window.row("double.bin", "Downloading"), "--repeat", 2, "--delay", 50, 1)
        self.window.row("double.bin", "Paused")

    def test_a_copied_link_is_whole(self):
        url = self.serve("link.bin", size=1000)
        self.desktop.command("add", url + "?token=secret")
        self.press(self.window.row("link.bin", "Completed"), 1)
        self.desktop.keys("ctrl+c")
        # An offer to add what was copied before is said first.
        self.window.find("Link copied", seconds=20)
        dialog = self.open_add_dialog()
        self.desktop.focus("Add Downloads")
        self.desktop.keys("ctrl+v")
        wait(lambda: self.window.field("Links, one in a line", dialog).text == url + "?token=secret",
             "the link being pasted")

    def test_keys_of_the_list(self):
        self.add("keys.bin", "downloading")
        self.press(self.window.row("keys.bin", "Downloading"), 1)
        for key, said in (("space", "Paused"), ("Return", "Downloading")):
            self.desktop.keys(key)
            self.window.row("keys.bin", said)
        self.desktop.keys("Menu")
        self.window.find("Pause", Role.MENU_ITEM)
        self.desktop.keys("Escape")
        self.window.gone("Pause", Role.MENU_ITEM)
        self.desktop.keys("alt+Return")
        picture = self.window.find("Parts of the file that are here")
        wait(lambda: picture.is_seen, "the details")
        self.desktop.keys("alt+Return")
        wait(lambda: not picture.is_seen, "the end of the details")

    def test_enter_gives_a_fresh_link(self):
        self.add("entered.bin", "paused")
        self.window.row("entered.bin", "Paused").act("row.fresh-link")
        self.window.find("A Fresh Link", Role.FRAME)
        self.desktop.focus("A Fresh Link")
        self.desktop.mouse("type", self.serve("other.bin", seed=4))
        self.desktop.keys("Return")
        self.window.gone("A Fresh Link", Role.FRAME)
        wait(lambda: self.task("entered.bin")["URL"].endswith("/other.bin"), "the link")

    def test_delete_offers_to_undo(self):
        self.add("delete.bin")
        self.press(self.window.row("delete.bin", "Completed"), 1)
        self.desktop.keys("Delete")
        self.window.row("delete.bin", "Will be removed")
        self.window.click("Undo")
        self.window.row("delete.bin", "Completed")
        self.desktop.keys("shift+Delete")
        self.window.row("delete.bin", "Will be moved to the trash")
        self.desktop.keys("ctrl+z")
        self.window.row("delete.bin", "Completed")

    def test_a_setting_that_another_client_changes_is_shown(self):
        self.addCleanup(self.desktop.command, "config", "max-concurrent-downloads", "20")
        window = self.open_preferences()
        at_once = self.window.find("Downloads at Once", Role.SPIN_BUTTON, window, rows=True)
        self.desktop.focus("Preferences")
        # Another program has the focus meanwhile.
        self.window.focus()
        self.desktop.command("config", "max-concurrent-downloads", "7")
        self.desktop.focus("Preferences")
        wait(lambda: at_once.value == 7, "what another client has changed")

    def test_the_details_stay_closed_when_the_last_row_goes(self):
        self.add("alone.bin")
        self.press(self.window.row("alone.bin", "Completed"), 1)
        self.desktop.keys("Delete")
        self.window.has_no_row("alone.bin", 20)
        self.assertIsNone(self.window.seek("No download is selected"))
        self.window.act("details")
        self.window.find("No download is selected")
        self.window.act("details")
        self.window.gone("No download is selected")

    def test_a_focused_row_far_away_makes_no_question_longer(self):
        self.add_many(1500)
        self.press(self.window.row("long1499.bin"), 1)
        self.desktop.mouse("mousemove", "--window", self.window.number, 400, 400)
        self.desktop.mouse("click", "--repeat", 1000, "--delay", 2, 5)
        self.window.row("long0000.bin", "Paused", 20)
        asked = self.listen("FindTasks")
        self.desktop.command("add", "--paused", "http://127.0.0.1:9/last.bin")

        def limits():
            return [int(limit) for limit in re.findall(r'"limit"\s+variant\s+uint32 (\d+)', asked())]
        wait(lambda: any(limit > 1 for limit in limits()), "a question for rows")
        self.assertLess(max(limits()), 600)

    def test_a_focused_row_far_away_shows_what_it_is(self):
        # The oldest comes first.
        self.window.act("descending")
        self.addCleanup(lambda: self.window.act("descending"))
        self.add("far.bin", "downloading")
        self.add_many(1500, "long0000.bin")
        self.press(self.window.row("far.bin", "Downloading"), 1)
        self.desktop.mouse("mousemove", "--window", self.window.number, 400, 400)
        self.desktop.mouse("click", "--repeat", 1000, "--delay", 2, 5)
        self.window.row("long1499.bin", "Paused", 20)
        # It goes on at once, out of sight.
        self.site.files["/far.bin"].rate = 0
        self.wait_state("far.bin", "completed")
        self.window.row("far.bin", "Completed")

    def test_where_no_row_is_selected_the_one_with_the_focus_is_meant(self):
        self.add("focused.bin", "paused")
        self.press(self.window.row("focused.bin", "Paused"), 1)
        for key, then in (("Menu", lambda: self.window.find("Resume", Role.MENU_ITEM)),
                          ("space", lambda: self.window.row("focused.bin", "Downloading")),
                          ("Delete", lambda: self.window.row("focused.bin", "Will be removed"))):
            self.window.list.act("list.unselect-all")
            self.window.find("0 selected")
            self.desktop.keys(key)
            then()
            if key == "Menu":
                self.desktop.keys("Escape")
                self.window.gone("Resume", Role.MENU_ITEM)
        self.desktop.keys("ctrl+z")
        self.window.row("focused.bin", "Downloading")

    def test_tab_leaves_the_rows(self):
        for name in ("tab1.bin", "tab2.bin"):
            self.add(name)
        self.window.row("tab1.bin", "Completed")
        row = self.window.row("tab2.bin", "Completed")
        self.press(row, 1)
        wait(lambda: row.is_focused, "the focus on a row")
        for key, is_row in (("Tab", False), ("shift+Tab", True), ("shift+Tab", False)):
            self.desktop.keys(key)
            wait(lambda: row.is_focused == is_row, f"where {key} leads")
        self.assertFalse(any(node.is_focused for node in self.window.rows))

    def test_a_right_click_opens_the_whole_menu_of_its_row(self):
        self.add("click.bin", "paused")
        self.press(self.window.row("click.bin", "Paused"), 3)

        def bottom(name, role):
            _, top, _, height = self.window.find(name, role).place_at_rest()
            return top + height
        self.assertLessEqual(bottom("Details", Role.MENU_ITEM), bottom("Menu", Role.MENU))
        self.window.find("Resume", Role.MENU_ITEM).act("click")
        self.window.row("click.bin", "Downloading")
