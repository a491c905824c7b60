# SPDX-License-Identifier: Apache-2.0
"""pictures.py FOLDER: takes the pictures of the window that README.md and the metainfo show.

It needs what run sets up, and ImageMagick: Tests/Window/run PROGRAMS pictures FOLDER."""

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
# A path that says nothing of this machine.
DOWNLOADS = "/tmp/Downloads"
desktop = Desktop(pathlib.Path(os.environ["IDOWN_WORK"]), "x11")
site = Site()


def add(name, size, state="completed", rate=0):
    site.files[f"/{name}"] = File(name=name, size=size, rate=rate, seed=len(name))
    url = site.url(f"/{name}" if state != "failed" else f"/gone/{name}")
    id = desktop.command("add", url).strip()

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
    prepare(window)
    # What moves in has to arrive.
    time.sleep(1.5)
    subprocess.run(["import", "-window", "root", "-crop", f"{width}x{height}+0+0", "+repage",
                    str(folder / f"window-{name}.png")], env=desktop.environment, check=True)
    window.close()


def main():
    desktop.command("config", "download-directory", DOWNLOADS)
    take("empty")
    add("fedora-workstation-41.iso", 12 * MIB)
    add("annual-report-2025.pdf", 3 * MIB)
    add("field-recordings.flac", 30 * MIB, "paused", 8 * MIB)
    add("old-release.tar.xz", MIB, "failed")
    add("holiday-film.mkv", 300 * MIB, "downloading", MIB)
    add("debian-12.8.0-amd64-netinst.iso", 600 * MIB, "downloading", 3 * MIB)
    name = "debian-12.8.0-amd64-netinst.iso"

    def details(window):
        window.row(name).act("row.details")
        wait(lambda: window.seek(lambda text: text.startswith("127.0.0.1")), "the connections")

    def dialog(keys, title):
        def open_it(window):
            window.focus()
            desktop.keys(keys)
            window.find(title, Role.FRAME)
        return open_it
    take("list")
    take("details", details, height=640)
    take("dark", ADW_DEBUG_COLOR_SCHEME="prefer-dark")
    take("narrow", width=360)
    take("chinese", LANGUAGE="zh_CN")
    take("add", dialog("ctrl+n", "Add Downloads"), height=700)
    take("preferences", dialog("ctrl+comma", "Preferences"), height=700)


try:
    main()
finally:
    desktop.close()
    site.close()
    shutil.rmtree(DOWNLOADS, ignore_errors=True)
