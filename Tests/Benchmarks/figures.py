# SPDX-License-Identifier: Apache-2.0
"""Figures of the service itself: memory, wake-ups, round trips, a long list."""

import os
import pathlib
import pty
import re
import statistics
import subprocess
import threading
import time

import programs
import servers


def wake_ups(pid):
    """How often each thread went to sleep by itself: proc(5), voluntary_ctxt_switches."""
    counts = {}
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (thread / "status").read_text()
        counts[thread.name] = int(re.search(r"\nvoluntary_ctxt_switches:\s*(\d+)", text)[1])
    return counts


def idle(service, _):
    """Right after a start, and over ten seconds of doing nothing."""
    service.stop_program()
    service.start()
    # The pools' spare threads end by themselves after five seconds.
    time.sleep(10)
    before = wake_ups(service.process.pid)
    time.sleep(10)
    after = wake_ups(service.process.pid)
    woken = sum(count - before.get(thread, 0) for thread, count in after.items())
    memory = service.memory()
    aria2 = subprocess.Popen(
        ["aria2c", "-q", "--enable-rpc", f"--rpc-listen-port={servers.free_port()}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(1)
    theirs = programs.memory(aria2.pid) if aria2.poll() is None else None
    aria2.terminate()
    aria2.wait()

    def beside(kind):
        return f"{memory[kind]} kB" + (f" (aria2c with RPC: {theirs[kind]} kB)" if theirs else "")

    return [
        ("idle: private memory", beside("RssAnon"), "≤ 8,000 kB"),
        ("idle: resident memory", beside("VmRSS"), "≤ 40,000 kB"),
        ("idle: wake-ups of its threads in 10 s", str(woken), "0"),
    ]


def spam(service, *words):
    """How long `dbus-test-tool` takes for 10,000 calls, one after the other.

    They are of an interface that idownd does not have: its answers are errors.
    """
    start = time.monotonic()
    subprocess.run(
        ["dbus-test-tool", "spam", "--session", "--count=10000", *words],
        env=service.environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.monotonic() - start


def bus(service, _):
    """The service's answer to calls, beside the C library's own echo."""
    echo = subprocess.Popen(
        ["dbus-test-tool", "echo", "--session", "--name=org.example.Echo"],
        env=service.environment,
    )
    while not service.bus.name_has_owner("org.example.Echo"):
        time.sleep(0.01)
    ratios = []
    for _ in range(6):
        theirs = spam(service, "--dest=org.example.Echo")
        ours = spam(service, f"--dest={programs.MANAGER}")
        ratios.append(ours / theirs)
    echo.terminate()
    echo.wait()
    ratio = statistics.median(ratios[1:])
    work = "a D-Bus call and its answer, as a multiple of the C echo service's"
    return [(work, f"{ratio:.2f}", "≤ 1.3")]


def listing(service, options):
    """How long `idown list` takes, in milliseconds."""
    walls = [
        programs.command(
            [options.programs + "/idown", "list"], service.work, service.environment
        ).wall
        for _ in range(11)
    ]
    return f"{statistics.median(walls[1:]) * 1000:.0f} ms"


def paused(service, count):
    """Adds tasks that do nothing, with URLs of a usual length."""
    urls = [
        f"http://127.0.0.1:9/a/rather/long/path/of/a/server/file-{number:06}.iso?key=0123456789"
        for number in range(count)
    ]
    options = programs.dbus.Dictionary({"directory": str(service.work), "paused": True}, "sv")
    return service.manager.AddURLs(urls, options, timeout=600)


def command(service, options):
    """`idown list` with the service up, without tasks and with many."""
    empty = listing(service, options)
    ids = paused(service, 10_000)
    full = listing(service, options)
    service.manager.RemoveTasks(ids, programs.dbus.Dictionary({}, "sv"), timeout=600)
    return [
        ("`idown list`", empty, "≤ 30 ms"),
        ("`idown list` of 10,000 downloads", full, "≤ 200 ms"),
    ]


def watch(service, options):
    """What the live list of 10,003 tasks costs while three of them come slowly, over ten seconds."""
    ids = paused(service, 10_000)
    host = servers.Trickle()
    where = programs.dbus.Dictionary({"directory": str(service.work)}, "sv")
    ids += service.manager.AddURLs([f"{host.url}/{number}" for number in range(3)], where)
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [options.programs + "/idown", "watch"],
        env=service.environment | {"TERM": "xterm-256color", "LINES": "50", "COLUMNS": "160"},
        stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
    )
    os.close(inner)

    def drain():
        try:
            while os.read(terminal, 1 << 16):
                pass
        except OSError:
            return

    threading.Thread(target=drain, daemon=True).start()
    # The list is read and drawn by then.
    time.sleep(3)
    clock = ~process.pid << 3 | 2
    before = time.clock_gettime(clock)
    time.sleep(10)
    part = (time.clock_gettime(clock) - before) / 10
    process.terminate()
    process.wait()
    os.close(terminal)
    service.manager.RemoveTasks(ids, programs.dbus.Dictionary({}, "sv"), timeout=600)
    host.stop()
    work = "`idown watch` of 10,003 downloads, 3 of them running"
    return [(work, f"{part * 100:.1f} % of a core", "< 5 %")]


def tasks(service, _):
    """A list of 100,000 tasks: adding, starting, asking."""
    options = programs.dbus.Dictionary({"directory": str(service.work), "paused": True}, "sv")
    begin, ids = time.monotonic(), []
    for first in range(0, 100_000, 1000):
        urls = [f"http://127.0.0.1:9/{number}" for number in range(first, first + 1000)]
        ids += service.manager.AddURLs(urls, options)
    added = time.monotonic() - begin
    service.stop_program()
    started = service.start()
    times = []
    for id in ids[::97]:
        begin = time.monotonic()
        service.manager.GetTask(id)
        times.append(time.monotonic() - begin)
    slowest = sorted(times)[len(times) * 99 // 100] * 1000
    return [
        ("100,000 tasks: adding them, 1,000 per call", f"{added:.1f} s", ""),
        ("100,000 tasks: start of the service", f"{started:.2f} s", "≤ 1 s"),
        ("100,000 tasks: resident memory", f"{service.memory()['VmRSS']} kB", "≤ 100,000 kB"),
        ("100,000 tasks: 99 % of the calls of GetTask take at most", f"{slowest:.1f} ms", "≤ 2 ms"),
    ]
