// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// A settings file that dotfile managers put in place while the service runs.
@Suite(.timeLimit(.minutes(2))) struct SettingsWatchTests {
    private func expect(_ number: UInt64, _ service: ServiceUnderTest) async throws {
        try await soon("\(number) downloads at once") {
            let value = try await service.client.value(of: .maxConcurrentDownloads)
            guard case .number(number) = value else { return false }
            return true
        }
    }

    private func settings(_ number: UInt64) -> String { "{\"MaxConcurrentDownloads\": \(number)}" }

    @Test func `a link in place of the file is followed, and so is what it leads to`() async throws
    {
        try await withService { service in
            let folder = service.home.config + "/idown"
            let own = service.home.path + "/own"
            mkdir(own, 0o700)
            try TestFile.write(settings(4), to: folder + "/settings.json")
            try await expect(4, service)
            // As `stow --adopt` does: the file moves away, and a link takes its place.
            #expect(rename(folder + "/settings.json", own + "/a.json") == 0)
            try await expect(3, service)
            try TestFile.write(settings(5), to: own + "/a.json")
            #expect(symlink(own + "/a.json", folder + "/settings.json") == 0)
            try await expect(5, service)
            try TestFile.write(settings(6), to: own + "/a.json")
            try await expect(6, service)
            try TestFile.write(settings(7), to: own + "/new")
            #expect(rename(own + "/new", own + "/a.json") == 0)
            try await expect(7, service)
        }
    }

    @Test func `the download folder of the desktop is followed while the service runs`()
        async throws
    {
        try await withService { service in
            let (client, folder) = (service.client, service.home.path + "/Elsewhere")
            let line = "XDG_DOWNLOAD_DIR=\"$HOME/Elsewhere\"\n"
            try TestFile.write(line, to: service.home.config + "/user-dirs.dirs")
            try await soon("the other folder") {
                try await client.value(of: .downloadDirectory) == .text(folder)
            }
            let id = try await service.add("http://127.0.0.1:9/a") { $0.paused = true }
            #expect(try await client.getTask(id).directory == folder)
        }
    }

    @Test func `a file that is away for a moment leaves everything as it is`() async throws {
        try await withService { service in
            let folder = service.home.config + "/idown"
            let (path, away) = (folder + "/settings.json", folder + "/settings.json~")
            try TestFile.write(settings(4), to: path)
            try await expect(4, service)
            let mark = service.signals.count
            // As editors do that keep the old file.
            #expect(rename(path, away) == 0)
            // An answer to this comes after the file was looked at.
            async let change: Void = service.client.set(.speedLimit, to: .number(1 << 30))
            #expect(rename(away, path) == 0)
            try await change
            #expect(
                !service.signals.signals.dropFirst(mark).contains { signal in
                    signal.arguments.contains { "\($0)".contains("MaxConcurrentDownloads") }
                }
            )
            try await expect(4, service)
        }
    }

    @Test func `a file that gets its name by a hard link is read`() async throws {
        try await withService { service in
            let folder = service.home.config + "/idown"
            let (own, other) = (service.home.path + "/own.json", service.home.path + "/other.json")
            try TestFile.write(settings(4), to: folder + "/settings.json")
            try await expect(4, service)
            #expect(unlink(folder + "/settings.json") == 0)
            try await expect(3, service)
            try TestFile.write(settings(5), to: own)
            #expect(link(own, folder + "/settings.json") == 0)
            try await expect(5, service)
            try TestFile.write(settings(6), to: other)
            #expect(unlink(folder + "/settings.json") == 0)
            #expect(link(other, folder + "/settings.json") == 0)
            try await expect(6, service)
        }
    }

    @Test func `another folder in place of the file's is followed`() async throws {
        try await withService { service in
            let folder = service.home.config + "/idown"
            let (first, second) = (service.home.path + "/first", service.home.path + "/second")
            for (path, number) in [(first, 5), (second, 6)] as [(String, UInt64)] {
                mkdir(path, 0o700)
                try TestFile.write(settings(number), to: path + "/settings.json")
            }
            #expect(rename(folder, service.home.path + "/away") == 0)
            mkdir(folder, 0o700)
            try TestFile.write(settings(4), to: folder + "/settings.json")
            try await expect(4, service)
            #expect(rename(folder, service.home.path + "/away2") == 0)
            #expect(symlink(first, folder) == 0)
            try await expect(5, service)
            try TestFile.write(settings(8), to: first + "/settings.json")
            try await expect(8, service)
            #expect(symlink(second, folder + ".new") == 0)
            #expect(rename(folder + ".new", folder) == 0)
            try await expect(6, service)
            try TestFile.write(settings(9), to: second + "/settings.json")
            try await expect(9, service)
        }
    }
}
