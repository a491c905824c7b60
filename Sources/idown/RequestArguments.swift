// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

/// The options that a download gets when it is added, and that can be changed later.
struct RequestArguments: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Higher starts first; a new download has 0.", valueName: "number")
    )
    var priority: Int32?

    @Option(
        name: [.long, .customLong("limit-rate")],
        help: ArgumentHelp(
            "Maximum bytes per second: 500k, 2M, 1.5MiB/s; off for no limit.",
            valueName: "rate"
        )
    )
    var limit: RateArgument?

    @Option(
        help: ArgumentHelp(
            "How long to try without progress: 90s, 15m, 2h, 1d; forever for no end.",
            discussion: """
                Counts where the host has answered before; other downloads fail after 8 tries. A \
                new download has the setting retry-for.
                """,
            valueName: "time"
        )
    )
    var retryFor: TimeArgument?

    @Option(
        help: ArgumentHelp(
            "Digest that the file must have: sha-256=HEX, or sha-512, sha-1, md5.",
            valueName: "digest"
        )
    )
    var checksum: String?

    @Option(
        name: [.customShort("H"), .long],
        help: ArgumentHelp(
            "Request header; repeatable. @FILE reads headers from a file, one per line.",
            discussion: """
                Other users of this machine can see the arguments of a command: give a header that \
                holds a secret by @FILE, or by @- from standard input.
                """,
            valueName: "name: value"
        )
    )
    var header: [String] = []

    @OptionGroup var cookies: CookieArguments

    @Option(
        name: [.customShort("e"), .customLong("referer"), .customLong("referrer")],
        help: ArgumentHelp("URL of the page with the link.", valueName: "url")
    )
    var referrer: String?

    @Option(
        name: [.customShort("A"), .long],
        help: ArgumentHelp("User-Agent header to send.", valueName: "text")
    )
    var userAgent: String?

    @Option(help: ArgumentHelp("What to do if the file name is taken.", valueName: "choice"))
    var onExisting: AddOptions.OnExisting?

    /// Refuses headers of the command line that name one header twice.
    func validate() throws {
        var names: Set<String> = []
        for line in header where !line.hasPrefix("@") && !line.isEmpty {
            let name = try Self.header(line, "--header").name
            guard names.insert(name.lowercased()).inserted else {
                throw ValidationError("--header names \(name) twice; join the values in one header")
            }
        }
        try InputFile.check(inputs)
    }

    /// The files that the options name; nil for an option that names none.
    var inputs: [String?] {
        [cookies.path] + header.filter { $0.hasPrefix("@") }.map { String($0.dropFirst()) }
    }
}

extension RequestArguments {
    /// Puts the values into the options of a call; those of files are left out.
    func fill(_ options: inout AddOptions) {
        options.priority = priority
        options.speedLimit = limit?.bytesPerSecond
        options.retryFor = retryFor?.seconds
        options.checksum = checksum
        options.referrer = referrer
        options.userAgent = userAgent
        options.onExisting = onExisting
    }

    /// The headers of the command line and of the files that it names.
    ///
    /// A header of the command line replaces one with the same name in a file; an empty one is none.
    func headers() throws -> [AddOptions.Header] {
        var headers = try header.filter { !$0.isEmpty && !$0.hasPrefix("@") }
            .map { try Self.header($0, "--header") }
        for path in header where path.hasPrefix("@") {
            let path = String(path.dropFirst())
            let given = Set(headers.map { $0.name.lowercased() })
            let lines = try InputFile.text(of: path)
                .split(omittingEmptySubsequences: false, whereSeparator: \.endsLine)
            for (place, line) in lines.enumerated() where !line.isEmpty {
                let name = "\(InputFile.name(of: path)), line \(place + 1),"
                let header = try Self.header(String(line), name)
                if !given.contains(header.name.lowercased()) { headers.append(header) }
            }
        }
        return headers
    }

    /// Splits `name: value`; a message never repeats the line, which may hold a secret.
    private static func header(_ line: String, _ place: String) throws -> AddOptions.Header {
        guard let header = AddOptions.Header(line: line) else {
            throw ValidationError("a header in \(place) is not of the form \"Name: value\"")
        }
        return header
    }
}
