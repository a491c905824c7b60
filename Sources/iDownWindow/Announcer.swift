// SPDX-License-Identifier: Apache-2.0

import CGtk
import Glibc
import iDownBus
import iDownView

/// Tells those who do not see the window which downloads change their state: those whose rows are
/// known, and those that were added or acted on here.
final class Announcer {
    private let client: ManagerClient
    /// The state that was told last of downloads that were added or acted on; nil for none yet.
    private var watched: [String: TaskProperties.State?] = [:]
    /// What is to be said, by the ids of the downloads.
    private var news: [String: String] = [:]
    private var isTelling = false

    /// The widget that speaks.
    var window: () -> Object? = { nil }

    /// Several changes at once, as when all are paused, are told together.
    private static let pace: Duration = .milliseconds(250)
    /// Of more downloads than these only the number is told.
    private static let mostNames = 3

    init(_ client: ManagerClient) { self.client = client }

    /// Tells of these downloads also where their rows are not known; of many the message of what was
    /// done tells the number.
    func watch(_ ids: [String]) {
        guard Announcement.isPossible, ids.count <= Self.mostNames else { return }
        for id in ids where watched[id] == nil { watched.updateValue(nil, forKey: id) }
    }

    /// The state of these downloads has changed.
    func tell(_ tasks: [TaskProperties]) {
        for task in tasks where Announcement.isPossible {
            if watched[task.id] != nil { watched[task.id] = task.state }
            let text = RowText(task)
            news[task.id] = "\(text.name): \(text.reason ?? task.state.title)"
        }
        tellSoon()
    }

    /// Hears of a download whose row is not known.
    func hear(_ id: String, _ state: TaskProperties.State) {
        guard let last = watched[id], last != state else { return }
        watched[id] = state
        let client = client
        Task { [weak self] in
            guard let task = try? await client.getTask(id) else { return }
            self?.tell([task])
        }
    }

    private func tellSoon() {
        guard !isTelling, !news.isEmpty else { return }
        isTelling = true
        Task {
            try? await Task.sleep(for: Self.pace)
            isTelling = false
            let texts = news.values.sorted()
            news = [:]
            guard let window = window() else { return }
            let text =
                texts.count <= Self.mostNames
                ? texts.joined(separator: ". ")
                : counted(
                    "{count} download has another state",
                    "{count} downloads have another state",
                    UInt(texts.count)
                )
            Announcement.make(text, from: window)
        }
    }
}

/// Tells who does not see the window what has happened: gtk_accessible_announce.
enum Announcement {
    private typealias Function = @convention(c) (OpaquePointer, UnsafePointer<CChar>, CInt) -> Void
    /// GTK has it since 4.14; nil in older ones.
    private static let function = dlsym(nil, "gtk_accessible_announce")
        .map { unsafeBitCast($0, to: Function.self) }
    /// GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM: after what is being said.
    private static let priority: CInt = 1

    static var isPossible: Bool { function != nil }

    static func make(_ text: String, from widget: Object) {
        function?(widget.opaque, text, priority)
    }
}
