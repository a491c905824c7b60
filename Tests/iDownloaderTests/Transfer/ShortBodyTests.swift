// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownState
import iDownTesting
import iDownloader

/// Answers that bring no file: what they say counts, whatever becomes of their short bodies.
@Suite(.timeLimit(.minutes(2))) struct ShortBodyTests {
    enum Body: CaseIterable, Sendable {
        case missing, cut, dripping

        /// An answer that announces a body which never comes to its end.
        func steps(_ status: String, _ fields: [(String, String)] = []) -> [Step] {
            let length = self == .dripping ? 60_000 : 154
            let head = Step.head(status, fields + [("Content-Length", "\(length)")])
            switch self {
            case .missing: return [head, .stall]
            case .cut: return [head, .text("<html>"), .stall]
            case .dripping:
                let text = TestContent(seed: 3, count: Int64(length))
                return [head, .sendPattern(text, 0..<text.count, bytesPerSecond: 2)]
            }
        }
    }

    /// Whoever waits for such a body waits longer than these tests may take.
    private static var network: NetworkConfiguration {
        var network = NetworkConfiguration()
        network.silenceTimeout = .seconds(3600)
        return network
    }

    @Test(arguments: Body.allCases)
    func `a redirect is followed although its body does not come`(body: Body) async throws {
        try await withServer({ request in
            request.path == "/start"
                ? body.steps("302 Found", [("Location", "/file.bin")])
                : Sample.file.answer(to: request)
        }) { server in
            try await withSite(network: Self.network) { site in
                let journal = try await site.download(server.url("/start"))
                expectComplete(Sample.content, site, journal)
                #expect(journal.record.tries == 0)
                #expect(server.requests.map(\.path) == ["/start", "/file.bin"])
            }
        }
    }

    @Test(arguments: Body.allCases)
    func `a status counts although its body does not come`(body: Body) async throws {
        let answers: [(status: String, code: FailureCode, isTransient: Bool)] = [
            ("404 Not Found", .serverNotFound, false), ("403 Forbidden", .serverForbidden, false),
            ("503 Service Unavailable", .serverBusy, true),
        ]
        for answer in answers {
            try await withServer({ _ in body.steps(answer.status) }) { server in
                try await withSite(network: Self.network) { site in
                    let journal = try await site.download(server.url("/file.bin"))
                    expectFailure(answer.code, isTransient: answer.isTransient, site, journal)
                    #expect(server.requests.count == 1)
                }
            }
        }
    }

    @Test(arguments: Body.allCases)
    func `a connection that is refused holds up nothing although its body does not come`(
        body: Body
    ) async throws {
        let hold = ServedFile.Hold(afterBytes: 64 << 10)
        let held = Large.file.with { $0.hold = hold }
        try await withServer({ request in
            request.number == 1 ? held.answer(to: request) : body.steps("403 Forbidden")
        }) { server in
            try await withSite(network: Self.network) { site in
                let journal = try site.task(server.url("/file.bin")) { $0.connections = 2 }
                let transfer = try site.start(journal)
                await server.waitForRequest(count: 2)
                hold.until.open()
                await transfer.ended()
                expectComplete(Large.content, site, journal)
                #expect(journal.record.tries == 0)
            }
        }
    }

    @Test func `after a short body that comes the connection is used again`() async throws {
        // All of it in one piece, so that nothing can keep the body from coming at once.
        let answer = """
            HTTP/1.1 302 Found\r\nLocation: /file.bin\r\nContent-Length: 5\r\n\r\nmoved
            """
        try await withServer({ request in
            request.path == "/start"
                ? [.rawHead(answer)]
                : Sample.file.answer(to: request)
        }) { server in
            try await withSite { site in
                let journal = try await site.download(server.url("/start"))
                expectComplete(Sample.content, site, journal)
                #expect(server.requests.map(\.connection) == [1, 1])
            }
        }
    }
}
