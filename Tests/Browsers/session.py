# SPDX-License-Identifier: Apache-2.0
"""A home with a private bus, a screen, and idown's service, which the bus starts."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAMS = pathlib.Path(os.environ["IDOWN_PROGRAMS"])
EXTENSION = ROOT / "desktop/browser"
HOST = "org.idown.browser"
# "yes" where a package has installed idown and the extension, "removed" where it was removed again;
# else the tests set up both.
INSTALLED = os.environ.get("IDOWN_INSTALLED", "")


def wait(condition, what, seconds=15):
    """Returns the first value of a condition that counts as true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"in {seconds} s not seen: {what}")
        time.sleep(0.02)
    return value


class RestartAfterFailure:
    """Starts the program under test again after each failed test, which may have left any state."""

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            self.restart()
        return result


class Session:
    def __init__(self, work):
        self.work, self.home = work, work / "home"
        self.downloads, self.saved = self.home / "Downloads", self.home / "saved"
        for folder in (self.downloads, self.saved, work / "run", work / "services"):
            folder.mkdir(parents=True)
        (work / "run").chmod(0o700)
        self.idown, self.idownd = PROGRAMS / "idown", PROGRAMS / "idownd"
        self.children = []
        # The ends of links that idown may confirm by itself, a minute after their browser was killed.
        self.left = []
        self.environment = {
            "HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
            "XDG_RUNTIME_DIR": str(work / "run"), "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local/share"), "MOZ_CRASHREPORTER_DISABLE": "1",
            "XDG_STATE_HOME": str(self.home / ".local/state"), "TMPDIR": str(work),
            "GTK_USE_PORTAL": "0", "NO_AT_BRIDGE": "1",
        }
        (work / "services/org.idown.Manager1.service").write_text(
            f"[D-BUS Service]\nName=org.idown.Manager1\nExec={self.idownd}\n")
        (work / "bus.conf").write_text(
            '<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" '
            '"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">\n'
            f"<busconfig><type>session</type><listen>unix:path={work}/bus</listen>"
            f"<servicedir>{'/usr/share/dbus-1' if INSTALLED else work}/services</servicedir><auth>EXTERNAL</auth>"
            '<policy context="default"><allow send_destination="*" eavesdrop="true"/>'
            '<allow eavesdrop="true"/><allow own="*"/></policy></busconfig>\n')
        self.environment["DISPLAY"] = self.screen()
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={work}/bus"
        self.start(["dbus-daemon", "--nofork", f"--config-file={work}/bus.conf"], "bus")
        wait((work / "bus").exists, "the bus", 60)
        if not INSTALLED:
            self.install_host()

    def screen(self):
        reading, writing = os.pipe()
        self.start(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x900x24", "-nolisten",
                    "tcp"], "screen", pass_fds=[writing])
        os.close(writing)
        with os.fdopen(reading) as pipe:
            return f":{pipe.readline().strip()}"

    def start(self, words, log, give=subprocess.DEVNULL, **options):
        with open(self.work / f"{log}.log", "ab") as file:
            child = subprocess.Popen(words, env=self.environment, stdin=give,
                                     stdout=file, stderr=file, **options)
        self.children.append(child)
        return child

    # The native host

    def install_host(self, program=None):
        manifest = {"name": HOST, "description": "idown", "type": "stdio"}
        # The program by its own name: a link would hide which one it is.
        wrapper = self.work / "host"
        wrapper.write_text(program or f'#!/bin/sh\nexec {self.idown} browser-host "$@"\n')
        wrapper.chmod(0o755)
        manifest["path"] = str(wrapper)
        origin = {"allowed_origins": ["chrome-extension://dofnlljjpebfojmpiecjbnkaemhcdfpm/"]}
        for folder, who in ((self.work / "chromium/NativeMessagingHosts", origin),
                            (self.home / ".mozilla/native-messaging-hosts",
                             {"allowed_extensions": ["browser@idown.org"]})):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{HOST}.json").write_text(json.dumps(manifest | who))

    def remove_host(self):
        for path in (self.work / "chromium/NativeMessagingHosts", self.home / ".mozilla"):
            shutil.rmtree(path)

    def processes(self, program):
        """The ids of the processes of this session that run a program by this path.

        The user's own service may run the same one.
        """
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(entry / "exe") == str(program) \
                        and f"HOME={self.home}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                pass
        return found

    def hosts(self):
        return [pid for pid in self.processes(self.idown.resolve())
                if b"browser-host" in arguments(pid)]

    def kill_hosts(self):
        for pid in self.hosts():
            kill(pid)

    # The service

    def command(self, *words):
        """What a command of idown prints."""
        result = subprocess.run([self.idown, *words], env=self.environment, timeout=30,
                                capture_output=True, text=True)
        # A service that is killed while it is asked answers nothing.
        if result.returncode == 69 and words[0] == "list":
            print(f"asked again: {result.stderr.strip()}")
            return self.command(*words)
        if result.returncode:
            log = (self.work / "bus.log").read_text(errors="replace").splitlines()[-5:]
            raise RuntimeError(f"idown {words}: {result.returncode} {result.stderr}; the log: {log}")
        return result.stdout

    def tasks(self):
        """All tasks but those that a killed browser has left."""
        return [task for task in map(json.loads, self.lines())
                if not task["URL"].endswith(tuple(self.left))]

    def lines(self):
        text = self.command("list", "--json").strip()
        return [json.dumps(task) for task in json.loads(text)] if text.startswith("[") else \
            text.splitlines()

    def task(self, path):
        """The finished task of a path of the site, once it is there."""
        def look():
            return [task for task in self.tasks()
                    if path in task["URL"] and task["State"] == "completed"]
        return wait(look, f"a finished task of {path}", 30)[0]

    def service(self):
        return self.processes(self.idownd.resolve())

    def kill_service(self):
        for pid in self.service():
            kill(pid)

    @contextlib.contextmanager
    def hung_service(self):
        """Stops the service for the time of a block: it keeps its name and answers nothing."""
        stopped = self.service()
        for pid in stopped:
            kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in stopped:
                kill(pid, signal.SIGCONT)

    def clear(self):
        """Empties the list and both folders."""
        for task in self.tasks():
            try:
                self.command("remove", task["Id"], "-y")
            except RuntimeError:
                # It may have gone by itself.
                if task["Id"] in [other["Id"] for other in self.tasks()]:
                    raise
        for folder in (self.downloads, self.saved):
            for path in folder.iterdir():
                # The browser may be taking its own away.
                path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def notifications(self):
        """Shows notifications: gives a function that returns those so far, and one that clicks."""
        server = self.start(["/usr/bin/python3", ROOT / "Tests/Browsers/notifications.py"],
                            "notifications", give=subprocess.PIPE)
        log = self.work / "notifications.log"
        start = log.stat().st_size

        def shown():
            lines = log.read_bytes()[start:].decode().splitlines()
            return [json.loads(line) for line in lines if line.startswith("[")]

        def click(number, key):
            server.stdin.write(f"{number} {key}\n".encode())
            server.stdin.flush()
        try:
            yield shown, click
        finally:
            server.stdin.close()
            server.wait(5)
            self.children.remove(server)

    def close(self):
        self.kill_service()
        for child in reversed(self.children):
            if child.poll() is None:
                child.terminate()
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def arguments(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
