# SPDX-License-Identifier: Apache-2.0
"""scrolling.py [--judge] [COUNT]: scrolls through a list of so many downloads (100,000) by the mouse's wheel.

Tells the time between frames, and the time of our own code in each turn of the loop: all signal
handlers, tasks and idle calls, with what GTK does when they call it. The kernel's probes measure both without a
change of the program; that takes root. Run it with release programs on a quiet machine:
Tests/Window/run PROGRAMS scrolling; with --judge it fails where a goal is missed."""

import os
import pathlib
import re
import subprocess
import time

from desktop import Desktop
from goals import COUNTS, judge, tell
from session import PROGRAMS
from website import Site
from window import PROGRAM, Window

TRACING = pathlib.Path("/sys/kernel/tracing")
LIBRARIES = pathlib.Path("/usr/lib")
# The marshaller of all signals' closures, what runs the tasks of the main actor, and what fills rows
# while GTK has nothing to do.
OWN = {"handler": r"\S*iDownWindow6ObjectV6answer\S*GClosure\S*fU0_(?:To)?", "tasks": "_dispatch_main_queue_callback_4CF",
       "rows": r"\S*iDownWindow8RowModelC8fillSoon\S*fU_(?:To)?"}
GTK = {"frame": ("libgtk-4.so.1", "gsk_renderer_render"), "turn": ("libglib-2.0.so.0", "g_main_context_dispatch")}


def places(program, options, name):
    """Where functions stand in a file, as the kernel counts."""
    table = subprocess.check_output(["nm", *options, program], text=True)
    address = int(re.search(rf"^(\w+) [tT] {name}(?:@@\S+)?$", table, re.M)[1], 16)
    for line in subprocess.check_output(["readelf", "-lW", program], text=True).splitlines():
        part = re.match(r"\s+LOAD\s+(0x\w+)\s+(0x\w+)\s+\S+\s+(0x\w+)", line)
        if part:
            offset, start, size = (int(number, 16) for number in part.groups())
            if start <= address < start + size:
                return address - start + offset
    raise LookupError(name)


def probes():
    for event, name in OWN.items():
        yield event, PROGRAM, places(f"{PROGRAMS}/idown-window", [], name)
    for event, (library, name) in GTK.items():
        path = next(LIBRARIES.glob(f"*/{library}")).resolve()
        yield event, path, places(path, ["-D"], name)


def trace(isOn):
    (TRACING / "events/idown/enable").write_text("1" if isOn else "0")


def share(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def told(pid):
    """Milliseconds: of our own code in each turn that had some, and between frames."""
    own, frames, used, depth, since = [], [], 0, 0, 0
    for line in (TRACING / "trace").read_text().splitlines():
        entry = re.match(rf"\s*.+-{pid}\s+\[\d+\]\s+\S+\s+([\d.]+): (\w+):", line)
        if not entry:
            continue
        now, event = 1000 * float(entry[1]), entry[2]
        if event in OWN:
            since = since if depth else now
            depth += 1
        elif event.removesuffix("_end") in OWN:
            depth -= 1
            used += 0 if depth else now - since
        elif event == "turn":
            used = 0
        elif event == "turn_end" and used:
            own.append(used)
        elif event == "frame":
            frames.append(now)
    return own, [after - before for before, after in zip(frames, frames[1:])]


def main(desktop, site):
    count = COUNTS[0] if COUNTS else 100_000
    path = desktop.work / "urls"
    path.write_text("".join(f"{site.url(f'/{n}.bin')}\n" for n in range(count)))
    desktop.command("add", "--paused", "-i", str(path))
    window = Window(desktop)
    time.sleep(2)
    if not (TRACING / "uprobe_events").exists():
        subprocess.check_call(["mount", "-t", "tracefs", "tracefs", str(TRACING)])
    events = "".join(f"p:idown/{event} {path}:{place:#x}\nr:idown/{event}_end {path}:{place:#x}\n"
                     for event, path, place in probes())
    (TRACING / "uprobe_events").write_text(events)
    try:
        (TRACING / "buffer_size_kb").write_text("20000")
        (TRACING / "trace").write_text("")
        desktop.mouse("mousemove", "--window", window.number, 500, 350)
        trace(True)
        desktop.mouse("click", "--repeat", 1000, "--delay", 8, 5)
        trace(False)
        own, frames = told(window.process.pid)
    finally:
        trace(False)
        (TRACING / "uprobe_events").write_text("")
    work = f"scrolling through {count:,} downloads, at the 99th of 100: "
    tell(work + "own code in a turn of the loop", round(share(own, .99), 1), "ms", 4)
    tell(work + "time between frames", round(share(frames, .99), 1), "ms", 33)
    window.close()
    judge()


if __name__ == "__main__":
    desktop = Desktop(pathlib.Path(os.environ["IDOWN_WORK"]), "x11")
    site = Site()
    try:
        main(desktop, site)
    finally:
        desktop.close()
        site.close()
