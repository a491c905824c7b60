// SPDX-License-Identifier: Apache-2.0

import CGtk
import DBus
import Dispatch
import Executors
import Glibc
import iDownBus
import iDownView

/// Carries out actions on downloads, shows their errors, and offers to undo them.
///
/// An action that ends downloads is pending while its message offers Undo, and is carried out when
/// the message is over. At most one action is pending.
final class TaskActions {
    private let client: ManagerClient
    private let connection: Connection
    private let messages: Messages
    private let announcer: Announcer
    let pulse: Pulse
    /// The action that is carried out when the message that offers Undo is over; nil for none.
    private var pending: Pending?
    /// The action that is being carried out; the closing window waits for it.
    private var ending: Task<Void, Never>?
    /// Finds out which downloads allow a verb; the closing window waits for it.
    private var selecting: Task<Void, Never>?
    private var isWindowClosed = false

    /// Called with the ids of downloads whose note has appeared or gone.
    var notesChanged: ([UInt64]) -> Void = { _ in }
    /// Returns the parent window for other programs' windows; nil if it is closed.
    var window: () -> Object? = { nil }

    private final class Pending {
        let verb: ListVerb
        private(set) var tasks: [String]
        private(set) var ids: Set<UInt64>
        var isUndone = false
        /// Whether it can be undone no more.
        var isEnding = false

        init(_ verb: ListVerb, _ tasks: [String]) {
            self.verb = verb
            self.tasks = tasks
            ids = Set(tasks.compactMap { UInt64($0) })
        }

        /// Leaves these downloads to another action.
        func leave(_ others: Set<UInt64>) {
            tasks.removeAll { UInt64($0).map(others.contains) == true }
            ids.subtract(others)
        }

        /// The note in the row of each download.
        var note: String {
            switch verb {
            case .cancel: translated("Will be cancelled")
            case .trash: translated("Will be moved to the trash")
            default: translated("Will be removed")
            }
        }

        /// The text of the message that offers Undo.
        var text: String {
            let count = UInt(tasks.count)
            return switch verb {
            case .cancel:
                counted("{count} download is cancelled", "{count} downloads are cancelled", count)
            case .trash:
                counted(
                    "{count} file is moved to the trash",
                    "{count} files are moved to the trash",
                    count
                )
            default:
                counted("{count} download is removed", "{count} downloads are removed", count)
            }
        }
    }

    init(
        _ client: ManagerClient,
        _ connection: Connection,
        _ messages: Messages,
        _ announcer: Announcer,
        _ pulse: Pulse
    ) {
        self.client = client
        self.announcer = announcer
        self.connection = connection
        self.messages = messages
        self.pulse = pulse
    }

    /// Returns the note of a download that is about to be ended; nil for any other.
    func note(_ id: UInt64) -> String? {
        pending.flatMap { $0.ids.contains(id) ? $0.note : nil }
    }

    /// Carries a verb out for some downloads.
    func carryOut(_ verb: ListVerb, _ tasks: [String]) {
        guard let id = tasks.first else { return }
        announcer.watch(tasks)
        if [.pause, .resume, .retry].contains(verb) { keep(tasks) }
        let client = client
        let count = UInt(tasks.count)
        switch verb {
        case .pause:
            call { () throws(ManagerError) in
                if count == 1 {
                    try await client.pause(id)
                } else {
                    _ = try await client.pauseTasks(tasks)
                }
            }
        case .resume, .retry:
            call { () throws(ManagerError) in
                if count == 1, verb == .retry {
                    try await client.retry(id)
                } else {
                    _ = try await client.startTasks(tasks)
                }
            }
        case .cancel, .remove, .trash: postpone(verb, tasks)
        case .open, .reveal:
            open(tasks, inFolder: verb == .reveal)
        }
    }

    /// The most files that are opened together, because each may start a program.
    private static let mostOpened = 10

    private func open(_ tasks: [String], inFolder: Bool) {
        let most = Self.mostOpened
        guard tasks.count <= most else {
            return say(
                counted(
                    "Only {count} file can be opened at once.",
                    "Only {count} files can be opened at once.",
                    UInt(most)
                )
            )
        }
        call { () throws(ManagerError) in
            let paths = try await self.client.getTasks(tasks, of: [.path]).map(\.path)
            if paths.contains("") {
                self.say(translated("Only a completed download can be opened."))
            }
            for path in paths where !path.isEmpty {
                Task { await self.present(path, inFolder: inFolder) }
            }
        }
    }

    /// Removes the downloads that are completed now; one that completes later stays.
    func clear() {
        let client = client
        call { [weak self] () throws(ManagerError) in
            var query = TaskQuery()
            query.states = [.completed]
            query.properties = [.id]
            query.limit = .max
            self?.carryOut(.remove, try await client.findTasks(query).page.map(\.id))
        }
    }

