# SPDX-License-Identifier: Apache-2.0
"""Downloads are added in the dialog."""

import hashlib
import re

from session import wait
from tests.case import Case, HEADERS, LIMIT
from website import MIB
from window import Role


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

    def test_a_repeated_link_is_one_download_for_each_name(self):
        url = self.serve("repeated.bin", size=1000)
        dialog = self.open_add_dialog()
        self.type_links(f"{url}\n  priority=3\n{url}\n  out=renamed.bin\n"
                        f"{url}\n  max-download-limit=300k")
        self.window.switch("Add Without Starting", dialog)
        self.window.click("Add", dialog)
        for name in ("repeated.bin", "renamed.bin"):
            self.window.row(name, "Paused")
        self.assertEqual(sorted((task["FileName"], task["Priority"], task["SpeedLimit"])
                                for task in self.desktop.tasks()),
                         [("renamed.bin", 0, 0), ("repeated.bin", 3, 300 * 1024)])

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

    def test_why_a_list_is_not_taken_is_told(self):
        home = self.desktop.home
        (home / "bad.txt").write_text("http://127.0.0.1:9/a\n\n  priority=high\n")
        (home / "long.txt").write_text("http://127.0.0.1:9/a\n" * 60_000)
        (home / "none.txt").write_text("# a comment\n")
        dialog = self.open_add_dialog()
        for name, said in (
            ("bad.txt", "bad.txt, line 3: priority must be a whole number"),
            ("long.txt", "long.txt is longer than 1.0 MiB"),
            ("none.txt", "none.txt has no link"),
        ):
            self.type_links(f"{home}/{name}")
            self.window.find(said)
            self.assertFalse(self.window.button("Add", dialog).is_sensitive)

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
