# SPDX-License-Identifier: Apache-2.0
"""Uses the window as people do, against the real service and a real server."""

import hashlib
import os
import pathlib
import re
import subprocess
import threading
import time
import unittest

from desktop import Desktop
from session import RestartAfterFailure, wait
from website import MIB, File, Site
from window import (CONTROLS, PROGRAM, Role, Window, activate, call, end_all, wake_ups,
                    wake_ups_since)

SCREEN = os.environ["IDOWN_SCREEN"]
HEADERS = "Headers (Name: value), one in a line"
LIMIT = "Speed Limit (such as 500k or 2M)"
shared = {}


def setUpModule():
    desktop = shared["desktop"] = Desktop(pathlib.Path(os.environ["IDOWN_WORK"]), SCREEN)
    unittest.addModuleCleanup(desktop.close)
    shared["site"] = Site()
    unittest.addModuleCleanup(shared["site"].close)
    desktop.command("config", "max-concurrent-downloads", "20")
    # So that the rate of a file is that of its download.
    desktop.command("config", "max-connections-per-download", "1")
    shared["window"] = Window(desktop)
    unittest.addModuleCleanup(lambda: shared["window"].close())


class Case(RestartAfterFailure, unittest.TestCase):
    """Each test has downloads whose names no other test uses."""

    desktop = property(lambda self: shared["desktop"])
    site = property(lambda self: shared["site"])
    window = property(lambda self: shared["window"])

    def restart(self):
        end_all(self.desktop)
        try:
            self.open_again()
            self.desktop.empty()
        except (AssertionError, RuntimeError) as error:
            print(f"no window for the next test: {error}")

    def tearDown(self):
        self.assertIsNone(self.window.process.poll(), "the window has ended")
        # A dialog that a failed test left open.
        for frame in self.window.application.children:
            if frame.name != "idown" and "window.close" in frame.actions:
                frame.act("window.close")
        self.desktop.empty()
        wait(lambda: not self.window.rows, "an empty list")

    # What the window was like when it was closed.
    state = property(lambda self: self.desktop.home / ".local/state/idown/window")

    def open_again(self, words=(), is_new=True, **environment):
        """Opens a window with these arguments; a new one has forgotten how the last one was left."""
        if is_new:
            self.state.unlink(missing_ok=True)
        shared["window"] = Window(self.desktop, words, **environment)

    def serve(self, name, **options):
        options.setdefault("seed", sum(name.encode()) * 997)
        self.site.files[f"/{name}"] = File(name=name.rsplit("/", 1)[-1], **options)
        return self.site.url(f"/{name}")

    def add(self, name, state="completed", **options):
        """A download that is in this state; a running one takes a minute."""
        options.setdefault("size", 20_000 if state == "completed" else 60 * MIB)
        if state in ("downloading", "paused"):
            options.setdefault("rate", MIB)
        url = self.site.url("/none/" + name.replace(" ", "%20")) if state == "failed" else \
            self.serve(name, **options).replace(" ", "%20")
        if " " in name and state != "failed":
            self.site.files["/" + name.replace(" ", "%20")] = self.site.files.pop("/" + name)
        id = self.desktop.command("add", url).strip()
        if state == "paused":
            self.wait_state(name, "downloading")
            self.desktop.command("pause", id)
        self.wait_state(name, state)
        return id

    def task(self, name):
        for task in self.desktop.tasks():
            if name in (task["FileName"], task["URL"].rsplit("/", 1)[-1].replace("%20", " ")):
                return task
        return None

    def wait_state(self, name, state):
        def look():
            task = self.task(name)
            return task if task and task["State"] == state else None
        return wait(look, f"{name} {state}", 20)

    def open_add_dialog(self):
        self.window.act("add")
        return self.window.find("Add Downloads", Role.FRAME)

    def type_links(self, text):
        self.window.field("Links, one in a line").write(text)

    def open_preferences(self):
        activate("app.preferences")
        return self.window.find("Preferences", Role.FRAME)

    def write_metalink(self, path, name, url, more=""):
        path.write_text('<metalink xmlns="urn:ietf:params:xml:ns:metalink">'
                        f'<file name="{name}">{more}<url>{url}</url></file></metalink>')
        return path.as_uri()

    def add_many(self, count, first=None):
        """So many paused downloads; the one with the highest number is in the first row, or `first`."""
        path = self.desktop.work / "links"
        path.write_text("".join(f"http://127.0.0.1:9/long{number:04}.bin\n" for number in range(count)))
        self.desktop.command("add", "--paused", "-i", str(path))
        self.window.row(first or f"long{count - 1:04}.bin", "Paused", 20)

    def listen(self, method):
        """What is asked of the service from now on: a function that returns its text."""
        log = self.desktop.work / "asked.log"
        log.unlink(missing_ok=True)
        monitor = self.desktop.start(
            ["dbus-monitor", "--session", f"destination=org.idown.Manager1,member={method}"], "asked")

        def end():
            monitor.terminate()
            monitor.wait()
            self.desktop.children.remove(monitor)
        self.addCleanup(end)
        # It tells its own name first.
        wait(lambda: log.exists() and "NameAcquired" in log.read_text(), "who listens")
        return log.read_text


