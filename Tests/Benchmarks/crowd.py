#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What one client notices of another that asks for far more than its share.

usage: crowd.py SERVICE KIND URL ROOT   (the other client, in a sandbox where ROOT is not empty)

The same is sent to the C library's echo service, whose answers are measured beside.
"""

import json
import os
import pathlib
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time

import dbus

from caller import ECHO, NAME, PATH, Caller

# Between two questions of the client that is measured.
PAUSE = 0.02
# The other client calls so often at once.
CALLS = 12
# 60 MB of few long URLs, or of many short ones; those of the last kind are all refused.
KINDS = {"long": (930, 64_000), "short": (95_000, 600), "wrong": (930, 64_000)}


def urls(kind, stem, place):
    count, length = KINDS[kind]
    scheme = "x" if kind == "wrong" else "http"
    return [f"{scheme}://127.0.0.1:9/{stem}/{place}/{number:06}/".ljust(length, "x")
            for number in range(count)]


def flood(service, kind, stem, root):
    """The other client: tells when it is ready, begins when it is told, prints what it was answered."""
    target = (NAME, PATH, NAME) if service == NAME else (ECHO, "/", ECHO)
    path = os.environ["DBUS_SESSION_BUS_ADDRESS"].split("path=")[1]
    if root:
        os.chdir(os.path.dirname(path))
        os.chroot(root)
        path = os.path.basename(path)
    caller = Caller(f"unix:path={path}")
    if kind == "silent":
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(100_000):
            words = ("Pause", stem) if number % 2 else ("ListTasks",)
            caller.send(*target, *words, reply=False)
        # Its answer comes when all before it were served.
        print(json.dumps(caller.outcomes([caller.send(*target, "GetTask", stem)])))
        return
    calls = [caller.message(*target, "AddURLs", urls(kind, stem, place), {"paused": True})
             for place in range(CALLS)]
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(caller.outcomes([caller.send_made(call) for call in calls])))


class Waits:
    """How long the answers of idownd and of the echo service took, each beside the same load."""

    def __init__(self, caller, id):
        self.caller = caller
        self.questions = {NAME: (NAME, PATH, NAME, "GetTask", id), ECHO: (ECHO, "/", ECHO, "Echo", id)}
        self.times = {name: [] for name in self.questions}

    def ask(self, name, pause=PAUSE):
        start = time.perf_counter()
        self.caller.call(*self.questions[name])
        self.times[name].append(time.perf_counter() - start)
        time.sleep(pause)

    def at(self, share, name):
        """The time in ms that this share of the answers took at most."""
        times = sorted(self.times[name])
        return times[min(len(times) - 1, int(len(times) * share))] * 1e3

    def row(self, work, share, goal):
        ours, echo = (self.at(share, name) if self.times[name] else None for name in self.questions)
        word = "longest wait" if share == 1 else f"{share:.0%} of the waits are at most"
        beside = f"; of the echo service {echo:.1f} ms, {ours / echo:.2f}×" if echo else ""
        print(f"| {work}: {word} | {ours:.1f} ms of {len(self.times[NAME])} calls{beside} | {goal} |",
              flush=True)


def beside(session, waits, service, kind, stem, root=""):
    """Asks while the other client is at work; what that was answered."""
    other = subprocess.Popen(
        [sys.executable, "-B", __file__, service, kind, stem, root], env=session.environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other.stdout.readline()
    print(file=other.stdin, flush=True)
    # The answer to the other client is the end of its load, not its own end.
    while not select.select([other.stdout], [], [], 0)[0]:
        waits.ask(service)
    answers = json.loads(other.stdout.readline())
    other.wait()
    return answers


def peak(session):
    """The most memory that the service has had so far, in MB."""
    text = pathlib.Path(f"/proc/{session.service.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text)[1]) / 1e3


def count(session, text):
    query = {"text": text, "limit": dbus.UInt32(1), "properties": dbus.Array(["State"], "s")}
    return int(session.manager.FindTasks(dbus.Dictionary(query, "sv"), timeout=600)[1])


def large_calls(session, caller, id, kinds, root):
    """Twelve calls of 60 MB at once; the answered ones must be there after a crash."""
    place = "in a sandbox" if root else "outside a sandbox"
    waits, promised, answers = Waits(caller, id), {}, []
    for number, kind in enumerate(kinds):
        stem = f"{'sandboxed' if root else 'free'}-{number}"
        beside(session, waits, ECHO, kind, stem, root)
        outcomes = beside(session, waits, NAME, kind, stem, root)
        answers += outcomes
        for call, outcome in enumerate(outcomes):
            if kind != "wrong":
                promised[f"/{stem}/{call}/"] = 0 if outcome else KINDS[kind][0]
    work = f"{CALLS} calls of 60 MB, {len(kinds)} times, {place}"
    waits.row(work, 0.99, "≤ 1.5×")
    tally = ", ".join(f"{answers.count(name)} {name or 'done'}" for name in sorted(set(answers)))
    print(f"| {work}: memory of the service at most; answers | {peak(session):.0f} MB; {tally} | < 300 MB |")
    session.restart()
    found = {text: count(session, text) for text in promised}
    wrong = {text: number for text, number in found.items() if number != promised[text]}
    print(f"| {work}: answered otherwise than done, after kill -9 | {wrong or 'none'} | none |", flush=True)


def one_after_another(session, caller, stem, rounds=9, calls=200):
    """AddURL, echo and fdatasync(2) by turns; the medians of the rounds' means."""
    times = {"AddURL": [], "echo": [], "fdatasync": []}
    with open(f"{session.home}/synced", "wb", buffering=0) as file:

        def sync(number):
            file.write(bytes(4096))
            os.fdatasync(file.fileno())

        work = {
            "AddURL": lambda number: caller.call(NAME, PATH, NAME, "AddURL", f"{stem}/{number}"),
            "echo": lambda number: caller.call(ECHO, "/", ECHO, "Echo", f"{stem}/{number}"),
            "fdatasync": sync,
        }
        for series in range(rounds + 1):
            for name, call in work.items():
                start = time.perf_counter()
                for number in range(calls):
                    call(f"{series}-{number}")
                if series:
                    times[name].append((time.perf_counter() - start) / calls * 1e3)
    ours, echo, disk = (statistics.median(values) for values in times.values())
    goal = 3 * (echo + disk) + 0.2
    print(f"| one AddURL after another; an echo and an fdatasync take {echo:.2f} and {disk:.2f} ms"
          f" | {ours:.2f} ms | ≤ {goal:.2f} ms |", flush=True)


