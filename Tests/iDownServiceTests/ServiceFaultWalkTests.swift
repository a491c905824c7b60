// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import Testing
import iDownData
import iDownState
import iDownTesting
import iDownloader

@testable import iDownService

/// A service with several downloads, with each call that may fail failing once; and then another
/// one, which finds what the first has left.
@Suite(.timeLimit(.minutes(5))) struct ServiceFaultWalkTests {
    /// Where calls leave Swift, or the process; each counts its own.
    private struct Faults: Sendable {
        var files: FaultPlan?
        var state: CallFaults?
        var curl: CallFaults?
        var commits: CallFaults?
    }

    /// How far the first service has come, and what it has answered.
    private struct Answers: Sendable {
        var hasBegun = false
        var ids: [TaskID] = []
        var isRemoved = false
    }

    /// Runs `body` with a host that serves all walks.
    private func withHost(_ body: (FaultServer) async throws -> Void) async throws {
        let server = try FaultServer(script: FaultServer.Script { Self.answer($0) })
        defer { server.stop() }
        try await body(server)
    }

    private static let names = ["cut", "whole"]

    /// A host that breaks off in the middle of one file, and brings the rest when asked for it.
    private static func answer(_ request: RecordedRequest) -> [FaultServer.Step] {
        let file = ServedFile(.small)
        guard request.target.hasSuffix("cut"), request["Range"] == nil else {
            return file.answer(to: request)
        }
        return file.cutOff(at: 12_000)
    }

    /// Once more where the list could not be written: that is what a client does.
    private func insist<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch is StoreFailure { return try await body() }
    }

    /// Ends a back-off, if the task is in one: a completed task refuses to be paused, so that
    /// nothing is fetched twice.
    private func goOn(with id: TaskID, _ hub: Hub) async throws {
        do {
            try await insist { try await hub.coordinator.carryOut(.pause, on: id) }
        } catch is Refusal {
            // It is completed, or it failed.
        }
        do {
            try await insist { try await hub.coordinator.carryOut(.resume, on: id) }
        } catch is Refusal {
            // It is completed.
        }
    }

    private func first(
        _ hub: Hub,
        _ server: FaultServer,
        _ answers: inout Answers
    ) async throws {
        answers.hasBegun = true
        for name in Self.names {
            answers.ids.append(try await insist { try await hub.add(server.url("/\(name)")) })
        }
        let spare = try await insist { try await hub.add(server.url("/x"), isPaused: true) }
        let ids = answers.ids
        try await hub.announced.wait("all to come to rest") { all in
            ids.allSatisfy { all.isAtRest($0) }
        }
        for id in ids { try await goOn(with: id, hub) }
        try await hub.announced.wait("all to come to rest again") { all in
            ids.allSatisfy { all.isAtRest($0) }
        }
        answers.ids.append(spare)
        try await insist { try await hub.coordinator.carryOut(.remove, on: spare) }
        answers.isRemoved = true
    }

    private func second(_ hub: Hub, after answers: Answers, _ comment: Comment) async throws {
        let there = try await hub.records.filter { $0.intent != .remove }.map(\.id)
        let expected = answers.isRemoved ? answers.ids.dropLast() : answers.ids[...]
        #expect(Set(there) == Set(expected), comment)
        for id in there { try await goOn(with: id, hub) }
        for id in there { try await hub.announced.wait(for: id, .completed, orIn: hub) }
        #expect(hub.names == Array(Self.names.prefix(there.count)), comment)
        for name in hub.names { #expect(hub.holds(.small, as: name), "\(comment): \(name)") }
    }

    private func walk(
        _ server: FaultServer,
        _ faults: Faults,
        _ comment: Comment
    ) async throws {
        try await withMemoryFolder { folder in
            var answers = Answers()
            do {
                try await withHub(
                    in: folder,
                    faults: faults.commits,
                    fileFaults: faults.files,
                    stateFaults: faults.state,
                    curlFaults: faults.curl
                ) { try await first($0, server, &answers) }
            } catch {
                guard error is StoreFailure || error is CurlFailure else { throw error }
                // It did not start, so that nobody was answered; or it did not end in order. In
                // between, whoever asks once more is answered.
                #expect(!answers.hasBegun || answers.isRemoved, "\(comment): \(error)")
            }
            // Whoever was not answered asks again.
            try await withHub(in: folder) { hub in
                while answers.ids.count < Self.names.count {
                    let name = Self.names[answers.ids.count]
                    let id = try await hub.add(server.url("/\(name)"))
                    answers.ids.append(id)
                    try await hub.announced.wait("\(name) to come to rest") { $0.isAtRest(id) }
                }
                try await second(hub, after: answers, comment)
            }
        }
    }

    @Test func `whatever call into the file system fails, every task is there and right`()
        async throws
    {
        try await withHost { server in
            let plan = FaultPlan()
            try await walk(server, Faults(files: plan), "no fault")
            #expect(plan.calls > 40)
            for call in 1...plan.calls {
                let faults = Faults(files: FaultPlan(failing: call))
                let comment: Comment = "call \(call) of \(plan.calls) into the file system"
                try await walk(server, faults, comment)
            }
        }
    }

    @Test func `whatever call for the list's own files fails, every task is there and right`()
        async throws
    {
        try await withHost { server in
            let plan = CallFaults()
            try await walk(server, Faults(state: plan), "no fault")
            #expect(plan.calls > 5)
            for call in 1...plan.calls {
                let faults = Faults(state: CallFaults(failing: [call]))
                let comment: Comment = "call \(call) of \(plan.calls) for the list's files"
                try await walk(server, faults, comment)
            }
        }
    }

    @Test func `whatever commit fails, every task is there and right`() async throws {
        try await withHost { server in
            let plan = CallFaults()
            try await walk(server, Faults(commits: plan), "no fault")
            #expect(plan.calls > 8)
            // What arrives together shares one, so that their number differs a little.
            for commit in 1...(plan.calls + 2) {
                let faults = Faults(commits: CallFaults(failing: [commit]))
                try await walk(server, faults, "commit \(commit) of \(plan.calls)")
            }
        }
    }

    @Test func `whatever call into libcurl fails, every task is there and right`() async throws {
        try await withHost { server in
            let plan = CallFaults()
            try await walk(server, Faults(curl: plan), "no fault")
            #expect(plan.calls > 40)
            // The rounds of its loop are calls as well, and their number differs a little.
            for call in 1...(plan.calls + 5) {
                let faults = Faults(curl: CallFaults(failing: [call]))
                let comment: Comment = "call \(call) of \(plan.calls) into libcurl"
                try await walk(server, faults, comment)
            }
        }
    }
}

extension [Announcement] {
    /// Whether a task was last told to be where nothing moves it for a while.
    fileprivate func isAtRest(_ id: TaskID) -> Bool {
        for announcement in reversed() where announcement.id == id {
            switch announcement {
            case .added(let task), .changed(_, let task):
                switch task.record.state {
                case .completed, .failed, .cancelled, .paused: return true
                case .waiting(.retry), .waiting(.space): return true
                case .waiting, .downloading: return false
                }
            case .progressed, .counted, .removed: continue
            }
        }
        return false
    }
}

extension RecordingAnnouncer {
    /// Returns once a task is in a state, told or found so.
    fileprivate func wait(for id: TaskID, _ kind: TaskState.Kind, orIn hub: Hub) async throws {
        guard try await hub.record(id)?.state.kind != kind else { return }
        try await wait(for: id, kind)
    }
}