class Adding(Case):
    def test_a_typed_link_is_probed_and_added(self):
        dialog = self.open_add_dialog()
        self.type_links(self.serve("typed.bin", size=3 * MIB))
        self.window.find("typed.bin, 3.0 MiB")
        self.window.click("Add", dialog)
        self.window.row("typed.bin", "Completed")
        self.window.gone("Add Downloads", Role.FRAME)

    def test_the_server_is_asked_about_links_with_a_query_only_on_request(self):
        once = self.serve("once.bin", size=1000) + "?token=1"
        dialog = self.open_add_dialog()
        self.type_links(f"{once}\n{self.serve('at-once.bin', size=1000)}")
        self.window.find("2 links\nLine 2: at-once.bin, 1000 B")
        self.assertEqual(self.site.asked("/once.bin"), [])
        self.window.click("Look Up", dialog)
        self.window.find("2 links\nLine 1: once.bin, 1000 B\nLine 2: at-once.bin, 1000 B")
        self.window.gone("Look Up", Role.PUSH_BUTTON)

    def test_several_links_are_added_together(self):
        urls = [self.serve(f"several{number}.bin", size=1000) for number in range(3)]
        dialog = self.open_add_dialog()
        self.type_links("\n".join(["# a list", *urls]))
        self.window.find("\n".join(
            ["3 links", *(f"Line {number + 2}: several{number}.bin, 1000 B" for number in range(3))]))
        self.window.click("Add", dialog)
        for number in range(3):
            self.window.row(f"several{number}.bin", "Completed")

    def test_a_wrong_link_is_told_where_it_stands(self):
        url = self.serve("beside.bin")
        dialog = self.open_add_dialog()
        self.type_links(f"{url}\n\nfile:nonsense")
        self.window.find("Line 3 is no link: file:nonsense")
        self.assertFalse(self.window.button("Add", dialog).is_sensitive)
        self.type_links(url)
        self.window.gone("Line 3 is no link: file:nonsense")

    def test_more_links_than_the_service_may_be_asked_for_are_probed(self):
        # Each answer takes a while: all at once would be more than the service takes.
        urls = [self.serve(f"probe{number}.bin", size=1000, late=0.3) for number in range(8)]
        self.open_add_dialog()
        self.type_links("\n".join(urls))
        self.window.find("\n".join(
            ["8 links", *(f"Line {number + 1}: probe{number}.bin, 1000 B" for number in range(8))]))

    def test_a_link_that_the_service_refuses_is_told_by_its_line(self):
        dialog = self.open_add_dialog()
        self.type_links(f"{self.serve('beside.bin')}\n\nftp://127.0.0.1/folder/")
        self.window.find(lambda name: "2 links" in name and "Line 3: " in name)
        self.window.click("Add", dialog)
        self.window.find(lambda name: re.match(r"Line 3: .ftp.* names a folder", name))
        self.assertEqual(self.desktop.tasks(), [])

    def test_a_list_is_named_by_its_path(self):
        urls = [self.serve(f"listed{number}.bin", size=1000) for number in range(2)]
        path = self.desktop.home / "my links.txt"
        path.write_text(f"# a list\n{urls[0]}\n  out=other.bin\n  gid=1\n\n{urls[1]}\n")
        dialog = self.open_add_dialog()
        self.type_links(str(path))
        wait(lambda: self.window.field("Links, one in a line", dialog).text
             == f"{urls[0]}\n  out=other.bin\n{urls[1]}", "the links of the list")
        self.window.click("Add", dialog)
        self.window.row("other.bin", "Completed")
        self.window.row("listed1.bin", "Completed")

    def test_what_was_exported_is_added_again(self):
        self.desktop.command("add", "--paused", "--limit", "300k", "--priority", "3", "-d",
                             str(self.desktop.saved), self.serve("exported.bin", size=1000))
        path = self.desktop.home / "exported.json"
        path.write_text(self.desktop.command("export", "--json"))
        self.desktop.command("remove", "all", "-y")
        self.window.has_no_row("exported.bin")
        dialog = self.open_add_dialog()
        self.type_links(str(path))
        wait(lambda: "  pause=true" in self.window.field("Links, one in a line", dialog).text,
             "the options of the list")
        self.window.click("Add", dialog)
        self.window.row("exported.bin", "Paused")
        task = self.task("exported.bin")
        self.assertEqual([task[key] for key in ("SpeedLimit", "Priority", "Directory")],
                         [300 * 1024, 3, str(self.desktop.saved)])

    def test_an_option_that_cannot_be_read_is_told_by_its_line(self):
        dialog = self.open_add_dialog()
        self.type_links(f"{self.serve('optional.bin')}\n  priority=high")
        self.window.find("Line 2: priority must be a whole number")
        self.assertFalse(self.window.button("Add", dialog).is_sensitive)

    def test_a_path_that_leads_to_no_list_is_told_by_its_line(self):
        (self.desktop.home / "picture.txt").write_bytes(b"\x89PNG\r\n\xff")
        dialog = self.open_add_dialog()
        for name in ("picture.txt", "nowhere.txt"):
            self.type_links(f"# files\n{self.desktop.home}/{name}")
            self.window.find(lambda said: said.startswith("Line 2 is no link: /"))
            self.assertFalse(self.window.button("Add", dialog).is_sensitive)
            self.assertTrue(self.window.field("Links, one in a line", dialog).is_wrong)

    def test_what_is_refused_after_the_dialog_is_told_in_the_window(self):
        dialog = self.open_add_dialog()
        self.type_links("ftp://127.0.0.1/folder/")
        with self.desktop.hung_service():
            self.window.click("Add", dialog)
            wait(lambda: not self.window.button("Add", dialog).is_sensitive, "the call")
            dialog.act("window.close")
            self.window.gone("Add Downloads", Role.FRAME)
        self.window.find(lambda name: "names a folder" in name)

    def test_what_the_server_lacks_is_told_before_it_is_added(self):
        self.open_add_dialog()
        self.type_links(self.site.url("/none/at-all.bin"))
        self.window.find(lambda name: "404" in name)
        self.assertEqual(self.desktop.tasks(), [])

    def test_a_metalink_brings_its_files(self):
        url = self.serve("inside.bin", size=5000)
        digest = hashlib.sha256(self.site.files["/inside.bin"].piece(0, 5000)).hexdigest()
        uri = self.write_metalink(self.desktop.home / "list.meta4", "renamed.bin", url,
                                  f'<size>5000</size><hash type="sha-256">{digest}</hash>')
        dialog = self.open_add_dialog()
        self.type_links(uri)
        self.window.click("Add", dialog)
        self.window.row("renamed.bin", "Completed")

    def test_after_a_mistake_nothing_is_added_twice(self):
        path = self.desktop.home / "broken.meta4"
        path.write_text("<metalink")
        asked = self.listen("AddURLWithOptions")
        dialog = self.open_add_dialog()
        self.type_links(f"{self.serve('twice.bin', size=1000)}\n{path}")
        self.window.click("Add", dialog)
        self.window.row("twice.bin", "Completed")
        wait(lambda: self.window.field("Links, one in a line", dialog).text == str(path),
             "the link that is left")
        # What is repeated after a late answer is the same download.
        wait(lambda: '"token"' in asked(), "the token")
        self.write_metalink(path, "inside.bin", self.serve("inside.bin", size=1000))
        self.window.click("Add", dialog)
        self.window.row("inside.bin", "Completed")
        self.assertEqual(len(self.desktop.tasks()), 2)

    def test_what_is_typed_while_links_are_added_stays(self):
        path = self.desktop.home / "half.meta4"
        path.write_text("<metalink")
        links = f"{self.serve('first.bin', size=1000)}\n{path}"
        later = "http://127.0.0.1:9/later.bin"
        dialog = self.open_add_dialog()
        self.type_links(links)
        with self.desktop.hung_service():
            self.window.click("Add", dialog)
            # GTK presses the button for a moment.
            wait(lambda: not self.window.button("Add", dialog).is_sensitive, "the call")
            self.type_links(f"{links}\n{later}")
            # The links under way would be added twice.
            self.assertFalse(self.window.button("Add", dialog).is_sensitive)
        self.window.row("first.bin", "Completed")
        wait(lambda: self.window.field("Links, one in a line", dialog).text == f"{path}\n{later}",
             "the links that are left")

    def test_a_metalink_is_named_by_its_path(self):
        url = self.serve("by-path.bin", size=5000)
        self.write_metalink(self.desktop.home / "a list.meta4", "by-path.bin", url)
        dialog = self.open_add_dialog()
        self.type_links(str(self.desktop.home / "a list.meta4"))
        self.window.click("Add", dialog)
        self.window.row("by-path.bin", "Completed")

    def test_options_are_applied(self):
        dialog = self.open_add_dialog()
        self.type_links(self.serve("options.bin", size=1000))
        self.window.field("File Name", dialog).write("other.bin")
        self.window.field(LIMIT, dialog).write("300k")
        self.window.switch("Add Without Starting", dialog)
        self.window.click("Add", dialog)
        self.window.row("other.bin", "Paused")
        self.assertEqual(self.task("other.bin")["SpeedLimit"], 300 * 1024)

    def test_what_is_wrong_is_said_in_words(self):
        dialog = self.open_add_dialog()
        self.type_links(self.serve("wrong.bin"))
        button = self.window.button("Add", dialog)
        wait(lambda: button.is_sensitive, "a link that can be added")
        self.window.unfold("More Options", dialog)
        for title, wrong, right, said in (
            ("Folder", "here", str(self.desktop.saved), "the whole path of a folder"),
            (LIMIT, "fast", "2M", "a rate such as 500k"),
            ("File Name", "a/b", "a b", "one name without slashes"),
            ("Checksum (sha-256=…)", "sha-256=00", "SHA-256=" + 64 * "0", "hexadecimal digits"),
            ("Connections (1 to 16)", "17", "16", "1 to 16"),
            ("Priority (higher starts first)", "2147483648", "-3", "a whole number"),
            ("Try Again For", "soon", "2h", "a time such as 90s"),
            ("Expected Size", "large", "1.5GiB", "a size such as 500k"),
            ("Mirrors (links with blanks between them)", "http://a.org/1 magnet:?", "http://a.org/1",
             "links with blanks"),
            ("Page With the Link", 8193 * "x", "http://a.org/", "one line of at most"),
            ("User-Agent Header", "a\u0007b", "a b", "one line of at most"),
            ("Cookies (name=value; name=value)", 32769 * "x", "a=b; c=d", "one line of at most"),
            (HEADERS, "Accept: */*\naccept: x", "Accept: */*\nX-A: b", "each name once"),
            (HEADERS, "Host: a.org", "", "none that idown sends itself"),
        ):
            with self.subTest(f"{title}: {wrong[:40]}"):
                field = self.window.field(title, dialog)
                field.write(wrong)
                wait(lambda: not button.is_sensitive, f"{title}: {wrong} being refused")
                self.assertTrue(field.is_wrong)
                text = self.window.find(lambda name: said in name, Role.LABEL, dialog, rows=True)
                self.assertIn(text.name, field.description)
                field.write(right)
                wait(lambda: button.is_sensitive, f"{title}: {right} being taken")
                self.assertFalse(field.is_wrong)
                self.assertEqual(field.description, "")

    def test_options_go_to_a_download_of_the_list(self):
        url = self.serve("listed.bin", size=8 * MIB, rate=MIB)
        self.desktop.command("add", "--paused", url)
        self.window.row("listed.bin", "Paused")
        dialog = self.open_add_dialog()
        self.type_links(url)
        self.window.unfold("More Options", dialog)
        digest = "sha-256=" + 64 * "0"
        self.window.field("Checksum (sha-256=…)", dialog).write(digest)
        self.window.click("Add", dialog)
        self.window.gone("Add Downloads", Role.FRAME)
        wait(lambda: self.task("listed.bin")["Checksum"] == digest, "the checksum")
        self.assertEqual(len(self.desktop.tasks()), 1)


