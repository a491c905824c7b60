// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

/// Everybody on the bus: what they were told, and what they have asked for.
///
/// What they know has to be true for ever after, whatever becomes of the service.
final class SimulatedClients: Announcing {
    /// What is known of a task.
    struct Known: Sendable {
        var kind: TaskState.Kind
        let url: String
        /// Calls on it that have no answer; a call that was under way in a crash never gets one.
        var openCalls = 0
        var isRemoved = false
    }

    private struct State {
        var tasks: [TaskID: Known] = [:]
        /// Calls that may change any task, or add one.
        var openCalls = 0
        var wrongs: [String] = []
        /// The names of finished files: they stay, whatever becomes of their tasks.
        var finished: Set<String> = []
        var life = Life()
    }

    private let state = Mutex(State())
    private let check: @Sendable (TaskRecord) -> String?

    /// - Parameter check: looks at the file of a task that is said to be completed; what is wrong
    ///   with it, nil where nothing is.
    init(check: @escaping @Sendable (TaskRecord) -> String?) { self.check = check }

    var tasks: [TaskID: Known] { state.withLock { $0.tasks } }
    var finished: Set<String> { state.withLock { $0.finished } }
    var wrongs: [String] { state.withLock { $0.wrongs } }

    func complain(_ text: String) { state.withLock { $0.wrongs.append(text) } }

    func serve(_ life: Life) { state.withLock { $0.life = life } }

    // MARK: Calls

    /// A call begins that is about a task, or about any.
    func ask(_ id: TaskID?) {
        state.withLock { state in
            if let id { state.tasks[id]?.openCalls += 1 } else { state.openCalls += 1 }
        }
    }

    /// It was answered.
    func hearAnswer(_ id: TaskID?) {
        state.withLock { state in
            if let id { state.tasks[id]?.openCalls -= 1 } else { state.openCalls -= 1 }
        }
    }

    /// The service has come back: calls of before are never answered, and the list says what became
    /// of them.
    func comeBack(to records: [TaskRecord]) {
        state.withLock { state in
            state.openCalls = 0
            var there: [TaskID: TaskRecord] = [:]
            for record in records where record.intent != .remove { there[record.id] = record }
            for (id, record) in there {
                let kind = record.state.kind
                state.tasks[id, default: Known(kind: kind, url: record.request.url)].kind = kind
                state.tasks[id]?.openCalls = 0
                if let name = record.file?.name, kind == .completed { state.finished.insert(name) }
            }
            for id in state.tasks.keys where there[id] == nil { state.tasks[id]?.isRemoved = true }
        }
    }

    /// Holds the list, as a crash has left it, against what everybody was told.
    func judge(_ records: [TaskRecord]) {
        state.withLock { state in
            let there = Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
            for (id, known) in state.tasks.sorted(by: { $0.key < $1.key }) {
                let isAsked = known.openCalls > 0 || state.openCalls > 0
                let record = there[id].flatMap { $0.intent == .remove ? nil : $0 }
                guard let record else {
                    if !known.isRemoved, !isAsked { state.wrongs.append("task \(id) is lost") }
                    continue
                }
                if known.isRemoved {
                    state.wrongs.append("task \(id) was removed, and is back")
                } else if !isAsked, !Self.may(known.kind, become: record.state.kind) {
                    let kinds = "\(known.kind), and is \(record.state.kind)"
                    state.wrongs.append("task \(id) was told to be \(kinds)")
                }
            }
            for id in there.keys where state.tasks[id] == nil && state.openCalls == 0 {
                state.wrongs.append("task \(id) came from nowhere")
            }
        }
    }

    /// What a task does by itself.
    private static func may(_ kind: TaskState.Kind, become next: TaskState.Kind) -> Bool {
        switch kind {
        case .waiting, .downloading: next != .paused && next != .cancelled
        case .paused, .completed, .failed, .cancelled: next == kind
        }
    }

    /// The user moves all finished files elsewhere, and forgets what has left the list.
    ///
    /// - Returns: how many there were.
    func takeFinished(from disk: SimulatedDisk) -> Int {
        state.withLock { state in
            let count = state.finished.count(where: { unlink(disk.path($0)) == 0 })
            state.finished = []
            state.tasks = state.tasks.filter { !$0.value.isRemoved }
            return count
        }
    }

    // MARK: Announcing

    func tell(_ news: [TaskNews], serial: Int64) {
        for one in news {
            if let record = one.now?.record {
                one.told == nil ? hearOfNew(record) : hearOfChanged(record)
            } else {
                hear { $0.tasks[one.id]?.isRemoved = true }
            }
        }
    }

    func tellObjects() {}

    private func hearOfNew(_ record: TaskRecord) {
        hear { state in
            if state.tasks[record.id] != nil {
                state.wrongs.append("task \(record.id) was added twice")
            }
            let known = Known(kind: record.state.kind, url: record.request.url)
            state.tasks[record.id] = known
        }
    }

    private func hearOfChanged(_ record: TaskRecord) {
        hear { state in
            guard let known = state.tasks[record.id], !known.isRemoved else {
                state.wrongs.append("task \(record.id) changes and is not there")
                return
            }
            let isAsked = known.openCalls > 0 || state.openCalls > 0
            if !isAsked, !Self.may(known.kind, become: record.state.kind) {
                state.wrongs.append(
                    "task \(record.id) was \(known.kind), and is \(record.state.kind) unasked"
                )
            }
            state.tasks[record.id]?.kind = record.state.kind
            guard record.state == .completed, known.kind != .completed else { return }
            if let wrong = check(record) { state.wrongs.append(wrong) }
            if let name = record.file?.name { state.finished.insert(name) }
        }
    }

    func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) async {
        hear { state in
            let kind = state.tasks[id]?.kind
            if kind != .downloading {
                state.wrongs.append(
                    "task \(id) makes progress and is \(kind.map { "\($0)" } ?? "none")"
                )
            }
        }
    }

    func countsChanged(_ counts: TaskCounts) async { hear { _ in } }

    func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) async {
        // Whoever calls looks whether the service still lived.
        state.withLock { _ = $0.life.ask() }
        reply()
    }

    func answerAll() {}

    private func hear(_ body: (inout State) -> Void) {
        state.withLock { state in
            guard state.life.ask() else { return }
            body(&state)
        }
    }
}