    /// Starts all paused and failed downloads.
    ///
    /// Start All and Pause All name no download, so the pending action still ends its own.
    func startAll() {
        call { () throws(ManagerError) in
            let count = UInt(try await self.client.startAll())
            self.say(counted("{count} download started", "{count} downloads started", count))
        }
    }

    func pauseAll() {
        call { () throws(ManagerError) in
            let count = UInt(try await self.client.pauseAll())
            self.say(counted("{count} download paused", "{count} downloads paused", count))
        }
    }

    /// Has the service check a finished file, and shows the result.
    func verify(_ id: String) {
        say(translated("The file is being checked"))
        call { () throws(ManagerError) in
            _ = try await self.client.verify(id)
            // A file of which nothing is known to compare it with has no mistake.
            switch try await self.client.getTask(id).errorCode {
            case "": self.say(translated("The file is as it should be"))
            case "File.Vanished": self.say(translated("The file is gone"))
            default: self.say(translated("The file is not what it should be"))
            }
        }
    }

    /// Shows how many downloads were added, and announces their changes.
    ///
    /// The service may have continued a download that the pending action is about to end.
    func tellAdded(_ ids: [String]) {
        keep(ids)
        announcer.watch(ids)
        let count = UInt(ids.count)
        say(counted("{count} download added", "{count} downloads added", count))
    }

    /// Makes a call, and shows its error.
    func call(_ body: @escaping () async throws(ManagerError) -> Void) {
        pulse.check()
        Task {
            do throws(ManagerError) { try await body() } catch { say(error.text) }
        }
    }

    /// Shows a text for a moment.
    func say(_ text: String) {
        if !isWindowClosed { messages.show(text) }
    }

    /// Shows a text with a button.
    func offer(_ text: String, _ button: String, _ body: @escaping () -> Void) {
        guard !isWindowClosed else { return }
        messages.show(text, button: button) { isPressed in if isPressed { body() } }
    }

    // MARK: Undo

    /// The most downloads that a message names.
    private static let mostNamed = 3

    /// Undoes the pending action.
    func undo() { messages.undo() }

    /// Takes downloads out of the pending action, because the user has given them a later order.
    ///
    /// Only orders of this window count. One of another program, such as `idown add`, does not stop
    /// the pending action.
    func keep(_ tasks: [String]) {
        guard let pending else { return }
        let before = pending.ids
        pending.leave(Set(tasks.compactMap { UInt64($0) }))
        guard pending.ids != before else { return }
        if !pending.isEnding {
            // The old message ends without effect: it tells the old number of downloads.
            self.pending = nil
            if pending.tasks.isEmpty {
                messages.undo()
            } else {
                offerUndo(of: pending.verb, for: pending.tasks)
            }
        }
        notesChanged(Array(before))
    }

    /// Cancels, removes or trashes downloads when the message that offers Undo is over.
    ///
    /// Downloads in a state that does not allow the verb are left out, unless there is only one.
    private func postpone(_ verb: ListVerb, _ tasks: [String]) {
        guard tasks.count > 1, verb != .remove else { return offerUndo(of: verb, for: tasks) }
        pulse.check()
        let before = selecting
        selecting = Task {
            await before?.value
            do throws(ManagerError) {
                let found = try await client.getTasks(tasks, of: [.id, .url, .fileName, .state])
                let fitting = found.filter { ListVerb.verbs(for: $0.state).contains(verb) }
                if fitting.isEmpty {
                    let names = found.prefix(Self.mostNamed).map { task in
                        "\(RowText(task).name): \(task.state.title)"
                    }
                    let first = translated("These downloads are in states that do not allow this:")
                    let others = UInt(found.count - names.count)
                    let last = counted("and {count} more", "and {count} more", others)
                    say(([first] + names + (others > 0 ? [last] : [])).joined(separator: "\n"))
                } else {
                    offerUndo(of: verb, for: fitting.map(\.id))
                }
            } catch { say(error.text) }
        }
    }

    /// Makes an action pending, and carries out the one that was pending before.
    private func offerUndo(of verb: ListVerb, for tasks: [String]) {
        let pending = Pending(verb, tasks)
        if let old = self.pending, !old.isUndone, !old.isEnding {
            // The key is held or was pressed again, or the pending action ends these downloads.
            let isLess = old.verb == verb || verb == .cancel
            if isLess, old.ids.isSuperset(of: pending.ids) { return }
            // On downloads that both actions are for, only this one, with its Undo, is carried out.
            old.leave(pending.ids)
        }
        // Showing this message ends the one before it, whose action is then carried out.
        messages.show(pending.text, button: translated("Undo"), isUrgent: true) {
            [weak self] isPressed in
            pending.isUndone = isPressed
            self?.settle(pending)
        }
        self.pending = pending
        notesChanged(Array(pending.ids))
    }

