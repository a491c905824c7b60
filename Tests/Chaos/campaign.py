# SPDX-License-Identifier: Apache-2.0
"""What happens between two kills, and what must hold after each."""

import os
import signal
import time

import dbus

from disk import SmallDisk

# The service makes safe what it has every five seconds (a crash costs no more), or every 64 MiB.
CHECKPOINT = 5
LARGEST_LOSS = 64 << 20
# How late a quiet machine may be with that: a timer, a sync of the data and one of the list.
PATIENCE = 1
# Each of the three may be as late as the slowest of our own looks and syncs in the same life.
STEPS = 3
# Between two looks.
PAUSE = 0.2
UNFINISHED = ("waiting", "downloading", "paused", "failed")
# What the bus says in the place of a service that is gone.
GONE = tuple(
    f"org.freedesktop.DBus.Error.{name}" for name in ("NoReply", "ServiceUnknown", "NameHasNoOwner")
)


class Campaign:
    """Users, a host, a disk and a clock that give no peace, and a service that is killed."""

    def __init__(self, service, server, work, dice):
        self.service, self.host, self.dice = service, server, dice
        self.disk = SmallDisk(work, 96)
        self.folder = work / "home" / "Downloads"
        # What the service has promised: the name of each task's file.
        self.names = {}
        # Per unfinished task what it had, and when, in this life of the service: (moment, bytes).
        self.history = {}
        # How late the slowest turn in this life of the service was.
        self.late = 0
        self.probe = open(work / "probe", "wb", buffering=0)
        # The names whose file is not the first any more: a task of it may rightly begin anew.
        self.changed = set()
        # The unfinished tasks' states as last seen.
        self.states = {}
        # The bytes that were asked for to the small disk.
        self.asked = 0
        self.trouble = []
        # The addition whose call has no answer yet.
        self.pending = None
        self.replaced = self.clocks = self.fills = 0
        self.losses = []
        # How old the oldest byte was that a kill has cost, in seconds.
        self.ages = []
        # Kills while something was downloading, and how often one of them could have cost too much.
        self.hits = self.weighed = 0

    def complain(self, text):
        self.trouble.append(text)
        print(f"  WRONG: {text}", flush=True)

    # Between two kills

    def round(self, kill):
        """One life of the service, from its start to its kill."""
        self.service.start()
        self.look(after_kill=kill > 0)
        # They come one after the other, so that the last kill finds some under way as the first.
        self.most_tasks = 6 + kill // 2
        # Most lives are too short for a checkpoint, some long enough to demand one.
        lengths = [(0, 2)] * 12 + [(2, 9)] * 6 + [(11, 15)] * 2
        self.late = 0
        killer = self.service.kill_after(self.dice.uniform(*self.dice.choice(lengths)))
        try:
            while self.service.runs:
                self.act()
                self.turn()
        except dbus.exceptions.DBusException as error:
            # The call under way when the kill comes has no answer: nothing was promised by it.
            if error.get_dbus_name() not in GONE:
                self.complain(f"a call was answered by {error}")
        killer.join()
        status = self.service.reap()
        if status != -signal.SIGKILL:
            self.complain(f"idownd ended by itself, with {status}")
        self.hits += "downloading" in (self.states.get(id) for id in self.history)

    def act(self):
        """Something that people, hosts, disks and clocks do."""
        chance = self.dice.random()
        if chance < 0.25 and self.unfinished < 6 and len(self.names) < self.most_tasks:
            self.add()
        elif chance < 0.33 and self.history:
            id = self.dice.choice(list(self.history))
            verb = self.dice.choice(("Pause", "Resume", "Retry"))
            # A task that has just completed would be fetched once more, beside its file.
            if verb == "Retry" and self.states.get(id) not in ("paused", "failed"):
                verb = "Resume"
            self.quietly(getattr(self.service.manager, verb), id)
        elif chance < 0.36:
            self.quietly(self.service.manager.StartAll)
        elif chance < 0.39 and self.names:
            name = self.dice.choice(list(self.names.values()))
            self.host.replace(name)
            self.changed.add(name)
            self.replaced += 1
        elif chance < 0.42 and self.service.can_set_clock:
            self.service.set_clock(self.dice.choice((0, -7200, -86400, 3600)))
            self.clocks += 1
        elif chance < 0.46:
            if self.dice.random() < 0.5:
                self.fills += self.disk.fill()
            else:
                self.disk.make_room()

    @property
    def unfinished(self):
        return len(self.history)

    def add(self):
        # A call that had no answer is made once more, as scripts may with a token.
        if not self.pending:
            size = self.dice.choice((300_000, 3 << 20, 12 << 20, 24 << 20))
            url = self.host.add(size)
            options = {"token": url, "connections": dbus.UInt32(self.dice.choice((1, 2, 4)))}
            # All that is asked for has room there, beside the reserve that idown leaves: 16 MiB.
            has_room = self.asked + size <= 76 << 20
            if self.disk.path and self.dice.random() < 0.25 and has_room:
                self.asked += size
                options["directory"] = str(self.disk.path)
            self.pending = (url, options)
        url, options = self.pending
        name = url.rsplit("/", 1)[1]
        id = str(self.service.manager.AddURLWithOptions(url, dbus.Dictionary(options, "sv")))
        self.pending = None
        if any(other != id and known == name for other, known in self.names.items()):
            self.complain(f"{name} was added twice")
        if id not in self.names:
            self.names[id] = name
            self.history[id] = []

    def quietly(self, verb, *arguments):
        """A verb that the task's state may refuse."""
        try:
            verb(*arguments)
        except dbus.exceptions.DBusException as error:
            if not error.get_dbus_name().startswith("org.idown.Error.InvalidState"):
                raise

    def turn(self):
        """A look at the list, a sync of the same disk, a timer: what they take, all who do so bear."""
        start = time.monotonic()
        try:
            self.look()
            self.probe.write(b".")
            os.fdatasync(self.probe.fileno())
            time.sleep(PAUSE)
        finally:
            self.late = max(self.late, time.monotonic() - start - PAUSE)

    # What must hold

    def look(self, after_kill=False):
        """Holds the list against what was promised, and remembers what each task has."""
        tasks = {str(task["Id"]): task for task in self.service.tasks()}
        # What is in the answer was there when it came, and perhaps not much before.
        now = time.monotonic()
        for id in self.names.keys() - tasks.keys():
            self.complain(f"task {id} is lost")
            del self.names[id]
            self.history.pop(id, None)
        for id, task in tasks.items():
            # One whose call had no answer is there all the same, perhaps.
            name = self.names.setdefault(id, str(task["URL"]).rsplit("/", 1)[1])
            if str(task["State"]) not in UNFINISHED:
                if self.history.pop(id, None) is not None:
                    self.verify(id, task)
                continue
            self.states[id] = str(task["State"])
            bytes = int(task["DownloadedBytes"])
            if after_kill:
                if name not in self.changed:
                    self.compare(id, bytes)
                self.history[id] = []
            self.history.setdefault(id, []).append((now, bytes))

    def compare(self, id, bytes):
        """What the record has after a kill against what the task had before."""
        past = self.history.get(id)
        if not past:
            return
        # A file that was begun anew had less, and rightly: only what came since counts.
        start = max((i for i in range(1, len(past)) if past[i][1] < past[i - 1][1]), default=0)
        past = past[start:]
        self.losses.append(max(0, past[-1][1] - bytes))
        patience = PATIENCE + STEPS * self.late
        due = self.service.killed_at - CHECKPOINT - patience
        safe = max((entry[1] for entry in past if entry[0] <= due), default=0)
        self.weighed += safe > 0
        lost = [self.service.killed_at - moment for moment, had in past if had > bytes]
        self.ages += lost[:1]
        if bytes < safe:
            self.complain(
                f"task {id} had {safe} bytes {CHECKPOINT + patience:.1f} s before, now {bytes}"
            )
        elif bytes < past[-1][1] - LARGEST_LOSS:
            self.complain(f"task {id} had {past[-1][1]} bytes before the kill, now {bytes}")

    def verify(self, id, task):
        name, path = self.names[id], str(task["Path"])
        if str(task["State"]) != "completed":
            return self.complain(f"task {id} is {task['State']}")
        try:
            if not self.host.knows(name, path):
                self.complain(f"{path} of task {id} is no version of {name}")
        except OSError as error:
            self.complain(f"the file of task {id}: {error}")

    def conclude(self, limit=600):
        """No more faults: everything ends, and nothing of ours is left over."""
        self.disk.make_room()
        self.service.set_clock(0)
        self.service.start()
        self.look(after_kill=True)
        deadline = time.monotonic() + limit
        while self.history and time.monotonic() < deadline:
            self.service.manager.StartAll()
            self.look()
            time.sleep(0.5)
        for id in self.history:
            self.complain(f"task {id} does not end")
        tasks = self.service.tasks()
        paths = {str(task["Path"]) for task in tasks}
        for task in tasks:
            if str(task["State"]) == "completed":
                self.verify(str(task["Id"]), task)
        folders = [self.folder] + ([self.disk.path] if self.disk.path else [])
        for folder in folders:
            for entry in folder.iterdir() if folder.is_dir() else []:
                if str(entry) not in paths and entry != self.disk.filler:
                    self.complain(f"{entry} is left over")
        if len(paths) != len(tasks):
            self.complain("two tasks have one file")
        for entry in (self.service.home / ".local/state/idown").iterdir():
            if any(word in entry.name for word in ("broken", ".new")):
                self.complain(f"{entry} is left over")
        self.service.process.terminate()
        if status := self.service.reap():
            self.complain(f"idownd was asked to end, and did with {status}")
        # A campaign in which nothing happened proves nothing.
        if not self.hits:
            self.complain("no kill came while something was downloading")
        return len(tasks)