class Arriving(Case):
    """Links that come from other programs."""

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

    def is_added(self, dialog):
        self.window.click("Add", dialog)
        for number in range(2):
            self.window.row(f"from-file{number}.bin", "Completed")

    def test_the_links_of_a_dropped_list_are_taken_over(self):
        self.is_added(self.drop(self.write_list().as_uri()))

    def test_a_list_is_chosen(self):
        path = self.write_list()
        dialog = self.open_add_dialog()
        self.window.click("Add From Files", dialog)
        self.desktop.choose_path("Metalinks and Lists of Links", path)
        self.is_added(dialog)

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


class Moving(Case):
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
        self.desktop.command("list")
        wait(lambda: sorted(self.window.names) == ["going.bin", "kept.bin"], "both rows", 15)
        self.window.row("going.bin", "Downloading")
        self.add("afterwards.bin")
        self.window.row("afterwards.bin", "Completed")


class Failing(Case):
    """The service is slow, or cannot be started."""

    def test_try_again_asks_again(self):
        self.add("again.bin")
        self.window.row("again.bin", "Completed")
        path = self.desktop.work / "services/org.idown.Manager1.service"
        usual = path.read_text()

        def use(text):
            path.write_text(text)
            self.desktop.ask_bus("ReloadConfig")
        use("[D-BUS Service]\nName=org.idown.Manager1\nExec=/bin/sh -c 'sleep 2; exit 1'\n")
        try:
            self.desktop.kill_service()
            # A call that it does not answer is no failure of the list.
            wait(lambda: "false" in self.desktop.ask_bus(
                "NameHasOwner", "string:org.idown.Manager1"), "the service's end")
            self.window.act("descending")
            self.addCleanup(lambda: self.window.act("descending"))
            # Its place is told anew once its page is shown.
            wait(lambda: self.window.button("Try Again").is_seen, "no list", 30)
        finally:
            use(usual)
        self.window.click("Try Again")
        # Nobody else asks for it.
        wait(self.desktop.service, "the service")

    def test_a_slow_answer_does_not_delay_the_next(self):
        self.add("before.bin")
        self.window.row("before.bin", "Completed")
        with self.desktop.hung_service():
            self.window.act("descending")
            # What is measured is the time after it.
            threading.Event().wait(2)
        self.addCleanup(lambda: self.window.act("descending"))
        self.add("after.bin")
        self.window.row("after.bin", "Completed", 5)


    def test_a_service_that_does_not_answer_is_told(self):
        for name in ("asked.bin", "unasked.bin"):
            self.add(name)
            self.window.row(name, "Completed")
        self.window.choose("asked.bin")
        self.window.act("details")
        self.addCleanup(lambda: self.window.act("details"))
        self.window.find(lambda text: text.endswith("/asked.bin"), Role.LABEL)
        silence = "idown does not answer. What is shown may be out of date."
        with self.desktop.hung_service():
            self.window.row("unasked.bin").act("row.details")
            wait(lambda: self.window.seek(lambda text: text.endswith("/asked.bin")) is None,
                 "the end of the old facts", 2)
            self.window.find(silence)
            dialog = self.open_add_dialog()
            self.window.find(silence, within=dialog)
        self.window.gone(silence)
        self.window.find(lambda text: text.endswith("/unasked.bin"), Role.LABEL)

    def test_a_window_that_waits_for_the_service_opens_once(self):
        self.add("any.bin")
        with self.desktop.hung_service():
            for _ in range(3):
                activate("app.preferences")
            self.window.find("idown does not answer. What is shown may be out of date.")
        self.window.find("Preferences", Role.FRAME).act("window.close")
        self.window.gone("Preferences", Role.FRAME)


