# SPDX-License-Identifier: Apache-2.0
"""The window as a program: how it starts, waits for the service, rests and ends."""

import subprocess
import threading
import time

from session import wait
from tests.case import Case
from window import PROGRAM, Role, activate, call, wake_ups, wake_ups_since


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
        log = self.desktop.work / "window.log"
        # Tests before this one open dialogs, of which GTK complains on this compositor.
        before = len(log.read_text())
        self.add("hung.bin")
        self.window.row("hung.bin", "Completed").act("row.remove")
        self.window.row("hung.bin", "Will be removed")
        try:
            with self.desktop.hung_service():
                self.window.close()
        finally:
            self.open_again()
        self.window.has_no_row("hung.bin")
        self.assertNotIn("CRITICAL", log.read_text()[before:])

    def test_closing_changes_nothing_else(self):
        self.add("on.bin", "downloading")
        self.window.row("on.bin", "Downloading")
        self.window.close()
        state = self.task("on.bin")["State"]
        self.open_again()
        self.assertEqual(state, "downloading")
        self.window.row("on.bin", "Downloading")
