# SPDX-License-Identifier: Apache-2.0
"""What is measured: the peers as whole processes, and idownd as a service on a bus of its own."""

import os
import pathlib
import subprocess
import sys
import time

import dbus
import dbus.mainloop.glib
from gi.repository import GLib

MANAGER = "org.idown.Manager1"
PATH = "/org/idown/Manager1"


class Failed(Exception):
    """A program that did not do the work."""


class Sample:
    """What one run cost: seconds on the clock and of processor, and the most memory in KiB."""

    def __init__(self, wall, cpu, memory):
        self.wall, self.cpu, self.memory = wall, cpu, memory


def command(words, folder, environment=None):
    """Measures a whole process from its start to its end."""
    start = time.monotonic()
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=dict(os.environ, **(environment or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    if process.returncode != 0:
        raise Failed(f"{' '.join(words)} ended with {process.returncode}")
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def touch_memory(size):
    """Has the kernel hold as much free memory as a run will write, whoever ran before it.

    Memory that lay free for a few seconds may have been given back to the host of a virtual machine
    (virtio_balloon, free page reporting): whoever touches it next then pays for it, up to as much as
    for the write itself. In a process of its own, since a child's peak begins with its parent's.
    """
    program = "import sys; [bytearray(b'x') * (1 << 20) for _ in range(int(sys.argv[1]))]"
    subprocess.run([sys.executable, "-c", program, str((size >> 20) + 1)], check=True)


def memory(pid):
    """The figures of /proc/PID/status, in KiB."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: int(fields[name].split()[0]) for name in ("VmRSS", "RssAnon", "VmHWM")}


class Service:
    """A real idownd."""

    def __init__(self, program, work, environment=None):
        self.work = work
        self.bus_process = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.address = self.bus_process.stdout.readline().strip()
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("XDG_")
        }
        self.environment |= {"HOME": str(work / "home"), "DBUS_SESSION_BUS_ADDRESS": self.address}
        self.environment |= environment or {}
        self.program = program
        self.log = open(work / "idownd.log", "w")
        dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
        self.bus = dbus.bus.BusConnection(self.address)
        self.loop = GLib.MainLoop()
        self.ended, self.awaited = {"completed": 0, "failed": 0}, 0
        for state in self.ended:
            self.bus.add_match_string(f"type='signal',path='{PATH}',member='TaskChanged',arg1='{state}'")
        self.bus.add_message_filter(self.hear)
        self.start()

    def start(self):
        """Starts it, and returns the seconds until it had its name."""
        begin = time.monotonic()
        self.process = subprocess.Popen([self.program], env=self.environment, stderr=self.log)
        while not self.bus.name_has_owner(MANAGER):
            if self.process.poll() is not None:
                raise SystemExit(f"{self.program} ended: see {self.work}/idownd.log")
            time.sleep(0.002)
        wall = time.monotonic() - begin
        proxy = self.bus.get_object(MANAGER, PATH, introspect=False)
        self.manager = dbus.Interface(proxy, MANAGER)
        self.properties = dbus.Interface(proxy, "org.freedesktop.DBus.Properties")
        return wall

    def hear(self, _, message):
        # Not decoded but for its state: a thousand dictionaries in Python would be measured too.
        if message.get_member() == "TaskChanged" and message.get_interface() == MANAGER:
            state = str(message.get_args_list()[1])
            if state in self.ended:
                self.ended[state] += 1
                if sum(self.ended.values()) >= self.awaited:
                    self.loop.quit()
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED

    def set(self, name, value):
        self.properties.Set(MANAGER, name, value, signature="ssv")

    def cpu(self):
        """Seconds of processor so far: clock_getcpuclockid(3)."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def memory(self):
        return memory(self.process.pid)

    def download(self, urls, folder, **options):
        """Measures from the call that adds them to the word that the last one is there."""
        self.ended, self.awaited = {"completed": 0, "failed": 0}, len(urls)
        options = dbus.Dictionary({"directory": str(folder)} | options, "sv")
        # The peak is that of this run: proc(5), clear_refs.
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        cpu, start = self.cpu(), time.monotonic()
        self.manager.AddURLs(urls, options)
        self.loop.run()
        sample = Sample(time.monotonic() - start, self.cpu() - cpu, self.memory()["VmHWM"])
        if self.ended["failed"]:
            why = [task["ErrorMessage"] for task in self.manager.ListTasks() if task["ErrorCode"]]
            raise Failed(f"{self.ended['failed']} tasks of idown failed: {', '.join(why[:1])}")
        self.manager.ClearCompleted()
        return sample

    def stop_program(self):
        self.process.terminate()
        self.process.wait()

    def stop(self):
        self.stop_program()
        self.bus.close()
        self.bus_process.terminate()
        self.bus_process.wait()
