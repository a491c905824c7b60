// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownBus
import iDownTesting

/// Links that any web page can fire, at the real service.
@Suite(.timeLimit(.minutes(5)))
struct HostileLinkTests {
    private let content = TestContent(seed: 122, count: 10_000)

    /// As a page that plays by the rules would encode it.
    private func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain = byte < 0x80 && Character(UnicodeScalar(byte)).isLetter
            return isPlain
                ? String(UnicodeScalar(byte)) : "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
        }.joined()
    }

    @Test func `what is not exactly a link to a served URL changes nothing`() async throws {
        try await withService { service in
            let metalink = service.home.path + "/a.meta4"
            try TestFile.write(
                "<metalink><file name=\"a\"><url>http://127.0.0.1:9/</url></file></metalink>",
                to: metalink
            )
            let good = encoded("http://127.0.0.1:9/x")
            let before = try await Traces.of(service)
            let long = String(repeating: "a", count: 100_000)
            var nested = "http://127.0.0.1:9/x"
            for _ in 0..<5 { nested = "idown:?url=" + encoded(nested) }
            let links =
                [
                    "file://\(metalink)", "FILE:\(metalink)", "javascript:alert(1)", "data:,x",
                    "idown:?url=\(good)", "gopher://127.0.0.1/x", "dict://127.0.0.1/", "scp://h/x",
                    "http:/127.0.0.1", "http:127.0.0.1:9/x", "//127.0.0.1:9/x", "http://", "-o/tmp",
                    "http://127.0.0.1:9/\r\nX: y", "http://127.0.0.1:9/\u{0}",
                    "http://127.0.0.1:9\\@e.org/",
                ].map { "idown:?url=" + encoded($0) }
                + [
                    nested, "idown:?url=\(good)&directory=%2ftmp", "idown:?url=\(good)&filename=x",
                    "idown:?url=\(good)&url=\(good)", "idown:?directory=%2ftmp&url=\(good)",
                    "idown:?url=\(good)&", "idown:?url=\(good)?", "idown:?url=\(good)#x",
                    "idown:?url=\(good)%", "idown:?url=\(good)%2", "idown:?url=%u0068ttp",
                    "idown:?url=\(good)%ff", "idown:?url=\(good)%c0%af", "idown:?url=\(good)%00",
                    "idown:?url=+\(good)", "idown:?url=\(good)\n", "idown:?\(good)",
                    "idown:?url=" + encoded("http://127.0.0.1:9/" + long),
                    "idown:?url=http%3a%2f%2f\(long)", "idown:\(long)", "idown:?url=",
                ]
            for link in links {
                let code = await refusal(String(link.prefix(120))) {
                    try await service.client.open([link])
                }
                let tooLong = link.utf8.count > 64 << 10
                let isRefused = code == .invalidURL || code == .unsupportedScheme
                #expect(
                    tooLong ? code == .limitExceeded : isRefused,
                    "\(link.prefix(120)): \(String(describing: code))"
                )
                // Nor does it open beside a good one.
                _ = await refusal("mixed") {
                    try await service.client.open(["http://127.0.0.1:9/good", link])
                }
            }
            #expect(try await Traces.of(service) == before)
        }
    }

    @Test(arguments: [
        ("/..%2F..%2F.config%2Fautostart%2Fx.desktop", nil),
        ("/a/../../../../etc/x", nil), ("/.bashrc", nil), ("/-rf%20~", nil),
        ("/x?name=../../.profile", "attachment; filename=\"../../.profile\""),
        ("/x", "attachment; filename*=UTF-8''%2Ftmp%2F..%2F.ssh%2Fauthorized_keys"),
        ("/x", "attachment; filename=\"/etc/cron.d/x\""),
    ])
    func `what a link brings lies in the download folder, under a tame name`(
        target: String,
        disposition: String?
    ) async throws {
        var file = ServedFile(content)
        if let disposition { file.fields.append(("Content-Disposition", disposition)) }
        let host = try ChangingHost(file)
        defer { host.stop() }
        try await withService { service in
            let before = try await Traces.of(service).files
            let mark = service.signals.count
            try await service.client.open(["idown:?url=" + encoded(host.url(target))])
            let id = try await service.addedTask(after: mark)
            try await service.waitForState("completed", of: id)
            let task = try await service.client.getTask(id)
            #expect(task.directory == service.home.downloads)
            #expect(task.path == service.home.download(task.fileName))
            #expect(!task.fileName.hasPrefix(".") && !task.fileName.hasPrefix("-"))
            let added = try await Traces.of(service).files.filter { !before.contains($0) }
            #expect(added.allSatisfy { $0 == service.home.downloads || $0 == task.path })
        }
    }

    @Test func `a link uses nothing that the user has stored, a URL does`() async throws {
        let file = ServedFile(content)
        let host = try FaultServer(
            script: .init { request in
                let isOpen = request["Authorization"] != nil || request.path == "/link"
                let challenge = ("WWW-Authenticate", "Basic realm=\"here\"")
                guard !isOpen else { return file.answer(to: request) }
                return [.head("401 No", [challenge, ("Content-Length", "0")])]
            }
        )
        defer { host.stop() }
        try await withService(started: false) { service in
            try TestFile.write(
                "machine 127.0.0.1 login me password geheim\n",
                to: service.home.path + "/.netrc"
            )
            try await service.start()
            let uris = ["idown:?url=" + encoded(host.url("/link")), host.url("/chosen")]
            for uri in uris {
                let mark = service.signals.count
                try await service.client.open([uri])
                let id = try await service.addedTask(after: mark)
                try await service.waitForState("completed", of: id)
            }
            let logins = host.requests.map { $0["Authorization"] }
            #expect(logins == [nil, nil, "Basic bWU6Z2VoZWlt"])
        }
    }
}
