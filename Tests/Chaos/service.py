# SPDX-License-Identifier: Apache-2.0
"""A real idownd on a bus of its own, which is killed and started again."""

import os
import pathlib
import subprocess
import threading
import time

import dbus
import dbus.bus

MANAGER = "org.idown.Manager1"
PATH = "/org/idown/Manager1"
FAKETIME = list(pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
TIMERS = pathlib.Path(__file__).with_name("timers.c")


class Service:
    """The service, its home, and a clock that can be set for it alone."""

    def __init__(self, program, work):
        self.program = program
        self.home = work / "home"
        self.home.mkdir()
        self.bus_process = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--print-address"],
            stdout=subprocess.PIPE,
            stderr=open(work / "bus.log", "w"),
            text=True,
        )
        address = self.bus_process.stdout.readline().strip()
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        self.environment = {**kept, "HOME": str(self.home), "DBUS_SESSION_BUS_ADDRESS": address}
        self.clock = work / "clock"
        self.set_clock(0)
        if FAKETIME:
            timers = work / "timers.so"
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", timers, TIMERS], check=True)
            self.environment |= {
                "LD_PRELOAD": f"{timers} {FAKETIME[0]}",
                "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                "FAKETIME_CACHE_DURATION": "1",
                # The calendar alone: time that passes is not what somebody sets.
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "NO_FAKE_STAT": "1",
            }
        self.log_path = work / "idownd.log"
        self.log = open(self.log_path, "w")
        self.bus = dbus.bus.BusConnection(address)
        self.process = None
        self.killed_at = 0

    @property
    def can_set_clock(self):
        return bool(FAKETIME)

    def set_clock(self, offset):
        """Sets the service's calendar so many seconds off ours."""
        self.clock.write_text(f"{offset:+d}s")

    def start(self):
        """Starts it, and returns once it has its name."""
        self.process = subprocess.Popen([self.program], env=self.environment, stderr=self.log)
        deadline = time.monotonic() + 120
        while not self.bus.name_has_owner(MANAGER):
            if self.process.poll() is not None:
                raise SystemExit(f"idownd ended with {self.process.returncode}: see {self.log_path}")
            if time.monotonic() > deadline:
                raise SystemExit(f"idownd does not come up: see {self.log_path}")
            time.sleep(0.005)
        proxy = self.bus.get_object(MANAGER, PATH, introspect=False)
        self.manager = dbus.Interface(proxy, MANAGER)
        self.properties = dbus.Interface(proxy, "org.freedesktop.DBus.Properties")

    def set(self, name, value):
        self.properties.Set(MANAGER, name, value, signature="ssv")

    def kill_after(self, seconds):
        """Kills it at that moment, whatever it does then."""
        killer = threading.Timer(seconds, self.kill)
        killer.start()
        return killer

    def kill(self):
        self.killed_at = time.monotonic()
        self.process.kill()

    @property
    def runs(self):
        return self.process.poll() is None

    def reap(self):
        """Waits until it is gone, and its name with it; what it ended with."""
        status = self.process.wait()
        while self.bus.name_has_owner(MANAGER):
            time.sleep(0.005)
        return status

    def tasks(self):
        return [
            {str(name): value for name, value in task.items()}
            for task in self.manager.ListTasks(timeout=60)
        ]

    def stop(self):
        if self.process and self.runs:
            self.process.terminate()
            self.process.wait()
        self.bus.close()
        self.bus_process.terminate()
        self.bus_process.wait()
