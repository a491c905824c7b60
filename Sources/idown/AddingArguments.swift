// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownBus
import iDownView

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
            "The most bytes a second, such as 500k, 2M or 1.5MiB/s; off for none.",
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
        name: [.customShort("H"), .long],
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

    @Option(
        help: ArgumentHelp(
            "What to do with the finished file: open or reveal.",
            valueName: "choice"
        ),
        completion: .list(AddOptions.WhenDone.allCases.map(\.rawValue)),
        transform: Self.whenDone
    )
    var whenDone: AddOptions.WhenDone?

    func validate() throws {
        if let connections, !Contract.connections.contains(connections) {
            throw ValidationError("--connections is 1 to 16, not \(connections)")
        }
        _ = try headers()
    }

    /// Refuses what says something of one file where there are several.
    func check(urlCount: Int) throws {
        guard urlCount > 1, let option = optionOfOneFile else { return }
        throw ValidationError("\(option) is for one URL, and \(urlCount) are given")
    }

    /// The option given that says something of one file, and so goes with one URL only.
    private var optionOfOneFile: String? {
        if output != nil { return "--output" }
        if checksum != nil { return "--checksum" }
        return mirror.isEmpty ? nil : "--mirror"
    }
}

extension AddingArguments {
    /// The options as the service takes them.
    func options(isPaused: Bool = false) throws -> AddOptions {
        var options = AddOptions()
        options.directory = try directory.map(WorkingFolder.absolute)
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
        options.whenDone = whenDone
        return options
    }

    /// Splits `name: value`; a message never repeats the line, which may hold a secret.
    private func headers() throws -> [AddOptions.Header] {
        var names: Set<String> = []
        return try header.map { line in
            guard let header = RequestHeader(line)?.header else {
                throw ValidationError("--header takes \"Name: value\"")
            }
            guard names.insert(header.name.lowercased()).inserted else {
                throw ValidationError("--header names \(header.name) twice; join the values in one")
            }
            return header
        }
    }

    private static func whenDone(_ word: String) throws -> AddOptions.WhenDone {
        guard let choice = AddOptions.WhenDone(rawValue: word) else {
            throw ValidationError("it is open or reveal")
        }
        return choice
    }

    private static func onExisting(_ word: String) throws -> AddOptions.OnExisting {
        guard let choice = AddOptions.OnExisting(rawValue: word) else {
            throw ValidationError("it is rename or fail")
        }
        return choice
    }
}
