// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownState

@testable import iDownService

/// Each reason as data and in words.
@Suite struct ReasonTests {
    private static let now = WallTime(microseconds: 1_000_000)
    private static let busy = Failure(
        .serverBusy,
        "The server answered HTTP 503 Service Unavailable. Try later.",
        isTransient: true
    )

    @Test(arguments: [
        (Reason.paused, TaskReason("paused"), "paused by the user"),
        (.cancelled, TaskReason("cancelled"), "cancelled by the user"),
        (.offline, TaskReason("offline"), "offline"),
        (.metered, TaskReason("metered"), "metered network"),
        (.battery, TaskReason("battery"), "low battery"),
        (.disk, TaskReason("disk"), "its disk does not answer"),
        (
            .queue(running: 3, slots: 4),
            TaskReason("queue", ["running": .uint32(3), "slots": .uint32(4)]),
            "queue: 3 of 4 running"
        ),
        (
            .queue(running: 3, slots: 3, stuck: 2),
            TaskReason("queue", ["running": .uint32(3), "slots": .uint32(3), "stuck": .uint32(2)]),
            "queue: 3 of 3 running, 2 of them on a disk that does not answer"
        ),
        (
            .retry(after: .seconds(12), at: now, of: busy),
            TaskReason(
                "retry",
                [
                    "at": .uint64(13_000_000), "error": .string("Server.Busy"),
                    "message": .string(busy.message),
                ]
            ),
            "retry in 12 s (HTTP 503)"
        ),
        (
            .retry(after: .seconds(-1), at: now, of: nil),
            TaskReason("retry", ["at": .uint64(1_000_000)]), "retry in 0 s"
        ),
        (
            .hostRests(for: .seconds(180), at: now),
            TaskReason("host-rests", ["at": .uint64(181_000_000)]),
            "retry in 3 min (the server is busy, or asked for a pause)"
        ),
        (
            .hostFull("example.org"),
            TaskReason(
                "host-full",
                ["host": .string("example.org"), "connections": .uint32(16)]
            ),
            "host full: other downloads have all 16 connections to example.org"
        ),
        (
            .givesUp(afterTries: 3), TaskReason("gives-up", ["tries": .uint32(3)]),
            "gives up after 3 more tries"
        ),
        (
            .givesUp(after: .seconds(7200), at: now),
            TaskReason("gives-up", ["at": .uint64(7_201_000_000)]),
            "gives up in 2 h if nothing comes by then"
        ),
        (
            .space(missing: 1_234_567_890),
            TaskReason("space", ["missing": .uint64(1_234_567_890)]),
            "disk full: 1.3 GB missing"
        ),
        (.space(missing: nil), TaskReason("space"), "disk full"),
        (
            .settings("line 3: a comma is missing"),
            TaskReason("settings", ["message": .string("line 3: a comma is missing")]),
            "settings: line 3: a comma is missing"
        ),
    ])
    func `a reason has a code with values, and words made of them`(
        reason: Reason,
        data: TaskReason,
        text: String
    ) throws {
        #expect(reason.data == data)
        #expect(reason.text == text)
        #expect(try TaskReason(busValue: data.busValue) == data)
    }

    @Test func `a failed task has its ErrorCode and its message`() throws {
        let id = try #require(TaskID(rawValue: 7))
        let reason = Reason.failed(Self.busy, of: id)
        #expect(reason.text == Self.busy.message(for: id))
        #expect(
            reason.data
                == TaskReason(
                    "failed",
                    ["error": .string("Server.Busy"), "message": .string(reason.text)]
                )
        )
    }
}
