# SPDX-License-Identifier: Apache-2.0
"""What all tests of the window share: one desktop with a service and a window, and steps."""

import atexit
import contextlib
import os
import pathlib
import unittest

from desktop import Desktop
from session import RestartAfterFailure, wait
from website import MIB, File, Site
from window import Role, Window, activate, end_all

SCREEN = os.environ["IDOWN_SCREEN"]
HEADERS = "Headers (Name: value), one in a line"
LIMIT = "Speed Limit (such as 500k or 2M)"
shared = {}
# What ends the desktop, the site and the window: the whole suite, or else the end of the process.
ends = contextlib.ExitStack()
atexit.register(ends.close)


def start():
    """Starts the one desktop, site and window of this process."""
    desktop = shared["desktop"] = Desktop(pathlib.Path(os.environ["IDOWN_WORK"]), SCREEN)
    ends.callback(desktop.close)
    shared["site"] = Site()
    ends.callback(shared["site"].close)
    desktop.command("config", "max-concurrent-downloads", "20")
    # So that the rate of a file is that of its download.
    desktop.command("config", "max-connections-per-download", "1")
    shared["window"] = Window(desktop)
    ends.callback(lambda: shared["window"].close())


class Case(RestartAfterFailure, unittest.TestCase):
    """Each test has downloads whose names no other test uses."""

    desktop = property(lambda self: shared["desktop"])
    site = property(lambda self: shared["site"])
    window = property(lambda self: shared["window"])

    @classmethod
    def setUpClass(cls):
        if not shared:
            start()

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
