// SPDX-License-Identifier: Apache-2.0

import DBus
import Testing
import iDownBus
import iDownView

struct EventJSONTests {
    @Test func `a change contains only the new values`() throws {
        let event = EventJSON.changed(
            id: "7",
            state: .downloading,
            changed: ["Speed": .uint64(5), "DownloadedBytes": .uint64(52_428_801)]
        )
        #expect(
            try JSONText.line(of: event)
                == #"{"Changed":{"DownloadedBytes":52428801,"Speed":5},"Event":"changed","#
                + #""Id":"7","State":"downloading"}"#
        )
    }

    @Test func `each event is one line that names its kind`() throws {
        let events: [(EventJSON, String)] = [
            (.listed(.broken), #""Event":"listed""#),
            (.added(.running), #""Event":"added""#),
            (.removed(id: "3"), #"{"Event":"removed","Id":"3"}"#),
            (
                .whole(list: "a1", serial: 9), #"{"Event":"whole","ListId":"a1","Serial":9}"#
            ),
            (.service(isRunning: false), #"{"Event":"service","Running":false}"#),
        ]
        for (event, part) in events {
            let line = try JSONText.line(of: event)
            #expect(line.contains(part) && !line.contains("\n"))
        }
    }
}
