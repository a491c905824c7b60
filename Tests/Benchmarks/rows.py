# SPDX-License-Identifier: Apache-2.0
"""The measurements: each is a group of programs that do the same work in turn."""

import os
import pathlib
import shutil
import statistics
import subprocess

import programs


class Group:
    """Programs that did the same work, and what each run of each cost."""

    def __init__(self, title, samples, goals, ideal=None):
        self.title, self.samples, self.goals, self.ideal = title, samples, goals, ideal

    def median(self, name, kind):
        return statistics.median(getattr(sample, kind) for sample in self.samples[name])

    def ratio(self, name, kind):
        """idown's cost as a multiple of another's: the median over the rounds."""
        return statistics.median(
            getattr(ours, kind) / max(getattr(theirs, kind), 0.001)
            for ours, theirs in zip(self.samples["idown"], self.samples[name])
        )

    def rows(self):
        for name in self.samples:
            ratios = ("", "") if name == "idown" else (
                f"{self.ratio(name, 'wall'):.2f}",
                f"{self.ratio(name, 'cpu'):.2f}",
            )
            yield (
                name,
                f"{self.median(name, 'wall'):.2f} s",
                ratios[0],
                self.goals.get(name, ""),
                f"{self.median(name, 'cpu'):.2f} s",
                ratios[1],
                f"{self.median(name, 'memory') / 1024:.0f} MB",
            )
        if self.ideal:
            wall = self.median("idown", "wall")
            yield ("best possible", f"{self.ideal:.2f} s", f"{wall / self.ideal:.2f}",
                   self.goals.get("ideal", ""), "", "", "")


