// SPDX-License-Identifier: Apache-2.0

import DBus
import Logging
import Synchronization
import iDownSettings
import iDownState
import iDownTesting

@testable import iDownDesktop

/// A host that records each call of the desktop.
final class RecordingHost: DesktopHost {
    private let record = Mutex<[String]>([])

    /// One text for each call so far.
    var all: [String] { record.withLock { $0 } }

    func conditionsChanged(_ conditions: Conditions) async {
        var words: [String] = []
        if conditions.isCaptive { words.append("captive") }
        if conditions.isMetered { words.append("metered") }
        if conditions.isBatteryLow { words.append("low") }
        keep("is [\(words.joined(separator: " "))]")
    }

    func willSleep() async { keep("sleep") }

    func didWake() async { keep("wake") }

    func carryOut(_ command: Command, on ids: [String]) async {
        keep("\(command.rawValue) \(ids.joined(separator: " "))")
    }

    func carryOutOnAll(_ command: Command) async { keep("\(command.rawValue) all") }

    func carryOn(_ task: String, with new: String) async { keep("continue \(task) with \(new)") }

    func leaveToBrowsers(_ host: String?) async { keep("leave \(host ?? "all")") }

    func summary() async -> DesktopSummary {
        var summary = DesktopSummary()
        summary.downloading = 3
        summary.paused = 2
        // It does not exist: its nearest existing parent, /etc, is shown.
        summary.folder = "/etc/nonexistent/d"
        return summary
    }

    private func keep(_ text: String) { record.withLock { $0.append(text) } }

    /// Waits until a call was recorded; those before `mark` do not count.
    func wait(for text: String, after mark: Int = 0) async throws {
        try await soon("“\(text)”, and not only \(all)") { self.all.dropFirst(mark).contains(text) }
    }
}

/// A desktop on a bus of its own, which serves as session bus and as system bus.
struct DesktopScene {
    let bus: PrivateBus
    /// The connection on which tests play the desktop's services.
    let connection: Connection
    let host: RecordingHost
    let feed: DesktopFeed
    let desktop: Desktop

    /// Reports a completed task.
    func complete(_ id: String, _ path: String, whenDone: WhenDone? = nil) {
        feed.changed(.sample(id, .completed, path: path, whenDone: whenDone))
    }
}

extension DesktopTask {
    static func sample(
        _ id: String = "1",
        _ state: TaskState.Kind,
        name: String = "file.iso",
        path: String? = nil,
        failure: String = "",
        whenDone: WhenDone? = nil,
        bytes: Int64 = 0,
        total: Int64? = nil
    ) -> DesktopTask {
        var task = DesktopTask(id: id, state: state)
        task.name = path.map { String($0.split(separator: "/").last ?? "") } ?? name
        task.directory = "/home/me/Downloads"
        task.url = "https://example.org/file.iso"
        task.site = "example.org"
        task.path = path
        task.failure = failure
        task.whenDone = whenDone
        task.bytes = bytes
        task.totalBytes = total
        return task
    }
}

extension Settings {
    /// Settings under which the desktop asks the power services, too.
    static var watchingPower: Settings {
        var settings = Settings()
        settings.holdsOnLowBattery = true
        return settings
    }
}

extension Logger {
    /// A logger that drops all messages.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// Runs `body` with a running desktop, which ends afterwards.
///
/// - Parameters:
///   - settings: the desktop's settings.
///   - grace: how long a service's last report stays valid after the service has stopped.
///   - backOff: how long no notifications are sent to a server that did not answer.
///   - body: the test.
/// - Throws: what `body` throws.
func withDesktop(
    settings: Settings = .watchingPower,
    grace: Duration = .milliseconds(20),
    backOff: Duration = Desktop.backOff,
    _ body: (DesktopScene) async throws -> Void
) async throws {
    try await withPrivateBus { bus in
        let connection = try await Connection.open(.address(bus.address))
        let session = try await Connection.open(.address(bus.address))
        let host = RecordingHost()
        let feed = DesktopFeed()
        let desktop = Desktop(
            feed: feed,
            host: host,
            settings: settings,
            session: session,
            system: .address(bus.address),
            updateInterval: .milliseconds(20),
            grace: grace,
            backOff: backOff,
            log: .quiet
        )
        let scene = DesktopScene(
            bus: bus,
            connection: connection,
            host: host,
            feed: feed,
            desktop: desktop
        )
        let running = Task { await desktop.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(scene)) } catch { result = .failure(error) }
        running.cancel()
        try await within("the desktop to end") { await running.value }
        await session.close()
        await connection.close()
        try result.get()
    }
}

/// The calls to a service that a test plays, in order.
final class CallLog: Sendable {
    private let record = Mutex<[String]>([])

    var all: [String] { record.withLock { $0 } }

    func keep(_ text: String) { record.withLock { $0.append(text) } }

    /// Waits until this call was recorded.
    func wait(for text: String) async throws {
        try await soon("“\(text)”, and not only \(all)") { self.all.contains(text) }
    }
}
