// SPDX-License-Identifier: Apache-2.0

import Synchronization
import iDownData
import iDownState
import iDownTesting

@testable import iDownService

/// One thing that everybody was told.
enum Announcement: Sendable {
    case added(TaskSnapshot)
    case changed(from: TaskSnapshot, to: TaskSnapshot)
    case progressed(TaskID, LiveState)
    case counted(TaskCounts)
    case removed(TaskID)

    /// The task that it is about.
    var id: TaskID? {
        switch self {
        case .added(let task), .changed(_, let task): task.record.id
        case .progressed(let id, _), .removed(let id): id
        case .counted: nil
        }
    }

    /// The state that it tells; progress is told of what downloads only.
    var kind: TaskState.Kind? {
        switch self {
        case .added(let task), .changed(_, let task): task.record.state.kind
        case .progressed: .downloading
        case .counted, .removed: nil
        }
    }

    var isRemoval: Bool {
        if case .removed = self { true } else { false }
    }

    var isAddition: Bool {
        if case .added = self { true } else { false }
    }
}

/// Keeps what is announced, in order, to look back at and to wait for.
final class RecordingAnnouncer: Announcing {
    /// Comes after an announcement is kept and before the service goes on.
    typealias Hook = @Sendable (Announcement) async -> Void

    private struct Waiter {
        let condition: @Sendable ([Announcement]) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var all: [Announcement] = []
        var hook: Hook = { _ in }
        var waiters: [Waiter] = []
    }

    private let state = Mutex(State())

    /// All so far.
    var all: [Announcement] { state.withLock(\.all) }

    /// The states that were told of a task, one after the other, repetitions left out.
    func kinds(of id: TaskID) -> [TaskState.Kind] {
        var kinds: [TaskState.Kind] = []
        for announcement in all where announcement.id == id {
            guard let kind = announcement.kind, kind != kinds.last else { continue }
            kinds.append(kind)
        }
        return kinds
    }

    /// The last record that was told of a task.
    func last(of id: TaskID) -> TaskSnapshot? {
        for announcement in all.reversed() where announcement.id == id {
            switch announcement {
            case .added(let task), .changed(_, let task): return task
            case .progressed, .counted, .removed: continue
            }
        }
        return nil
    }

    /// Steps in after each announcement from now on.
    func after(_ hook: @escaping Hook) { state.withLock { $0.hook = hook } }

    /// Returns once all that was announced fulfils the condition.
    func wait(
        _ what: String,
        until condition: @escaping @Sendable ([Announcement]) -> Bool
    ) async throws {
        try await within(what) { [self] in
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    guard !condition(state.all) else { return continuation.resume() }
                    state.waiters.append(
                        Waiter(condition: condition, continuation: continuation)
                    )
                }
            }
        }
    }

    /// Returns once a task was told to be in a state, at the latest announcement of it or before.
    func wait(for id: TaskID, _ kind: TaskState.Kind, after mark: Int = 0) async throws {
        try await wait("task \(id) to be \(kind.rawValue)") { all in
            all.dropFirst(mark).contains { $0.id == id && $0.kind == kind }
        }
    }

    /// Returns once a task was told to be gone.
    func waitForRemoval(of id: TaskID) async throws {
        try await wait("task \(id) to be removed") { all in
            all.contains { $0.id == id && $0.isRemoval }
        }
    }

    // MARK: Announcing

    func tell(_ news: [TaskNews], serial: Int64) async {
        for one in news {
            switch (one.told, one.now) {
            case (_, nil): await keep(.removed(one.id))
            case (nil, let now?): await keep(.added(now))
            case (let told?, let now?): await keep(.changed(from: told, to: now))
            }
        }
    }

    func tellObjects() {}

    func taskProgressed(_ id: TaskID, _ live: LiveState, of total: Int64?) async {
        await keep(.progressed(id, live))
    }

    func countsChanged(_ counts: TaskCounts) async { await keep(.counted(counts)) }

    func call(_ reply: @escaping @Sendable () -> Void, after ids: [TaskID]) async { reply() }

    func answerAll() {}

    private func keep(_ announcement: Announcement) async {
        let hook = state.withLock { state in
            state.all.append(announcement)
            for waiter in state.waiters where waiter.condition(state.all) {
                waiter.continuation.resume()
            }
            state.waiters.removeAll { $0.condition(state.all) }
            return state.hook
        }
        await hook(announcement)
    }
}
