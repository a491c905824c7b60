# SPDX-License-Identifier: Apache-2.0
"""What is done with downloads, and undone."""

import re

from session import wait
from tests.case import Case, LIMIT
from website import MIB
from window import Role


class Verbs(Case):
    def test_the_bar_and_the_description_move(self):
        self.add("bar.bin", "downloading")
        row = self.window.row("bar.bin", "Downloading")
        bar = next(node for node in row.walk() if node.role == Role.PROGRESS_BAR)
        first = wait(lambda: bar.value, "a bar that has begun")
        wait(lambda: bar.value > first + 0.02, "a bar that moves")

        def percent():
            found = re.search(r"(\d+)%", self.window.row("bar.bin").description)
            return int(found[1]) if found else 0
        before = percent()
        wait(lambda: percent() > before + 2, "a percentage that moves")
        self.assertRegex(self.window.row("bar.bin").description,
                         r"Downloading, \d+%, (less than a|about \d) minute")

    def test_pause_and_go_on(self):
        self.add("pause.bin", "downloading")
        self.window.row("pause.bin", "Downloading").act("row.pause")
        self.window.row("pause.bin", "Paused")
        self.wait_state("pause.bin", "paused")
        self.window.row("pause.bin").act("row.resume")
        self.window.row("pause.bin", "Downloading")

    def test_start_all_and_pause_all(self):
        names = ["all1.bin", "all2.bin"]
        for name in names:
            self.add(name, "paused")
        self.window.row(names[0], "Paused")
        self.window.click("Start All")
        for name in names:
            self.window.row(name, "Downloading")
        self.window.click("Pause All")
        for name in names:
            self.window.row(name, "Paused")

    def test_a_cancel_can_be_undone_and_is_done_after_the_message(self):
        self.add("cancel.bin", "paused")
        self.window.row("cancel.bin", "Paused").act("row.cancel")
        self.window.row("cancel.bin", "Will be cancelled")
        self.assertEqual(self.task("cancel.bin")["State"], "paused")
        self.window.click("Undo")
        self.window.row("cancel.bin", "Paused")
        self.window.row("cancel.bin").act("row.cancel")
        self.wait_state("cancel.bin", "cancelled")

    def test_a_removal_can_be_undone_and_is_done_after_the_message(self):
        self.add("remove.bin")
        self.window.row("remove.bin", "Completed").act("row.remove")
        self.window.row("remove.bin", "Will be removed")
        self.window.click("Undo")
        self.window.row("remove.bin", "Completed")
        self.window.row("remove.bin").act("row.remove")
        self.window.has_no_row("remove.bin", 15)
        self.assertIsNone(self.task("remove.bin"))
        self.assertTrue((self.desktop.downloads / "remove.bin").exists())

    def test_what_is_ended_twice_can_still_be_undone(self):
        self.add("twice.bin", "paused")
        self.window.row("twice.bin", "Paused")
        before = self.task("twice.bin")["DownloadedBytes"]
        self.assertGreater(before, 0)
        for first, second in (("remove", "remove"), ("cancel", "cancel"), ("cancel", "remove")):
            self.window.choose("twice.bin")
            self.window.act(first)
            self.window.row("twice.bin", "Will be ")
            self.window.act(second)
            self.window.row("twice.bin", {"remove": "Will be removed"}.get(second, "Will be cancelled"))
            self.window.click("Undo")
            self.window.row("twice.bin", "Paused")
            self.assertEqual(self.task("twice.bin")["DownloadedBytes"], before)

    def test_a_later_order_keeps_a_download_that_was_about_to_end(self):
        name = "ordered.bin"
        for each in (name, "other.bin"):
            self.add(each, "paused")
            self.window.row(each, "Paused")

        def add_again():
            dialog = self.open_add_dialog()
            self.type_links(self.task(name)["URL"])
            self.window.click("Add", dialog)

        def change():
            self.window.row(name).act("row.edit")
            dialog = self.window.find("Change a Download", Role.FRAME)
            self.window.field(LIMIT, dialog).write("400k")
            self.window.click("Apply", dialog)
        for verb, order, then in (
            ("remove", add_again, "Downloading"), ("cancel", "pause", "Paused"),
            ("remove", change, "Paused"), ("cancel", "resume", "Downloading"),
        ):
            self.window.choose(name, "other.bin")
            self.window.act(verb)
            self.window.find(lambda said: said.startswith("2 downloads are "))
            self.window.row(name, "Will be ")
            order() if callable(order) else self.window.row(name).act(f"row.{order}")
            self.window.find(lambda said: said.startswith("1 download is "))
            self.window.row(name, then)
            self.window.row("other.bin", "Will be ")
            self.window.click("Undo")
            self.window.row("other.bin", "Paused")
        self.window.row(name).act("row.remove")
        self.window.row(name, "Will be removed").act("row.pause")
        self.window.gone("Undo", Role.PUSH_BUTTON, 4)
        self.window.row(name, "Paused")

    def test_a_removal_goes_on_where_another_client_has_removed_one(self):
        ids = [self.add(f"taken{number}.bin") for number in range(2)]
        for number in range(2):
            self.window.row(f"taken{number}.bin", "Completed")
        self.window.choose("taken0.bin", "taken1.bin")
        self.window.act("remove")
        self.window.row("taken1.bin", "Will be removed")
        self.desktop.command("remove", ids[0], "-y")
        self.window.has_no_row("taken0.bin")
        self.window.has_no_row("taken1.bin", 15)
        self.assertEqual(self.desktop.tasks(), [])

    def test_what_ended_before_its_cancel_is_told(self):
        self.add("late.bin", "downloading", size=16 * MIB)
        self.window.row("late.bin", "Downloading").act("row.cancel")
        self.window.row("late.bin", "Will be cancelled")
        self.site.files["/late.bin"].rate = 0
        self.window.find("1 download had ended before it was cancelled", seconds=20)
        self.assertEqual(self.task("late.bin")["State"], "completed")

    def test_of_several_only_those_are_ended_that_the_verb_is_for(self):
        self.add("mixed1.bin")
        for name in ("mixed2.bin", "mixed3.bin"):
            self.add(name, "paused")
        self.window.row("mixed1.bin", "Completed")
        self.window.row("mixed3.bin", "Paused")
        self.window.choose("mixed1.bin")
        self.window.button("Remove from the list")
        self.window.choose("mixed1.bin", "mixed2.bin", "mixed3.bin")
        self.window.button("Remove and delete the partial file")
        self.window.act("cancel")
        self.window.find("2 downloads are cancelled")
        self.window.row("mixed2.bin", "Will be cancelled")
        self.window.click("Undo")
        self.window.row("mixed2.bin", "Paused")
        self.window.act("trash")
        self.window.find("1 file is moved to the trash")
        self.window.has_no_row("mixed1.bin", 15)
        self.assertEqual(sorted(self.window.names), ["mixed2.bin", "mixed3.bin"])

    def test_clear_can_be_undone(self):
        for name in ("clear1.bin", "clear2.bin"):
            self.add(name)
            self.window.row(name, "Completed")
        self.window.act("clear")
        for name in ("clear1.bin", "clear2.bin"):
            self.window.row(name, "Will be removed")
        self.window.click("Undo")
        for name in ("clear1.bin", "clear2.bin"):
            self.window.row(name, "Completed")
            self.assertIsNotNone(self.task(name))

    def test_clear_takes_only_what_was_there(self):
        self.add("cleared.bin")
        self.window.row("cleared.bin", "Completed")
        self.window.act("clear")
        self.window.row("cleared.bin", "Will be removed")
        self.add("later.bin")
        self.window.has_no_row("cleared.bin", 15)
        self.window.row("later.bin", "Completed")
        self.assertIsNotNone(self.task("later.bin"))

    def test_a_failed_one_is_retried(self):
        self.add("retry.bin", "failed")
        self.window.row("retry.bin", "The server does not have the file")
        self.serve("none/retry.bin", size=1000)
        self.window.row("retry.bin").act("row.retry")
        self.wait_state("retry.bin", "completed")

    def test_a_file_goes_to_the_trash(self):
        self.add("trash.bin")
        self.window.row("trash.bin", "Completed").act("row.trash")
        self.window.has_no_row("trash.bin", 15)
        wait((self.desktop.home / ".local/share/Trash/files/trash.bin").exists, "it in the trash")
        self.assertFalse((self.desktop.downloads / "trash.bin").exists())

    def test_several_chosen_are_acted_on_together(self):
        names = ["one.bin", "two.bin", "three.bin"]
        for name in names:
            self.add(name, "downloading")
        for name in names:
            self.window.row(name, "Downloading")
        self.window.choose("one.bin", "three.bin")
        self.window.find("2 selected")
        self.window.act("pause")
        self.window.row("one.bin", "Paused")
        self.window.row("three.bin", "Paused")
        self.assertIn("Downloading", self.window.row("two.bin").description)

    def test_no_message_covers_the_buttons_of_several(self):
        for name in ("left.bin", "right.bin", "other.bin"):
            self.add(name, "paused")
        self.window.choose("left.bin", "right.bin")
        buttons = self.window.find("2 selected")
        self.window.act("remove")
        _, top, _, height = self.window.button("Undo").place_at_rest()
        self.assertLessEqual(top + height, buttons.place_at_rest()[1])
        self.window.click("Undo")

    def test_the_service_is_killed_and_comes_back(self):
        self.add("kept.bin")
        self.add("going.bin", "downloading")
        self.window.row("going.bin", "Downloading")
        self.desktop.kill_service()
        self.window.row("kept.bin", "Completed")
        # Nothing else starts it here.
        self.window.click("Start")
        self.window.gone("Start", Role.PUSH_BUTTON)
        wait(lambda: sorted(self.window.names) == ["going.bin", "kept.bin"], "both rows", 15)
        self.window.row("going.bin", "Downloading")
        self.add("afterwards.bin")
        self.window.row("afterwards.bin", "Completed")
