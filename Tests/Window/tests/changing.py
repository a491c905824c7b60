# SPDX-License-Identifier: Apache-2.0
"""Settings and the options of downloads are changed."""

from session import wait
from tests.case import Case, HEADERS, LIMIT
from website import MIB, File
from window import Role


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

    def test_a_name_in_use_may_be_longer_than_what_can_be_typed(self):
        """Where a name is taken, a number makes the next one longer."""
        name = 240 * "n" + ".bin"
        for path in ("long.bin", "longer.bin"):
            self.serve(path, size=1000)
            self.site.files[f"/{path}"].name = name
            self.desktop.command("add", self.site.url(f"/{path}"))
            longer = name if path == "long.bin" else 240 * "n" + " (1).bin"
            self.wait_state(longer, "completed")
        self.window.row(longer, "Completed").act("row.edit")
        dialog = self.window.find("Change a Download", Role.FRAME)
        button, field = self.window.button("Apply", dialog), self.window.field("File Name", dialog)
        self.assertTrue(button.is_sensitive)
        field.write(longer + "x")
        wait(lambda: not button.is_sensitive, "no Apply")
        field.write(longer)
        wait(lambda: button.is_sensitive, "Apply")

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
