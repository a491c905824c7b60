// SPDX-License-Identifier: Apache-2.0

import CGtk
import Glibc
import iDownBus
import iDownView

/// Announces to screen readers which downloads change their state: those whose rows are loaded, and
/// those that were added or acted on in this window.
final class Announcer {
    private let client: ManagerClient
    /// The state last announced of each download that was added or acted on here; nil before the
    /// first announcement.
    private var watched: [String: TaskProperties.State?] = [:]
    /// The texts to announce, by the ids of the downloads.
    private var news: [String: String] = [:]
    private var isTelling = false

    /// Returns the widget from which announcements are made; nil without a window.
    var window: () -> Object? = { nil }

    /// Changes within this time, such as those of Pause All, are announced together.
    private static let pace: Duration = .milliseconds(250)
    /// If more downloads than this have changed, only their number is announced.
    private static let mostNames = 3

    init(_ client: ManagerClient) { self.client = client }

    /// Also announces changes of these downloads while their rows are not loaded.
    ///
    /// More than three downloads are ignored: the message about the action tells their number.
    func watch(_ ids: [String]) {
        guard Announcement.isPossible, ids.count <= Self.mostNames else { return }
        for id in ids where watched[id] == nil { watched.updateValue(nil, forKey: id) }
    }

    /// Announces the new states of these downloads, a moment later.
    func tell(_ tasks: [TaskProperties]) {
        for task in tasks where Announcement.isPossible {
            if watched[task.id] != nil { watched[task.id] = task.state }
            let text = RowText(task)
            news[task.id] = "\(text.name): \(text.reason ?? task.state.title)"
        }
        tellSoon()
    }

    /// Takes the new state of a download whose row is not loaded; announces it if the download is
    /// watched.
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

/// Announcements to screen readers: gtk_accessible_announce.
enum Announcement {
    private typealias Function = @convention(c) (OpaquePointer, UnsafePointer<CChar>, CInt) -> Void
    /// The function of GTK 4.14 and later; nil in older versions.
    private static let function = dlsym(nil, "gtk_accessible_announce")
        .map { unsafeBitCast($0, to: Function.self) }
    /// GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM: it does not interrupt current speech.
    private static let priority: CInt = 1

    static var isPossible: Bool { function != nil }

    static func make(_ text: String, from widget: Object) {
        function?(widget.opaque, text, priority)
    }
}