def crowd(session, caller, silent, tasks):
    """What other clients, and a client with a long list, do to one that asks a little.

    `silent` is the URL of a host that answers nothing.
    """
    paused = {"paused": dbus.Boolean(True, variant_level=1)}
    id = str(session.manager.AddURLWithOptions("http://127.0.0.1:9/of/the/crowd", paused))
    print(f"| load average when the crowd comes | {os.getloadavg()[0]:.1f} | |")
    one_after_another(session, caller, f"{silent}/one")
    session.manager.PauseAll(timeout=600)
    waits = Waits(caller, id)
    for _ in range(100):
        waits.ask(NAME)
        waits.ask(ECHO)
    waits.row("nobody else", 0.99, "")
    waits = Waits(caller, id)
    for service in (ECHO, NAME):
        beside(session, waits, service, "silent", id)
    waits.row("100,000 calls without reply", 1, "≤ 50 ms")
    with tempfile.TemporaryDirectory(prefix="idown-sandbox-") as root:
        os.chmod(root, 0o755)
        pathlib.Path(root, ".flatpak-info").write_text("[Application]\nname=org.example.Crowd\n")
        for sandbox in ("", root):
            large_calls(session, caller, id, ["long", "wrong", "short"], sandbox)
    for start in range(0, tasks, 50_000):
        session.manager.AddURLs(
            [f"{silent}/many/{number}" for number in range(start, min(tasks, start + 50_000))],
            paused, timeout=900)
    both = {verb: Waits(caller, id) for verb in ("StartAll", "PauseAll")}
    for _ in range(3):
        for verb, waits in both.items():
            other = subprocess.Popen(
                [sys.executable, "-c",
                 f"import dbus, dbus.bus; b = dbus.bus.BusConnection('{session.address}');"
                 f"input(b.get_object('{NAME}', '{PATH}', introspect=False).{verb}("
                 f"dbus_interface='{NAME}', timeout=900))"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            while not select.select([other.stdout], [], [], 0)[0]:
                waits.ask(NAME, pause=0.002)
            other.communicate(b"\n")
    for verb, waits in both.items():
        waits.row(f"{verb} of {tasks:,} tasks, 3 times", 0.99, "≤ 50 ms")


if __name__ == "__main__":
    flood(*sys.argv[1:])
