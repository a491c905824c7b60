# SPDX-License-Identifier: Apache-2.0
"""Links come from other programs: they are dropped, copied or chosen as files."""

from session import wait
from tests.case import Case
from window import Role


class Arriving(Case):
    def start_source(self, text):
        """Shows a program at the right of the window, and returns its X window."""
        source = self.desktop.start_source(text)
        self.addCleanup(self.end, source)
        number = self.desktop.find_window("source", source.pid)
        self.desktop.mouse("windowmove", "--sync", number, 950, 0)
        # Before its first frame nothing in it can be dragged.
        wait(lambda: "shown" in (self.desktop.work / "source.log").read_text(), "its first frame")
        return number

    def copy(self, text):
        """Goes to the window from a program that has put a text into the clipboard."""
        number = self.start_source(text)

        def is_offered():
            # The window looks when it becomes active, and may not know yet then what is there.
            self.desktop.mouse("windowfocus", "--sync", number)
            self.window.focus()
            return self.window.seek("Add the copied link?")
        wait(is_offered, "an offer to add the copied link")

    def end(self, source):
        source.terminate()
        source.wait()
        self.desktop.children.remove(source)

    def drop(self, text):
        self.window.place(0, 0, 900, 700)
        self.start_source(text)
        self.desktop.mouse("mousemove", 1050, 60, "mousedown", 1)
        for x, y in ((1040, 70), (1000, 100), (900, 160), (700, 250), (500, 300), (448, 352)):
            self.desktop.mouse("mousemove", "--sync", x, y)

        def is_taken():
            self.desktop.mouse("mousemove_relative", 1, 0)
            return "taken" in (self.desktop.work / "source.log").read_text()
        wait(is_taken, "a window that would take what is dropped")
        self.desktop.mouse("mouseup", 1)
        return self.window.find("Add Downloads", Role.FRAME)

    def test_a_dropped_link_is_offered_in_the_dialog(self):
        dialog = self.drop(self.serve("dropped.bin", size=1000))
        self.window.find("dropped.bin, 1000 B")
        self.window.click("Add", dialog)
        self.window.row("dropped.bin", "Completed")

    def test_a_dropped_metalink_is_offered_in_the_dialog(self):
        url = self.serve("by-file.bin", size=1000)
        uri = self.write_metalink(self.desktop.home / "dropped list.meta4", "by-file.bin", url)
        self.window.click("Add", self.drop(uri))
        self.window.row("by-file.bin", "Completed")

    def write_list(self):
        path = self.desktop.home / "list of links.txt"
        urls = [self.serve(f"from-file{number}.bin", size=1000) for number in range(2)]
        path.write_text("\n".join(urls))
        return path

    def add_list(self, dialog):
        """Adds the two links of the list, and waits until they are complete."""
        self.window.click("Add", dialog)
        for number in range(2):
            self.window.row(f"from-file{number}.bin", "Completed")

    def test_the_links_of_a_dropped_list_are_taken_over(self):
        self.add_list(self.drop(self.write_list().as_uri()))

    def test_a_list_is_chosen(self):
        path = self.write_list()
        dialog = self.open_add_dialog()
        self.window.click("Add From Files", dialog)
        self.desktop.choose_path("Metalinks and Lists of Links", path)
        self.add_list(dialog)

    def test_a_folder_is_chosen(self):
        dialog = self.open_add_dialog()
        self.type_links(self.serve("placed.bin", size=1000))
        self.window.click("Choose a Folder", dialog)
        self.desktop.choose_path("Choose a Folder", self.desktop.saved)
        wait(lambda: len(self.window.application.children) == 2, "the end of the list of folders")
        self.window.click("Add", dialog)
        self.window.row("placed.bin", "Completed")
        self.assertEqual(self.task("placed.bin")["Directory"], str(self.desktop.saved))

    def test_a_copied_link_is_offered_and_never_added_by_itself(self):
        self.copy(self.serve("copied.bin", size=1000))
        self.assertEqual(self.desktop.tasks(), [])
        self.window.click("Add…")
        dialog = self.window.find("Add Downloads", Role.FRAME)
        self.window.find("copied.bin, 1000 B")
        self.window.click("Add", dialog)
        self.window.row("copied.bin", "Completed")

    def test_a_copied_link_is_pasted_into_the_window(self):
        self.copy(self.serve("pasted.bin", size=1000))
        self.desktop.keys("ctrl+v")
        dialog = self.window.find("Add Downloads", Role.FRAME)
        self.window.find("pasted.bin, 1000 B")
        self.window.click("Add", dialog)
        self.window.row("pasted.bin", "Completed")