class Closing(Case):
    def test_what_waits_for_its_message_is_done_when_the_window_closes(self):
        self.add("closing.bin")
        self.window.row("closing.bin", "Completed").act("row.remove")
        self.window.row("closing.bin", "Will be removed")
        start = time.monotonic()
        self.window.close()
        took, task = time.monotonic() - start, self.task("closing.bin")
        self.open_again()
        # Before its message is over.
        self.assertLess(took, 7)
        self.assertIsNone(task)

    def test_the_window_ends_though_the_service_does_not_answer(self):
        self.add("hung.bin")
        self.window.row("hung.bin", "Completed").act("row.remove")
        self.window.row("hung.bin", "Will be removed")
        try:
            with self.desktop.hung_service():
                self.window.close()
        finally:
            self.open_again()
        self.window.has_no_row("hung.bin")
        log = (self.desktop.work / "window.log").read_text()
        self.assertNotIn("CRITICAL", log)

    def test_closing_changes_nothing_else(self):
        self.add("on.bin", "downloading")
        self.window.row("on.bin", "Downloading")
        self.window.close()
        state = self.task("on.bin")["State"]
        self.open_again()
        self.assertEqual(state, "downloading")
        self.window.row("on.bin", "Downloading")


class Starting(Case):
    """What others ask of org.freedesktop.Application."""

    def frames(self):
        return [node for node in self.window.application.children if node.name == "idown"]

    def test_a_second_start_shows_the_same_window(self):
        for _ in range(2):
            self.assertEqual(call("Activate", "(a{sv})", ({},)), ())
        self.assertEqual(len(self.frames()), 1)
        self.add("after-activate.bin")
        self.window.row("after-activate.bin", "Completed")

    def test_links_of_the_command_line_are_offered_in_the_dialog(self):
        url = self.serve("named.bin", size=1000)
        self.window.close()
        self.open_again(words=[url])
        for text in (url, f"{url}?x=1"):
            if text != url:
                self.desktop.start([PROGRAM, "--", text], "again").wait(10)
            dialog = self.window.find("Add Downloads", Role.FRAME)
            wait(lambda: self.window.field("Links, one in a line", dialog).text == text, text)
            dialog.act("window.close")
            self.window.gone("Add Downloads", Role.FRAME)

    def test_options_are_answered_and_unknown_ones_refused(self):
        # Answers need no screen.
        environment = {name: value for name, value in self.desktop.environment.items()
                       if name not in ("DISPLAY", "WAYLAND_DISPLAY")}

        def ask(*words):
            return subprocess.run([PROGRAM, *words], env=environment,
                                  capture_output=True, text=True, timeout=10)
        help = ask("--help")
        self.assertEqual(help.returncode, 0)
        self.assertIn("idown-window [OPTION…] [URL…]", help.stdout)
        self.assertIn("--version", help.stdout)
        version = ask("--version")
        self.assertEqual(version.returncode, 0)
        self.assertRegex(version.stdout, r"^idown-window \d+\.\d+\.\d+\n$")
        unknown = ask("--unknown", "https://a.example/")
        self.assertEqual(unknown.returncode, 1)
        self.assertIn("--unknown", unknown.stderr)
        self.assertIsNone(self.window.seek("Add Downloads", Role.FRAME))

    def test_the_bus_starts_the_window_as_a_service(self):
        self.window.close()
        service = self.desktop.start(
            [PROGRAM, "--gapplication-service"], "service")
        wait(lambda: "true" in self.desktop.ask_bus("NameHasOwner", "string:org.idown.Window"),
             "the name of the window")
        call("Activate", "(a{sv})", ({},))
        self.window.process = service
        self.window.look_again()
        self.window.close()
        self.open_again()

    def test_a_start_while_the_window_ends_is_not_lost(self):
        self.add("ending.bin")
        self.window.row("ending.bin", "Completed").act("row.remove")
        self.window.row("ending.bin", "Will be removed")
        with self.desktop.hung_service():
            # The window waits for the service, which is to remove the download.
            activate("app.quit")
            self.window.gone("idown", Role.FRAME)
            self.assertIsNone(self.window.process.poll())
            call("Activate", "(a{sv})", ({},))
        self.window.look_again()
        self.add("anew.bin")
        self.window.row("anew.bin", "Completed")
        self.assertNotIn("ending.bin", self.window.names)

    def test_the_window_starts_as_it_was_left(self):
        self.window.close()
        self.open_again()
        for name in ("a.bin", "b.bin"):
            self.add(name)
        self.window.row("b.bin", "Completed")
        self.window.click("Sort by Name")
        wait(lambda: self.window.names == ["a.bin", "b.bin"], "rows in another order")
        self.window.act("details")
        self.window.find("No download is selected")
        self.window.close()
        self.open_again(is_new=False)
        self.window.find("No download is selected")
        self.window.row("b.bin", "Completed")
        self.assertEqual(self.window.names, ["a.bin", "b.bin"])
        self.assertIn("Sort=name", self.state.read_text())
        self.assertNotIn(".bin", self.state.read_text())
        self.window.close()
        self.open_again()


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


