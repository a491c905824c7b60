# SPDX-License-Identifier: Apache-2.0
"""The list, the details and what is found in them."""

import hashlib
import pathlib

from session import wait
from tests.case import Case
from website import MIB
from window import Role


class Looking(Case):
    def shows(self, *names):
        """Waits until the list has exactly these rows, in this order."""
        wait(lambda: self.window.names == list(names), f"the rows {names}")

    def test_search_sort_and_chips(self):
        for name, size in (("beta.bin", 3000), ("alpha.bin", 1000), ("gamma.bin", 2000)):
            self.add(name, size=size)
        self.add("delta.bin", "paused")
        self.window.row("gamma.bin", "Completed")
        self.window.click("Sort by Name")
        self.shows("alpha.bin", "beta.bin", "delta.bin", "gamma.bin")
        self.window.click("Sort by Name")
        self.shows("gamma.bin", "delta.bin", "beta.bin", "alpha.bin")
        self.window.click("Sort by Size")
        self.shows("alpha.bin", "gamma.bin", "beta.bin", "delta.bin")
        self.window.find("Completed 3").click()
        self.shows("alpha.bin", "gamma.bin", "beta.bin")
        self.window.find("Paused 1").click()
        self.shows("delta.bin")
        self.window.find("All 4").click()
        self.shows("alpha.bin", "gamma.bin", "beta.bin", "delta.bin")
        self.window.act("search")
        field = self.window.field("Search in names and links")
        field.write("amma")
        self.shows("gamma.bin")
        field.write("nowhere")
        self.window.find("Nothing Found")
        field.write("")
        self.shows("alpha.bin", "gamma.bin", "beta.bin", "delta.bin")

    def test_what_a_search_hides_is_not_selected(self):
        for name in ("seen.bin", "hidden1.bin", "hidden2.bin"):
            self.add(name)
        self.window.row("hidden2.bin", "Completed")
        self.window.choose("hidden1.bin", "hidden2.bin")
        self.window.find("2 selected")
        names = self.window.names
        self.window.click("Sort by Name")
        wait(lambda: self.window.names != names, "rows in another order")
        self.assertIsNotNone(self.window.seek("2 selected"))
        self.window.act("search")
        self.window.field("Search in names and links").write("seen")
        self.window.has_no_row("hidden1.bin")
        self.window.gone("2 selected")
        self.window.field("Search in names and links").write("")
        self.window.row("hidden1.bin")
        self.window.find("0 selected")

    def test_what_a_filter_hides_by_its_state_is_not_selected(self):
        for name in ("stays.bin", "goes.bin"):
            self.add(name, "downloading")
        self.add("apart.bin", "paused")
        self.window.find("Downloading 2", Role.PUSH_BUTTON).click()
        # GTK presses the button for a moment, and the answer to the filter ends every selection.
        self.window.has_no_row("apart.bin")
        self.window.choose("stays.bin", "goes.bin")
        self.window.find("2 selected")
        self.desktop.command("pause", str(self.task("goes.bin")["Id"]))
        self.window.find("1 selected")
        self.window.has_no_row("goes.bin")
        self.window.find("All 3", Role.PUSH_BUTTON).click()

    def test_the_list_is_sorted_by_source_and_by_time_left(self):
        for host in ("b.example", "a.example"):
            self.desktop.command("add", "--paused", f"http://{host}/{host[0]}.bin")
        self.add("long.bin", "downloading", size=120 * MIB)
        self.add("short.bin", "downloading", size=60 * MIB)
        self.window.click("Sort by Source")
        self.shows("long.bin", "short.bin", "a.bin", "b.bin")
        self.window.click("Sort by Time Left")
        self.shows("short.bin", "long.bin", "b.bin", "a.bin")
        self.window.click("Sort by Time Left")
        self.shows("long.bin", "short.bin", "b.bin", "a.bin")
        self.window.click("Sort by Name")
        self.shows("a.bin", "b.bin", "long.bin", "short.bin")

    def test_the_empty_page_offers_to_add(self):
        self.window.find("No Downloads Yet")
        self.window.click("Add a Download…")
        self.window.find("Add Downloads", Role.FRAME)

    def test_the_empty_page_tells_of_browsers(self):
        manifest = self.desktop.home / ".mozilla/native-messaging-hosts/org.idown.browser.json"
        manifest.unlink()
        self.window.find("No Downloads Yet")
        self.window.click("Downloads From Browsers…")
        dialog = self.window.find("Downloads From Browsers", Role.FRAME)
        said = self.desktop.command("browser", "status").strip()
        self.window.find(lambda name: name.strip() == said, Role.LABEL, dialog)
        self.window.click("Set Up", dialog)
        wait(manifest.exists, "the manifest")
        self.window.click("Close", dialog)
        self.window.gone("Downloads From Browsers", Role.FRAME)

    def test_the_facts_of_another_download_end_above_its_history(self):
        # Longer than a line of the pane.
        names = [f"a-name-that-is-longer-than-a-line-{number}.bin" for number in (1, 2)]
        for name in names:
            self.desktop.command("add", "--paused", f"http://127.0.0.1:9/{name}")
            self.window.row(name, "Paused")
        self.window.choose(names[0])
        self.window.act("details")
        self.addCleanup(lambda: self.window.act("details"))
        for name in names[::-1]:
            self.window.choose(name)
            wait(lambda: self.window.seek(lambda text: text.endswith(name), Role.LABEL),
                 "the facts")
            last = self.window.find("Added", Role.LABEL).place_at_rest()
            history = self.window.find("History").place_at_rest()
            self.assertGreaterEqual(history[1], last[1] + last[3])

    def test_details_are_live(self):
        self.add("live.bin", "downloading")
        self.window.row("live.bin", "Downloading").act("row.details")
        picture = self.window.find("Parts of the file that are here")
        self.window.find(lambda name: name.startswith("127.0.0.1") and "HTTP" in name.upper())
        first = wait(lambda: picture.description, "a percentage")
        wait(lambda: picture.description not in ("", first), "another percentage")
        self.window.row("live.bin").act("row.pause")
        self.window.find("Paused", Role.LABEL)
        self.window.act("details")

    def test_what_several_can_do_together(self):
        for name in ("lost1.bin", "lost2.bin"):
            self.add(name, "failed")
        for name in ("done1.bin", "done2.bin"):
            self.add(name)
        self.window.row("lost2.bin", "The server does not have the file")
        self.window.row("done2.bin", "Completed")

        def can(verb):
            button = self.window.button(verb)
            return button.is_sensitive
        self.window.choose("lost1.bin", "lost2.bin")
        self.window.find("2 selected")
        wait(lambda: can("Resume"), "failed ones that are tried again")
        self.window.choose("done1.bin", "done2.bin")
        wait(lambda: not can("Resume") and not can("Pause"), "completed ones that stay")
        self.serve("none/lost1.bin", size=1000)
        self.serve("none/lost2.bin", size=1000)
        self.window.choose("lost1.bin", "lost2.bin")
        wait(lambda: can("Resume"), "failed ones that are tried again")
        self.window.click("Resume")
        self.wait_state("lost1.bin", "completed")
        self.wait_state("lost2.bin", "completed")

    def test_many_files_are_not_opened_at_once(self):
        for number in range(11):
            self.add(f"open{number}.bin")
        for number in range(11):
            self.window.row(f"open{number}.bin", "Completed")
        self.window.list.act("list.select-all")
        self.window.find("11 selected")
        self.window.act("open")
        self.window.find("Only 10 files can be opened at once.")
        self.assertEqual(self.desktop.opened_places(), [])
        self.window.choose(*(f"open{number}.bin" for number in range(2)))
        self.window.find("2 selected")
        self.window.act("open")
        wait(lambda: len([place for place in self.desktop.opened_places() if place]) == 2, "two files")

    def test_open_and_show_in_folder(self):
        self.add("open.bin")
        path = self.task("open.bin")["Path"]

        def opened(end):
            return any(place.endswith(end) for place in self.desktop.opened_places())
        self.window.row("open.bin", "Completed").act("row.open")
        wait(lambda: opened("/open.bin"), "the program of the file")
        self.window.row("open.bin").act("row.reveal")
        wait(lambda: opened(str(pathlib.Path(path).parent)), "the program of the folder")

    def test_verify_tells_whether_the_file_is_right(self):
        url = self.serve("verify.bin", size=5000)
        digest = hashlib.sha256(self.site.files["/verify.bin"].piece(0, 5000)).hexdigest()
        self.desktop.command("add", url, "--checksum", f"sha-256={digest}")
        self.window.row("verify.bin", "Completed").act("row.verify")
        self.window.find("The file is as it should be")
        (self.desktop.downloads / "verify.bin").write_bytes(bytes(5000))
        self.window.row("verify.bin").act("row.verify")
        self.window.find("The file is not what it should be")
        self.window.row("verify.bin", "The checksum does not match")
        (self.desktop.downloads / "verify.bin").unlink()
        self.window.row("verify.bin").act("row.verify")
        self.window.find("The file is gone")
        self.window.row("verify.bin", "The file is gone")


