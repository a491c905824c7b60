// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownTesting

/// A client that sends more than the service can take, beside one that only asks.
@Suite(.timeLimit(.minutes(10)))
struct FloodTests {
    /// The most memory that the service has had, in kB: proc(5), VmHWM.
    private func peakMemory(_ service: ServiceUnderTest) async throws -> Int {
        let status = try TestFile.text(of: "/proc/\(await service.processID())/status")
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").dropLast().last.flatMap { Int($0) })
    }

    /// Asks for a task again and again while a body runs; the longest wait for an answer.
    private func longestWait(
        for id: String,
        of service: ServiceUnderTest,
        while body: @Sendable () async throws -> Void
    ) async throws -> Duration {
        let asking = Task.immediate {
            var longest = Duration.zero
            while !Task.isCancelled {
                let start = ContinuousClock.now
                do {
                    _ = try await service.client.getTask(id)
                } catch {
                    // The end of the task gives the last call up.
                    guard !Task.isCancelled else { return longest }
                    throw error
                }
                longest = max(longest, ContinuousClock.now - start)
                try? await Task.sleep(for: .milliseconds(20))
            }
            return longest
        }
        do {
            try await body()
        } catch {
            asking.cancel()
            throw error
        }
        asking.cancel()
        return try await asking.value
    }

    @Test func `twelve calls of 60 MB do not fill the memory`() async throws {
        try await withService { service in
            var options = AddOptions()
            options.paused = true
            let id = try await service.client.addURL("http://127.0.0.1:9/a", options: options)
            let flood = try await Connection.open(.address(service.bus.address))
            let manager = Proxy(
                flood,
                ServiceUnderTest.busName,
                ServiceUnderTest.managerPath,
                "org.idown.Manager1"
            )
            // No scheme that the service takes: all of it is refused in the end.
            let urls = (0..<900).map { _ in "x:" + String(repeating: "x", count: 64_000) }
            let wait = try await longestWait(for: id, of: service) {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<12 {
                        group.addImmediateTask {
                            let error = await #expect(throws: BusError.self) {
                                try await manager.call(
                                    "AddURLs",
                                    urls,
                                    [String: Value](),
                                    returning: [String].self,
                                    timeout: .seconds(120)
                                )
                            }
                            let name = error?.name.rawValue ?? ""
                            #expect(
                                [
                                    "org.idown.Error.LimitExceeded",
                                    "org.idown.Error.UnsupportedScheme",
                                    "org.idown.Error.InvalidURL",
                                ].contains(name),
                                "\(String(describing: error))"
                            )
                        }
                    }
                }
            }
            await flood.close()
            #expect(wait < .seconds(20))
            #expect(try await peakMemory(service) < 300_000)
            #expect(try await service.client.listTasks().map(\.id) == [id])
        }
    }

    @Test func `100,000 calls without reply hold up nobody else's`() async throws {
        try await withService { service in
            var options = AddOptions()
            options.paused = true
            let id = try await service.client.addURL("http://127.0.0.1:9/a", options: options)
            let script = """
                import dbus, dbus.lowlevel, sys
                bus = dbus.bus.BusConnection(sys.argv[1])
                for number in range(100000):
                    member = 'Pause' if number % 2 else 'ListTasks'
                    call = dbus.lowlevel.MethodCallMessage(
                        'org.idown.Manager1', '/org/idown/Manager1', 'org.idown.Manager1', member)
                    if number % 2:
                        call.append(sys.argv[2])
                    call.set_no_reply(True)
                    bus.send_message(call)
                bus.flush()
                """
            let wait = try await longestWait(for: id, of: service) {
                let completed = try await ChildProcess.run(
                    "/usr/bin/python3",
                    ["-c", script, service.bus.address, id]
                )
                #expect(completed.standardError == "")
            }
            #expect(wait < .seconds(10))
            #expect(try await service.client.getTask(id).state == .paused)
            #expect(try await peakMemory(service) < 300_000)
        }
    }

    @Test func `an array of millions of empty strings is refused before it is there`() async throws
    {
        try await withService { service in
            let count = 7_000_000
            let flood = try await Connection.open(.address(service.bus.address))
            let manager = Proxy(
                flood,
                ServiceUnderTest.busName,
                ServiceUnderTest.managerPath,
                "org.idown.Manager1"
            )
            let error = await #expect(throws: BusError.self) {
                try await manager.call(
                    "StartTasks",
                    EmptyStrings(count: count),
                    returning: UInt32.self,
                    timeout: .seconds(120)
                )
            }
            #expect(error?.name == "org.idown.Error.LimitExceeded")
            await flood.close()
            #expect(try await peakMemory(service) < 300_000)
        }
    }
}

/// An `as` that takes no time to write: its bytes are all zero but the length.
private struct EmptyStrings: BusType {
    static var signature: Signature { "as" }

    let count: Int

    init(count: Int) { self.count = count }

    init(from reader: inout WireReader) throws(DecodingFailure) {
        count = try [String](from: &reader).count
    }

    func write(to writer: inout WireWriter) {
        // Eight bytes each; of the last one no padding, of the first one the first four are there.
        let zeros = [UInt8](repeating: 0, count: count * 8 - 7)
        writer.array(of: "s") { $0.append(zeros[...]) }
    }
}