    /// Undoes an action whose message is over, or begins to carry it out.
    private func settle(_ pending: Pending) {
        guard self.pending === pending else { return }
        guard !pending.isUndone else {
            self.pending = nil
            return notesChanged(Array(pending.ids))
        }
        pending.isEnding = true
        let before = ending
        ending = Task {
            await before?.value
            await complete(pending)
        }
    }

    private func complete(_ pending: Pending) async {
        do throws(ManagerError) { try await carryOut(pending) } catch { say(error.text) }
        if self.pending === pending { self.pending = nil }
        notesChanged(Array(pending.ids))
    }

    /// Carries out the action; leaves out downloads that another client has removed meanwhile.
    private func carryOut(_ pending: Pending) async throws(ManagerError) {
        guard !pending.tasks.isEmpty else { return }
        pulse.check()
        do throws(ManagerError) {
            return try await carryOutNow(pending.verb, pending.tasks)
        } catch {
            guard error.code == .noSuchTask else { throw error }
        }
        let left = try await client.getTasks(pending.tasks, of: [.id]).map(\.id)
        if !left.isEmpty { try await carryOutNow(pending.verb, left) }
    }

    private func carryOutNow(_ verb: ListVerb, _ tasks: [String]) async throws(ManagerError) {
        guard verb == .cancel else {
            var options = RemoveOptions()
            options.trashFiles = verb == .trash
            let left = tasks.count - Int(try await client.removeTasks(tasks, options: options))
            guard left > 0 else { return }
            return say(
                counted(
                    "{count} file could not be moved to the trash and stays",
                    "{count} files could not be moved to the trash and stay",
                    UInt(left)
                )
            )
        }
        let late = tasks.count - Int(try await client.cancelTasks(tasks))
        guard late > 0 else { return }
        say(
            counted(
                "{count} download had ended before it was cancelled",
                "{count} downloads had ended before they were cancelled",
                UInt(late)
            )
        )
    }

    /// Carries out the pending action now, because the window closes.
    func carryOutPending() async {
        isWindowClosed = true
        if let pending, !pending.isEnding { settle(pending) }
        messages.stop()
        await selecting?.value
        messages.stop()
        await ending?.value
        guard let pending, !pending.isUndone else { return }
        pending.isUndone = true
        await complete(pending)
    }

    // MARK: Files

    /// Opens a file, or shows it in its folder, with the programs of the desktop.
    private func present(_ path: String, inFolder: Bool) async {
        let exists = await withTimeLimit(.seconds(5), on: .global()) { access(path, F_OK) == 0 }
        guard let exists else {
            return say(translated("The disk does not answer: {path}", ["path": path]))
        }
        guard exists else { return say(translated("The file is gone: {path}", ["path": path])) }
        let file = Object(g_file_new_for_path(path))
        defer { file.drop() }
        guard let text = g_file_get_uri(file.opaque) else { return }
        defer { g_free(text) }
        let uri = String(cString: text)
        guard inFolder else { return launch(uri) }
        if await showInFileManager(uri) { return }
        guard let parent = g_file_get_parent(file.opaque) else { return }
        let folder = Object(parent)
        defer { folder.drop() }
        guard let text = g_file_get_uri(folder.opaque) else { return }
        defer { g_free(text) }
        launch(String(cString: text))
    }

    /// Asks the file manager to show a file; returns whether it did.
    ///
    /// The interface is freedesktop.org's "File Manager D-Bus Interface".
    private func showInFileManager(_ uri: String) async -> Bool {
        let fileManager = Proxy(
            connection,
            "org.freedesktop.FileManager1",
            "/org/freedesktop/FileManager1",
            "org.freedesktop.FileManager1"
        )
        do throws(BusError) {
            try await fileManager.call("ShowItems", [uri], "")
            return true
        } catch {
            // A file manager that answers late still shows the file.
            return error.isNoReply
        }
    }

    private func launch(_ uri: String) {
        gtk_show_uri_full(
            window().map { $0.to() },
            uri,
            guint32(GDK_CURRENT_TIME),
            nil,
            { parent, result, data in
                guard let data else { return }
                let actions = Unmanaged<TaskActions>.fromOpaque(data).takeRetainedValue()
                var error: UnsafeMutablePointer<GError>?
                let window = parent.map { Object($0) }
                guard gtk_show_uri_full_finish(window?.to(), result, &error) == 0, let error
                else { return }
                actions.say(String(cString: error.pointee.message))
                g_error_free(error)
            },
            Unmanaged.passRetained(self).toOpaque()
        )
    }
}