class Setting(Case):
    def test_settings_are_changed_and_kept(self):
        self.addCleanup(self.desktop.command, "config", "speed-limit", "off")
        self.addCleanup(self.desktop.command, "config", "stay-awake", "off")
        self.addCleanup(self.desktop.command, "config", "log-level", "info")
        window = self.open_preferences()
        field = self.window.field("Speed Limit of All Downloads", window)
        field.write("soon")
        self.window.find(lambda name: "a rate such as 500k" in name, Role.LABEL, window, rows=True)
        self.assertTrue(field.is_wrong)
        field.write("3M")
        wait(lambda: not field.is_wrong, "a right limit")
        self.window.turn_to("Desktop", window)
        self.window.switch("Keep the Computer Awake While Downloading", window)
        self.window.pick("Log Level", "Everything", window)

        def config(name):
            return self.desktop.command("config", name).strip()
        wait(lambda: config("stay-awake") == "on", "the switch being kept")
        wait(lambda: config("log-level") == "debug", "the choice being kept")
        window.act("window.close")
        self.window.gone("Preferences", Role.FRAME)
        wait(lambda: config("speed-limit") == "3M", "the limit being kept")
        window = self.open_preferences()
        self.assertTrue(self.window.find(
            "Everything", Role.PUSH_BUTTON, window, rows=True).is_pressed)