class Long(Case):
    """Lists that are longer than what the window knows of them."""

    def test_after_a_filter_the_rows_are_those_of_the_list(self):
        self.add_many(300)
        ids = {task["FileName"]: str(task["Id"]) for task in self.desktop.tasks()}
        names = [f"long{number:04}.bin" for number in range(300)][::-1]
        gone = names[100:300:80]
        self.desktop.command("cancel", *(ids[name] for name in gone), "-y")
        self.window.find("Cancelled 3", Role.PUSH_BUTTON).click()
        wait(lambda: self.window.names == gone, "the cancelled ones")
        self.window.find("All 300", Role.PUSH_BUTTON).click()

        def filled():
            # A row whose page has not come yet is told as "…".
            found = self.window.names
            return found if len(found) > 3 and "…" not in found else None
        found = wait(filled, "all rows")
        self.assertEqual(found, names[:len(found)])

    def test_select_all_that_is_answered_late_undoes_no_other_choice(self):
        self.add_many(400)
        with self.desktop.hung_service():
            self.window.list.act("list.select-all")
            self.window.find(lambda name: name.endswith(" selected") and name != "0 selected")
            self.window.choose("long0399.bin")
            self.window.find("1 selected")
        # The service answers in order.
        self.desktop.command("add", "--paused", "http://127.0.0.1:9/last.bin")
        self.window.row("last.bin", "Paused")
        self.assertIsNotNone(self.window.seek("1 selected"))
        self.window.list.act("list.select-all")
        self.window.find("401 selected")

    def test_a_new_first_row_is_in_sight_where_the_list_is_at_its_top(self):
        self.add_many(100)
        for name in ("later.bin", "latest.bin"):
            self.desktop.command("add", "--paused", f"http://127.0.0.1:9/{name}")
            def is_in_sight():
                # Looked up each time: GTK gives a row's widget to another one when rows move.
                first, list = next(iter(self.window.rows), None), self.window.list
                places = [node and node.extents() for node in (first, list)]
                return all(places) and first.name == name and places[0][1] >= places[1][1]
            wait(is_in_sight, f"{name} as the first, in sight")

    def test_of_many_that_change_none_is_asked_for_alone(self):
        self.add_many(400)
        self.window.list.act("list.select-all")
        self.window.find("400 selected")
        asked = self.listen("GetTask")
        self.window.act("cancel")
        self.window.find("Cancelled 400", seconds=60)
        self.assertNotIn("member=GetTask\n", asked())
