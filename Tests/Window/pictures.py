# SPDX-License-Identifier: Apache-2.0
"""pictures.py FOLDER: takes the pictures of the window that README.md and the metainfo show.

It needs what run sets up, ImageMagick and a font with Chinese signs (fonts-noto-cjk):
Tests/Window/run PROGRAMS pictures FOLDER."""

import os
import pathlib
import shutil
import subprocess
import sys
import time

from desktop import Desktop
from session import wait
from website import MIB, File, Site
from window import Role, Window

folder = pathlib.Path(sys.argv[1]).resolve()
# What says nothing of this machine: a folder, and hosts that the site stands in for as a proxy.
DOWNLOADS = "/tmp/Downloads"
IMAGE = "debian-12.8.0-amd64-netinst.iso"
desktop = Desktop(pathlib.Path(os.environ["IDOWN_WORK"]), "x11")
site = Site()


def add(host, name, size, state="completed", rate=0):
    if state != "failed":
        site.files[f"/{name}"] = File(name=name, size=size, rate=rate, seed=len(name))
    id = desktop.command("add", f"http://{host}.example.org/{name}").strip()

    def state_now():
        return next(task for task in desktop.tasks() if str(task["Id"]) == id)
    if state == "paused":
        wait(lambda: int(state_now()["DownloadedBytes"]) > size // 5, "a part of the file", 30)
        desktop.command("pause", id)
    wait(lambda: state_now()["State"] == state, f"{name} {state}", 60)


def take(name, prepare=lambda window: None, width=1000, height=520, **environment):
    window = Window(desktop, **environment)
    wait(lambda: window.rows or window.seek("No Downloads Yet"), "the rows")
    window.place(0, 0, width, height)
    # No row is marked by the pointer.
    desktop.mouse("mousemove", 1270, 890)
    prepare(window)
    # What moves in has to arrive.
    time.sleep(1.5)
    subprocess.run(["import", "-window", "root", "-crop", f"{width}x{height}+0+0", "+repage",
                    "-strip", "-define", "png:compression-level=9",
                    str(folder / f"window-{name}.png")], env=desktop.environment, check=True)
    window.close()


def main():
    desktop.command("config", "download-directory", DOWNLOADS)
    desktop.command("config", "proxy", site.url(""))
    take("empty")
    add("mirror", "fedora-workstation-41.iso", 12 * MIB)
    add("www", "annual-report-2025.pdf", 3 * MIB)
    add("music", "field-recordings.flac", 30 * MIB, "paused", 8 * MIB)
    add("archive", "old-release.tar.xz", MIB, "failed")
    add("films", "holiday-film.mkv", 900 * MIB, "downloading", MIB)
    add("cdimage", IMAGE, 600 * MIB, "downloading", MIB)

    def details(window):
        window.row(IMAGE).act("row.details")
        wait(lambda: window.seek(lambda text: "http/1.1" in text), "the connections")
        # For a plot of the speed.
        time.sleep(20)

    def dialog(keys, title):
        """Opens a dialog in the middle of the window."""
        def open_it(window):
            window.focus()
            desktop.keys(keys)
            frame = window.find(title, Role.FRAME)
            width, height = frame.extents()[2:]
            window.place((1000 - width) // 2, (700 - height) // 2, width, height, title)
            return frame
        return open_it

    def adding(window):
        dialog("ctrl+n", "Add Downloads")(window)
        window.field("Links, one in a line").write("http://www.example.org/annual-report-2025.pdf")
        window.find(lambda text: "3.0 MiB" in text)
    take("details", details, height=640)
    take("list")
    take("dark", ADW_DEBUG_COLOR_SCHEME="prefer-dark")
    take("narrow", width=360)
    take("chinese", LANGUAGE="zh_CN")
    take("add", adding, height=700)
    take("preferences", dialog("ctrl+comma", "Preferences"), height=700)


try:
    main()
finally:
    desktop.close()
    site.close()
    shutil.rmtree(DOWNLOADS, ignore_errors=True)