class Looking(Case):
    def test_search_sort_and_chips(self):
        for name, size in (("beta.bin", 3000), ("alpha.bin", 1000), ("gamma.bin", 2000)):
            self.add(name, size=size)
        self.add("delta.bin", "paused")
        self.window.row("gamma.bin", "Completed")

        def shows(*names):
            wait(lambda: self.window.names == list(names), f"the rows {names}")
        self.window.click("Sort by Name")
        shows("alpha.bin", "beta.bin", "delta.bin", "gamma.bin")
        self.window.click("Sort by Name")
        shows("gamma.bin", "delta.bin", "beta.bin", "alpha.bin")
        self.window.click("Sort by Size")
        shows("alpha.bin", "gamma.bin", "beta.bin", "delta.bin")
        self.window.find("Completed 3").click()
        shows("alpha.bin", "gamma.bin", "beta.bin")
        self.window.find("Paused 1").click()
        shows("delta.bin")
        self.window.find("All 4").click()
        shows("alpha.bin", "gamma.bin", "beta.bin", "delta.bin")
        self.window.act("search")
        field = self.window.field("Search in names and links")
        field.write("amma")
        shows("gamma.bin")
        field.write("nowhere")
        self.window.find("Nothing Found")
        field.write("")
        shows("alpha.bin", "gamma.bin", "beta.bin", "delta.bin")

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

        def shows(*names):
            wait(lambda: self.window.names == list(names), f"the rows {names}")
        self.window.click("Sort by Source")
        shows("long.bin", "short.bin", "a.bin", "b.bin")
        self.window.click("Sort by Time Left")
        shows("short.bin", "long.bin", "b.bin", "a.bin")
        self.window.click("Sort by Time Left")
        shows("long.bin", "short.bin", "b.bin", "a.bin")
        self.window.click("Sort by Name")
        shows("a.bin", "b.bin", "long.bin", "short.bin")

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


class Resting(Case):
    def test_a_window_in_which_nothing_moves_does_not_wake_up(self):
        # In the old one a message may stay below the pointer, at which the window looks each second.
        self.window.close()
        self.open_again()
        self.add("still.bin")
        self.window.row("still.bin", "Completed")

        pid = self.window.process.pid

        def is_quiet():
            before = wake_ups(pid)
            # What is measured is that nothing happens: there is nothing to wait for.
            threading.Event().wait(5)
            return wake_ups_since(before, pid) <= 2
        # Threads of GTK and Swift end a while after their last work, and wake up for that.
        wait(is_quiet, "five seconds without a wake-up", 60)


