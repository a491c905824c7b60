// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus
import iDownView

/// The options of the commands that add downloads.
struct AddingArguments: ParsableArguments {
    @Option(
        name: [.customShort("d", allowingJoined: true), .long],
        help: ArgumentHelp("Folder to save into; created if missing.", valueName: "folder"),
        completion: .directory
    )
    var directory: String?

    @Option(
        name: [.customShort("o", allowingJoined: true), .long],
        help: ArgumentHelp("File name to save as, without a folder.", valueName: "name")
    )
    var output: String?

    @Flag(
        name: [.customShort("c"), .customLong("continue")],
        help: ArgumentHelp(
            "Do not download completed files again.",
            discussion: """
                A file that idown completed from this URL in this folder, and that is still there \
                with its full size and the digest of --checksum, counts as done. Unfinished \
                downloads continue with or without this option.
                """
        )
    )
    var continues = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Higher starts first (default: 0).", valueName: "number")
    )
    var priority: Int32?

    @Option(help: ArgumentHelp("Maximum number of connections, 1 to 16.", valueName: "number"))
    var connections: UInt32?

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
                Counts where the host has answered before; other downloads fail after 8 tries. The \
                default is the setting retry-for.
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
        help: ArgumentHelp("Another URL of the same file; repeatable.", valueName: "url")
    )
    var mirror: [String] = []

    @Option(
        name: [.customShort("H", allowingJoined: true), .long],
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
        name: [
            .customShort("e", allowingJoined: true), .customLong("referer"),
            .customLong("referrer"),
        ],
        help: ArgumentHelp("URL of the page with the link.", valueName: "url")
    )
    var referrer: String?

    @Option(
        name: [.customShort("A", allowingJoined: true), .long],
        help: ArgumentHelp("User-Agent header to send.", valueName: "text")
    )
    var userAgent: String?

    @Option(
        help: ArgumentHelp(
            "Text that you choose; a repeated call with the same token adds nothing new.",
            valueName: "text"
        )
    )
    var token: String?

    @Option(help: ArgumentHelp("What to do if the file name is taken.", valueName: "choice"))
    var onExisting: AddOptions.OnExisting?

    @Option(help: ArgumentHelp("What to do with the finished file.", valueName: "choice"))
    var whenDone: AddOptions.WhenDone?

    func validate() throws {
        if let connections, !Contract.connections.contains(connections) {
            throw ValidationError("--connections is 1 to 16, not \(connections)")
        }
        if output?.contains("/") == true {
            throw ValidationError(
                "--output is a name without a folder; give the folder by --directory"
            )
        }
        try Self.checkNames(of: header)
        try InputFile.check(inputs)
    }

    /// The files that are read; nil and other texts do not matter.
    var inputs: [String?] {
        [cookies.path] + header.filter { $0.hasPrefix("@") }.map { String($0.dropFirst()) }
    }

    /// Refuses headers of the command line that name one header twice.
    static func checkNames(of lines: [String]) throws {
        var names: Set<String> = []
        for line in lines where !line.hasPrefix("@") && !line.isEmpty {
            let name = try header(line, "--header").name
            guard names.insert(name.lowercased()).inserted else {
                throw ValidationError("--header names \(name) twice; join the values in one header")
            }
        }
    }

    /// The name of a given option that is about a single file, so that only one URL is allowed; nil
    /// for none.
    var optionOfOneFile: String? {
        if output != nil { return "--output" }
        if checksum != nil { return "--checksum" }
        return mirror.isEmpty ? nil : "--mirror"
    }

    /// The name of a given option that is about the written file, so that a probe cannot use it;
    /// nil for none.
    var optionOfDownload: String? {
        if directory != nil { return "--directory" }
        if continues { return "--continue" }
        if limit != nil { return "--limit" }
        return token != nil ? "--token" : optionOfOneFile
    }

    /// Refuses an option of one file where several URLs are given.
    func check(urlCount: Int) throws {
        guard urlCount > 1, let optionOfOneFile else { return }
        throw ValidationError("\(optionOfOneFile) is for one URL, not for \(urlCount)")
    }
}

extension AddingArguments {
    /// The options as the service takes them, but for the cookies of a file, which depend on the
    /// URL.
    ///
    /// - Parameters:
    ///   - usual: The folder if none is given; nil leaves it to the service.
    ///   - isPaused: Whether the downloads are added without starting them.
    /// - Returns: The options.
    /// - Throws: `ValidationError` for a header that is not valid; `ExitCode` after telling that a
    ///   file cannot be read.
    func options(folder usual: String? = nil, isPaused: Bool = false) throws -> AddOptions {
        var options = AddOptions()
        options.directory = try (directory ?? usual).map(WorkingFolder.absolute)
        options.filename = output
        options.paused = isPaused ? true : nil
        options.priority = priority
        options.connections = connections
        options.speedLimit = limit?.bytesPerSecond
        options.retryFor = retryFor?.seconds
        options.checksum = checksum
        options.mirrors = mirror
        options.headers = try Self.headers(header)
        options.referrer = referrer
        options.userAgent = userAgent
        options.token = token
        options.onExisting = onExisting
        options.whenDone = whenDone
        if let value = cookies.value {
            options.headers = try Self.adding(value, to: options.headers)
        }
        return options
    }

    /// Puts the cookies of a file that belong to a URL into its options.
    static func fill(
        _ options: AddOptions,
        from file: CookieFile?,
        for url: String
    ) throws -> AddOptions {
        guard let value = file?.cookies(for: url) else { return options }
        var options = options
        options.headers = try adding(value, to: options.headers)
        return options
    }

    private static func adding(
        _ cookies: String,
        to headers: [AddOptions.Header]
    ) throws -> [AddOptions.Header] {
        guard !headers.contains(where: { $0.name.lowercased() == "cookie" }) else {
            throw ValidationError("cookies are given twice: by --header and by another option")
        }
        return headers + [AddOptions.Header(name: "Cookie", value: cookies)]
    }

    /// The headers of the command line and of the files that it names.
    ///
    /// A header of the command line replaces one with the same name in a file.
    static func headers(_ lines: [String]) throws -> [AddOptions.Header] {
        var headers: [AddOptions.Header] = []
        for line in lines where !line.hasPrefix("@") {
            headers.append(try header(line, "--header"))
        }
        for path in lines where path.hasPrefix("@") {
            let path = String(path.dropFirst())
            let given = Set(headers.map { $0.name.lowercased() })
            let lines = try InputFile.text(of: path)
                .split(omittingEmptySubsequences: false, whereSeparator: \.endsLine)
            for (place, line) in lines.enumerated() where !line.isEmpty {
                let name = "\(InputFile.name(of: path)), line \(place + 1),"
                let header = try header(String(line), name)
                if !given.contains(header.name.lowercased()) { headers.append(header) }
            }
        }
        return headers
    }

    /// Splits `name: value`; a message never repeats the line, which may hold a secret.
    private static func header(
        _ line: String,
        _ place: String
    ) throws -> AddOptions.Header {
        guard let header = AddOptions.Header(line: line) else {
            throw ValidationError("a header in \(place) is not of the form \"Name: value\"")
        }
        return header
    }
}