class Bench:
    """What all measurements share."""

    def __init__(self, work, nginx, host, service, options):
        self.work, self.nginx, self.host, self.service = work, nginx, host, service
        self.options = options

    def interleaved(self, rounds, runs, size, keep=False, first=0):
        """Runs all in turn, each in an empty folder, and drops round 0: caches are cold.

        Whoever has not brought so many bytes has not done the work. `keep` deletes only at the end:
        ext4 is slow to give out inodes that were deleted in the last five seconds, and the more so
        the more they are.
        """
        shutil.rmtree(self.work / "target", ignore_errors=True)
        samples = {name: [] for name in runs}
        for turn in range(first, rounds + 1):
            for number, (name, run) in enumerate(runs.items()):
                folder = self.work / "target" / f"{turn}-{number}"
                folder.mkdir(parents=True)
                os.sync()
                programs.touch_memory(size + size // 2)
                sample = run(folder)
                brought = sum(file.stat().st_size for file in folder.iterdir())
                if brought != size:
                    raise programs.Failed(f"{name} brought {brought} bytes instead of {size}")
                if turn > 0:
                    samples[name].append(sample)
                if not keep:
                    shutil.rmtree(folder)
        return samples

    def command(self, *words, **environment):
        return lambda folder: programs.command([str(word) for word in words], folder, environment)

    def idown(self, url, **options):
        return lambda folder: self.service.download([url()], folder, **options)

    # The measurements, by the names that `--only` takes.

    def raw(self):
        """Beside a C program that does no more than it must and syncs once, as idown does."""
        program = self.work / "raw"
        source = pathlib.Path(__file__).with_name("raw.c")
        subprocess.run(["cc", "-O2", "-o", program, source], check=True)
        runs = {
            "C program": self.command(program, self.nginx.port, "/large", "large"),
            "idown": self.idown(lambda: self.nginx.url("large")),
        }
        samples = self.interleaved(self.options.pairs - 1, runs, self.options.size << 20)
        goals = {"C program": "≤ 1.15, CPU ≤ 1.3"}
        title = "by HTTP, beside a C program that only receives, writes and syncs"
        return Group(f"{self.options.size} MiB {title}", samples, goals)

    def large(self):
        url = self.nginx.url("large")
        runs = {
            "idown": self.idown(lambda: url),
            "curl": self.command("curl", "-sfo", "large", url),
            "aria2c -x4": self.command("aria2c", "-q", "-x4", url),
            "wget2": self.command("wget2", "-q", url),
            "axel -n4": self.command("axel", "-q", "-n4", url),
        }
        goals = {"curl": "≤ 0.67", "aria2c -x4": "≤ 0.45", "wget2": "≤ 1.11", "axel -n4": "≤ 0.45"}
        # Single rounds swing by a third in virtual machines, and the goals are close.
        samples = self.interleaved(self.options.pairs, runs, self.options.size << 20)
        title = f"{self.options.size} MiB by HTTP; only idown syncs to the disk"
        return Group(title, samples, goals)

    def tls(self):
        url, authority = self.nginx.tls_url("large"), self.nginx.authority
        runs = {
            "idown": self.idown(lambda: url),
            "curl": self.command("curl", "-sf", "--cacert", authority, "-o", "large", url),
            "aria2c -x4": self.command("aria2c", "-q", "-x4", f"--ca-certificate={authority}", url),
            "wget2": self.command("wget2", "-q", f"--ca-certificate={authority}", url),
            "axel -n4, certificate not checked": self.command("axel", "-q", "-k", "-n4", url),
        }
        samples = self.interleaved(self.options.rounds, runs, self.options.size << 20)
        return Group(f"{self.options.size} MiB by HTTPS", samples, {})

    def limited(self):
        url = self.nginx.limited_url("limited")
        runs = {
            "idown": self.idown(lambda: url, connections=programs.dbus.UInt32(8)),
            "aria2c -x8": self.command("aria2c", "-q", "-x8", "-s8", "-k1M", url),
            "wget2, 8 threads": self.command(
                "wget2", "-q", "--max-threads=8", "--chunk-size=8M", url
            ),
            "axel -n8": self.command("axel", "-q", "-n8", url),
        }
        samples = self.interleaved(self.options.rounds, runs, 64 << 20)
        goals = {"aria2c -x8": "≤ 1.0", "ideal": "≤ 1.1"}
        # nginx counts from a second before the request: 2 MiB of each come at once.
        title = "64 MiB, 8 connections, from a server that sends 2 MiB/s per connection"
        return Group(title, samples, goals, ideal=3.0)

    def two(self):
        """Once each: the host sets the pace."""
        url = self.nginx.two_url("limited")
        runs = {
            "idown": self.idown(lambda: url),
            "idown, one connection": self.idown(lambda: url, connections=programs.dbus.UInt32(1)),
            "aria2c -x2": self.command("aria2c", "-q", "-x2", "-s2", "-k1M", url),
        }
        samples = self.interleaved(1, runs, 64 << 20, first=1)
        title = "64 MiB from a server that sends 2 MiB/s per connection and answers a third with 403"
        return Group(title, samples, {"idown, one connection": "≤ 0.56"})

    def slow(self):
        """Once each: nothing here depends on the disk, and wget2 alone takes a minute."""
        run = lambda slow, *words: lambda folder: programs.command(
            [*words, self.host.url("uneven", slow)], folder
        )
        four = programs.dbus.UInt32(4)
        idown = lambda slow: self.idown(lambda: self.host.url("uneven", slow), connections=four)
        runs = {
            "idown": idown(2),
            "idown, first one slow": idown(1),
            "idown, third one slow": idown(3),
            "idown, fourth one slow": idown(4),
            "aria2c -x4": run(2, "aria2c", "-q", "-x4", "-s4", "-k1M"),
            "axel -n4": run(2, "axel", "-q", "-n4"),
            "wget2, 4 threads": run(2, "wget2", "-q", "--max-threads=4", "--chunk-size=1M"),
        }
        samples = self.interleaved(1, runs, 8 << 20, first=1)
        title = "8 MiB, 4 connections at 1 MiB/s, but the second at 20 kB/s"
        goals = {"ideal": "≤ 1.5 (3 s)"}
        return Group(title, samples, goals, ideal=2.0)

    def small(self):
        count = self.options.files
        urls = [self.nginx.url(f"small/{number}") for number in range(count)]
        names = self.work / "small.urls"
        names.write_text("\n".join(urls) + "\n")
        config = self.work / "small.curl"
        config.write_text("".join(f'url = "{url}"\nremote-name\n' for url in urls))
        self.service.set("MaxConcurrentDownloads", programs.dbus.UInt32(16))
        runs = {
            "idown": lambda folder: self.service.download(urls, folder),
            "aria2c -j16": self.command("aria2c", "-q", "-j16", "-i", names),
            "curl, 16 at once": self.command(
                "curl", "-sf", "--parallel", "--parallel-max", "16", "-K", config
            ),
            "wget2, 16 threads": self.command("wget2", "-q", "--max-threads=16", "-i", names),
        }
        samples = self.interleaved(self.options.rounds, runs, 20_000 * count, keep=True)
        self.service.set("MaxConcurrentDownloads", programs.dbus.UInt32(3))
        title = f"{count} files of 20 kB, 16 at once; only idown syncs to the disk"
        return Group(title, samples, {"aria2c -j16": "≤ 0.8"})
