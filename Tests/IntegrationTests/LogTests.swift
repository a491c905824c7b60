// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import iDownBus
import iDownSettings
import iDownTesting

/// What the service writes to standard error.
@Suite(.timeLimit(.minutes(5)))
struct LogTests {
    /// Starts a program whose standard error is a full pipe; both ends of the pipe stay open, the
    /// one for reading as descriptor 9.
    private static let wrapper = """
        import os, sys
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b'-' * 65535 + b'\\n')
        except BlockingIOError:
            pass
        try:
            while True:
                os.write(writer, b'-')
        except BlockingIOError:
            pass
        os.set_blocking(writer, True)
        os.dup2(reader, 9)
        os.dup2(writer, 2)
        os.close(reader)
        os.close(writer)
        os.execv(sys.argv[1], sys.argv[1:])
        """

    /// Writes a settings file that costs about 13 kB of the log when it is first read.
    private func writeSettings(_ number: UInt64, _ service: ServiceUnderTest) throws {
        let keys = (1...100).map {
            "\"Unknown\(number)\($0)\(String(repeating: "x", count: 50))\": 0"
        }
        mkdir(service.home.config + "/idown", 0o700)
        try TestFile.write(
            "{\(keys.joined(separator: ", "))}",
            to: service.home.config + "/idown/settings.json"
        )
    }

    private func start(_ service: ServiceUnderTest) async throws {
        try writeSettings(0, service)
        try await service.start(under: ["/usr/bin/python3", "-c", Self.wrapper])
    }

    @Test func `a log that nobody reads holds up no call, and tells later what was lost`()
        async throws
    {
        try await withService(started: false) { service in
            try await start(service)
            for number in 1...60 as ClosedRange<UInt64> {
                try writeSettings(number, service)
                try await within("Set \(number) to be answered") {
                    try await service.client.set(.keepCompleted, to: .number(number))
                }
            }
            #expect(try await service.client.taskCount() == 0)
            let log = try await ChildProcess.start(
                "cat",
                ["/proc/\(try await service.processID())/fd/9"]
            )
            let told = try await within("the log to tell what was lost") {
                while let line = await log.nextLine() {
                    if line.contains("lines of the log were lost") { return line }
                }
                return ""
            }
            #expect(told.hasPrefix("warning: ") && !told.contains(" 0 lines"), "\(told)")
            // What comes now is written again.
            try writeSettings(61, service)
            try await within("the next line") {
                while let line = await log.nextLine(), !line.contains("has no effect") {}
            }
            await log.stop()
        }
    }

    @Test func `the service ends although nobody reads its log`() async throws {
        try await withService(started: false) { service in
            try await start(service)
            #expect(try await service.terminate() == .exited(0))
        }
    }

    @Test func `the last lines are written before the end`() async throws {
        try await withService { service in
            let second = try await service.launch()
            #expect(await second.waitForExit() == .exited(0))
            #expect(second.standardError.contains("already running"))
        }
    }
}