class Changing(Case):
    def open_dialog(self, name):
        self.window.row(name, "Paused").act("row.edit")
        return self.window.find("Change a Download", Role.FRAME)

    def test_a_limit_and_a_name(self):
        self.add("edit.bin", "paused")
        dialog = self.open_dialog("edit.bin")
        self.window.field(LIMIT, dialog).write("400k")
        self.window.field("File Name", dialog).write("edited.bin")
        self.window.click("Apply", dialog)
        self.window.row("edited.bin", "Paused")
        self.assertEqual(self.task("edited.bin")["SpeedLimit"], 400 * 1024)

    def test_a_wrong_limit_cannot_be_applied(self):
        self.add("limit.bin", "paused")
        dialog = self.open_dialog("limit.bin")
        self.window.field(LIMIT, dialog).write("quick")
        button = self.window.button("Apply", dialog)
        wait(lambda: not button.is_sensitive, "a button that cannot be pressed")

    def test_what_cannot_be_applied_is_told(self):
        self.add("told.bin", "paused")
        dialog = self.open_dialog("told.bin")
        for title, text, told in (
            ("File Name", 300 * "a", "with at most 244 bytes"), ("File Name", "a\tb", "tabs"),
            ("File Name", "", "This cannot be empty."), ("Link", "", "This cannot be empty."),
        ):
            field = self.window.field(title, dialog)
            usual = self.site.url("/told.bin") if title == "Link" else "told.bin"
            field.write(text)
            self.window.find(lambda said: told in said, within=dialog)
            wait(lambda: not self.window.button("Apply", dialog).is_sensitive, "no Apply")
            field.write(usual)
            wait(lambda: self.window.button("Apply", dialog).is_sensitive, "Apply")

    def test_what_can_be_changed_after_the_end_is_applied(self):
        id = self.desktop.command("add", "--paused", self.serve("ends.bin", size=1000)).strip()
        dialog = self.open_dialog("ends.bin")
        self.window.field(LIMIT, dialog).write("400k")
        self.window.field("File Name", dialog).write("ended.bin")
        self.desktop.command("resume", id)
        self.wait_state("ends.bin", "completed")
        self.window.click("Apply", dialog)
        self.window.find(lambda said: said.startswith("The state of the download is now: Completed."))
        self.assertFalse(self.window.field(LIMIT, dialog).is_sensitive)
        self.window.click("Apply", dialog)
        self.window.row("ended.bin", "Completed")

    def test_another_folder(self):
        self.add("moves.bin", "paused")
        dialog = self.open_dialog("moves.bin")
        folder = self.desktop.saved / "a new one"
        self.window.field("Folder", dialog).write(str(folder))
        self.window.click("Apply", dialog)
        self.window.gone("Change a Download", Role.FRAME)
        self.assertEqual(self.task("moves.bin")["Directory"], str(folder))
        self.window.row("moves.bin", "Paused").act("row.resume")
        self.wait_state("moves.bin", "downloading")

    def test_every_option_that_is_typed(self):
        self.add("all.bin", "paused", size=30 * MIB)
        self.serve("mirror.bin", size=30 * MIB, rate=MIB, seed=self.site.files["/all.bin"].seed)
        mirror, wanted = self.site.url("/mirror.bin"), {}
        dialog = self.open_dialog("all.bin")
        self.window.unfold("More Options", dialog)
        for title, text, key, value in (
            ("Checksum (sha-256=…)", "md5=" + 32 * "0", "Checksum", "md5=" + 32 * "0"),
            ("Expected Size", "30M", "ExpectedSize", 30 * MIB),
            ("Mirrors (links with blanks between them)", mirror, "Mirrors", [mirror]),
            ("Connections (1 to 16)", "3", "MaxConnections", 3),
            ("Priority (higher starts first)", "-5", "Priority", -5),
            ("Try Again For", "2h", "RetryFor", 7200),
            ("Page With the Link", "http://a.org/page", "Referrer", "http://a.org/page"),
            ("User-Agent Header", "a test", "UserAgent", "a test"),
            (HEADERS, "X-One: 1\nX-Two: 2", "HeaderNames", ["X-One", "X-Two"]),
            ("Cookies (name=value; name=value)", "a=b", None, None),
        ):
            self.window.field(title, dialog).write(text)
            if key:
                wanted[key] = value
        self.window.click("Apply", dialog)
        self.window.gone("Change a Download", Role.FRAME)
        task = self.task("all.bin")
        self.assertEqual({key: task[key] for key in wanted}, wanted)
        before = len(self.site.asked("/all.bin"))
        self.window.row("all.bin", "Paused").act("row.resume")
        request = wait(lambda: self.site.asked("/all.bin")[before:], "a request")[0]
        self.assertEqual(
            [request.headers[name] for name in ("X-One", "X-Two", "Cookie", "User-Agent")],
            ["1", "2", "a=b", "a test"])

    def test_options_are_chosen_and_taken_away(self):
        id = self.add("chosen.bin", "paused")
        self.desktop.command("edit", id, "-H", "X-One: 1", "--referrer", "http://a.org/",
                             "--limit", "2M", "--mirror", "http://127.0.0.1:1/chosen.bin")
        dialog = self.open_dialog("chosen.bin")
        self.window.unfold("More Options", dialog)
        self.window.pick("When It Is Done", "Show it in its folder", dialog)
        self.window.pick("If the Name Is Taken", "Fail", dialog)
        for title in (LIMIT, "Page With the Link", "Mirrors (links with blanks between them)"):
            self.window.field(title, dialog).write("")
        self.window.switch("Remove Its Headers", dialog)
        self.window.click("Apply", dialog)
        self.window.gone("Change a Download", Role.FRAME)
        task = self.task("chosen.bin")
        self.assertEqual(
            [task[key] for key in ("WhenDone", "OnExisting", "SpeedLimit", "Referrer", "Mirrors",
                                   "HeaderNames")],
            ["reveal", "fail", 0, "", [], []])

    def test_what_a_finished_file_cannot_have_cannot_be_typed(self):
        self.add("finished.bin")
        self.window.row("finished.bin", "Completed").act("row.edit")
        dialog = self.window.find("Change a Download", Role.FRAME)
        self.assertFalse(self.window.field(LIMIT, dialog).is_sensitive)
        self.assertFalse(self.window.field("Link", dialog).is_sensitive)
        self.window.field("File Name", dialog).write("renamed after.bin")
        self.window.click("Apply", dialog)
        self.window.row("renamed after.bin", "Completed")

    def test_a_fresh_link_for_an_expired_one(self):
        url = self.serve("expired.bin", size=16 * MIB, rate=MIB // 2)
        file = self.site.files["/expired.bin"]
        id = self.desktop.command("add", url).strip()
        self.wait_state("expired.bin", "downloading")
        self.desktop.command("pause", id)
        self.wait_state("expired.bin", "paused")
        del self.site.files["/expired.bin"]
        self.desktop.command("resume", id)
        self.window.row("expired.bin", "The server does not have the file").act("row.fresh-link")
        dialog = self.window.find("A Fresh Link", Role.FRAME)
        fresh = File(file.size, seed=file.seed, name="expired.bin")
        self.site.files["/fresh/expired.bin"] = fresh
        self.window.field("Link", dialog).write(self.site.url("/fresh/expired.bin"))
        self.window.click("Apply", dialog)
        self.wait_state("expired.bin", "completed")
        self.assertTrue(fresh.equals(self.desktop.downloads / "expired.bin"))


class Access(Case):
    """What people hear who do not see the window."""

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

    def test_a_right_click_opens_the_menu_of_its_row(self):
        self.add("click.bin", "paused")
        self.press(self.window.row("click.bin", "Paused"), 3)
        self.window.find("Resume", Role.MENU_ITEM).act("click")
        self.window.row("click.bin", "Downloading")


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


class Narrow(InLanguage):
    """Nothing is wider than 360 pixels, whatever the language."""

    def too_wide(self, frame, title):
        """What a window of this title cuts off."""
        self.window.place(0, 0, 360, 600, title)
        # What is inside gives way in one frame, and the window in the next.
        wait(lambda: frame.extents()[2] <= 360, f"a narrow {title}")

        def is_cut(node):
            left, _, width, _ = node.extents() or (0, 0, 0, 0)
            return (node.name and node.role != Role.PAGE_TAB_LIST and width > 1
                    and (left < 0 or left < 360 < left + width))
        # Of its pages' titles, libadwaita shows those above or those below. The chips are scrolled.
        def found():
            nodes = frame.walk(lambda node: node.role != Role.PAGE_TAB_LIST)
            return [f"{node} in {title}" for node in nodes
                    if is_cut(node) and not re.fullmatch(r"⟦.*⟧ \d+", node.name)]
        # The last frame may still be drawn.
        try:
            wait(lambda: not found(), "nothing that is cut off", 3)
        except AssertionError:
            return found()
        return []

    def test_the_window(self):
        self.fill()
        self.use("xx")
        self.window.row("kept name.bin", "⟦")
        self.assertEqual(self.too_wide(self.window.frame, "^idown$"), [])
        self.window.row("running.bin", "⟦").act("row.details")
        self.window.find(lambda name: name.startswith("127.0.0.1") and "HTTP" in name.upper())
        self.assertEqual(self.too_wide(self.window.frame, "^idown$"), [])

    def test_details_of_nothing_do_not_cover_the_list(self):
        self.add("covered.bin", "paused")
        nothing = "⟦No download is selected ~ ~ ~⟧"
        self.use("xx")
        self.window.place(0, 0, 1000, 600)
        self.window.act("details")
        self.window.find(nothing)
        self.window.place(0, 0, 360, 600)
        self.window.gone(nothing)
        # Nor does a window that remembers them.
        self.window.place(0, 0, 1000, 600)
        self.window.act("details")
        self.window.find(nothing)
        self.window.close()
        self.open_again(is_new=False, LANGUAGE="xx")
        self.window.find(nothing)
        self.window.place(0, 0, 360, 600)
        self.window.gone(nothing)

    def test_the_dialogs(self):
        self.fill()
        self.use("xx")
        wrong = [found for dialog in self.dialogs()
                 for found in self.too_wide(dialog, re.escape(dialog.name))]
        self.assertEqual(wrong, [])


if SCREEN != "x11":
    # This screen has no mouse and no keys: a test that is skipped would count as passed.
    del Arriving, Keys, Narrow
