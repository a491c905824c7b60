// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus

/// The options that every command has which adds downloads.
struct AddingArguments: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The folder to save into; made if it is missing.",
            discussion: "Default: the service's download folder.",
            valueName: "folder"
        ),
        completion: .directory
    )
    var directory: String?

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The file's name, without a folder.", valueName: "name")
    )
    var output: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Higher goes first; 0 if not given.", valueName: "number")
    )
    var priority: Int32?

    @Option(help: ArgumentHelp("The most connections at once, 1 to 16.", valueName: "number"))
    var connections: UInt32?

    @Option(
        help: ArgumentHelp(
            "The most bytes a second, such as 500k or 2M; 0 for no limit.",
            valueName: "rate"
        )
    )
    var limit: RateArgument?

    @Option(
        help: ArgumentHelp(
            "The digest that the file must have: sha-256=hex, also sha-512, sha-1 and md5.",
            valueName: "digest"
        )
    )
    var checksum: String?

    @Option(
        help: ArgumentHelp(
            "Another URL of the same file; may be given several times.",
            valueName: "url"
        )
    )
    var mirror: [String] = []

    @Option(
        help: ArgumentHelp(
            "A request header; may be given several times.",
            valueName: "name: value"
        )
    )
    var header: [String] = []

    @Option(help: ArgumentHelp("The page that the link stands on.", valueName: "url"))
    var referrer: String?

    @Option(help: ArgumentHelp("Whom to pretend to be.", valueName: "text"))
    var userAgent: String?

    @Option(
        help: ArgumentHelp(
            "A text of your own: the same token adds only once, for ever.",
            valueName: "text"
        )
    )
    var token: String?

    @Option(
        help: ArgumentHelp(
            "What to do when the name is taken: rename or fail.",
            valueName: "choice"
        ),
        completion: .list(AddOptions.OnExisting.allCases.map(\.rawValue)),
        transform: Self.onExisting
    )
    var onExisting: AddOptions.OnExisting?

    func validate() throws {
        if let connections, !Contract.connections.contains(connections) {
            throw ValidationError("--connections is 1 to 16, not \(connections)")
        }
        _ = try headers()
    }

    /// The option given that says something of one file, and so goes with one URL only.
    var optionOfOneFile: String? {
        if output != nil { return "--output" }
        if checksum != nil { return "--checksum" }
        return mirror.isEmpty ? nil : "--mirror"
    }
}

extension AddingArguments {
    /// The options as the service takes them.
    func options(isPaused: Bool = false) throws -> AddOptions {
        var options = AddOptions()
        options.directory = try directory.map(Self.absolute)
        options.filename = output
        options.paused = isPaused ? true : nil
        options.priority = priority
        options.connections = connections
        options.speedLimit = limit?.bytesPerSecond
        options.checksum = checksum
        options.mirrors = mirror
        options.headers = try headers()
        options.referrer = referrer
        options.userAgent = userAgent
        options.token = token
        options.onExisting = onExisting
        return options
    }

    /// Splits `name: value`; a message never repeats the line, which may hold a secret.
    private func headers() throws -> [AddOptions.Header] {
        var names: Set<String> = []
        return try header.map { line in
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
                throw ValidationError("--header takes \"Name: value\"")
            }
            let name = String(line[..<colon])
            guard names.insert(name.lowercased()).inserted else {
                throw ValidationError("--header names \(name) twice; join the values in one")
            }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return AddOptions.Header(name: name, value: String(value))
        }
    }

    private static func onExisting(_ word: String) throws -> AddOptions.OnExisting {
        guard let choice = AddOptions.OnExisting(rawValue: word) else {
            throw ValidationError("it is rename or fail")
        }
        return choice
    }

    /// The service does not know where this command was started: getcwd(3).
    private static func absolute(_ path: String) throws -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = getcwd(nil, 0) else {
            throw ValidationError("the current folder is gone; give --directory from / on")
        }
        defer { free(folder) }
        let current = String(cString: folder)
        return current == "/" ? "/" + path : current + "/" + path
    }
}
