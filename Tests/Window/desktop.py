# SPDX-License-Identifier: Apache-2.0
"""A desktop for the window: a private bus, a screen, accessibility, and programs that open files."""

import os
import pathlib
import shutil
import subprocess

from session import PROGRAMS, Session, wait

HERE = pathlib.Path(__file__).resolve().parent


class Desktop(Session):
    """A screen of one kind: `x11` has a mouse and keys, `wayland` nobody who uses them."""

    def __init__(self, work, kind):
        self.kind = kind
        super().__init__(work)
        self.opened = work / "opened"
        self.install_programs()
        # Neither the settings of who runs the tests nor a proxy: the site is on loopback.
        self.environment |= {
            "GSK_RENDERER": "cairo", "GSETTINGS_BACKEND": "memory", "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1", "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_DATA_DIRS": "/usr/local/share:/usr/share",
            "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        }
        os.environ |= self.environment
        # Started here and not by the bus, so that it also ends with the session.
        self.start(["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"], "accessibility")
        wait(lambda: "true" in self.ask_bus("NameHasOwner", "string:org.a11y.Bus"), "its bus", 60)

    def screen(self):
        if self.kind == "x11":
            return super().screen()
        self.environment |= {"WAYLAND_DISPLAY": "screen", "GDK_BACKEND": "wayland"}
        self.start(["weston", "--backend=headless-backend.so", "--use-pixman", "--socket=screen",
                    "--width=1280", "--height=900", "--idle-time=0"], "screen")
        wait((self.work / "run/screen").exists, "the Wayland compositor", 60)
        return ""

    def ask_bus(self, method, *words):
        return subprocess.run(
            ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/",
             f"org.freedesktop.DBus.{method}", *words],
            env=self.environment, capture_output=True, text=True).stdout

    def install_programs(self):
        """The default program of files and folders writes down what it is asked to open."""
        folder = self.home / ".local/share/applications"
        folder.mkdir(parents=True)
        script = self.work / "opener"
        script.write_text(f'#!/bin/sh\necho "$1" >>{self.opened}\n')
        script.chmod(0o755)
        types = "inode/directory;application/octet-stream;application/x-test;"
        (folder / "opener.desktop").write_text(
            f"[Desktop Entry]\nType=Application\nName=Opener\nExec={script} %u\n"
            f"MimeType={types}\n")
        lists = "".join(f"{kind}=opener.desktop\n" for kind in types.split(";") if kind)
        (folder / "mimeapps.list").write_text(f"[Default Applications]\n{lists}")

    def opened_places(self):
        return self.opened.read_text().split("\n") if self.opened.exists() else []

    def start_source(self, text):
        """A program with one label, which is dragged, and whose text is in the clipboard."""
        (self.work / "source.log").unlink(missing_ok=True)
        return self.start(["/usr/bin/python3", str(HERE / "source.py"), text], "source")

    def keys(self, *keys):
        subprocess.run(["xdotool", "key", *keys], env=self.environment, check=True)

    def find_window(self, title, pid=None):
        """The number of the visible X window whose title a regular expression accepts."""
        words = ["--all", "--pid", str(pid)] if pid else []

        def look():
            return subprocess.run(
                ["xdotool", "search", "--onlyvisible", *words, "--name", title],
                env=self.environment, capture_output=True, text=True).stdout.split()
        return wait(look, f"the X window {title}")[0]

    def focus(self, title):
        """Gives the keys to the window with this title."""
        self.mouse("windowfocus", "--sync", self.find_window(f"^{title}$"))

    def choose_path(self, title, path):
        """Types a path into a dialog for files."""
        self.focus(title)
        self.mouse("type", "--delay", "20", str(path))
        self.keys("Return")

    def mouse(self, *words):
        subprocess.run(["xdotool", *map(str, words)], env=self.environment, check=True)

    def empty(self):
        """Empties the list, the folders and the trash."""
        unfinished = [str(task["Id"]) for task in self.tasks()
                      if task["State"] not in ("completed", "cancelled")]
        if unfinished:
            self.command("cancel", *unfinished, "-y")
        if self.tasks():
            self.command("remove", "all", "-y")
        for folder in (self.downloads, self.saved, self.home / ".local/share/Trash"):
            # The service may be taking a partial file away.
            shutil.rmtree(folder, ignore_errors=True)
        self.downloads.mkdir(exist_ok=True)
        self.saved.mkdir(exist_ok=True)
        self.opened.unlink(missing_ok=True)
