// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import iDownBus
import iDownView

/// The options of the commands that add downloads.
struct AddingArguments: ParsableArguments {
    @Option(
        name: [.customShort("d"), .long],
        help: ArgumentHelp("Folder to save into; created if missing.", valueName: "folder"),
        completion: .directory
    )
    var directory: String?

    @Option(
        name: [.customShort("o"), .long],
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

    @Option(help: ArgumentHelp("Maximum number of connections, 1 to 16.", valueName: "number"))
    var connections: UInt32?

    @Option(
        help: ArgumentHelp("Another URL of the same file; repeatable.", valueName: "url")
    )
    var mirror: [String] = []

    @OptionGroup var request: RequestArguments

    @Option(
        help: ArgumentHelp(
            "Text that you choose; a repeated call with the same token adds nothing new.",
            valueName: "text"
        )
    )
    var token: String?

    @Option(help: ArgumentHelp("What to do with the finished file.", valueName: "choice"))
    var whenDone: AddOptions.WhenDone?

    func validate() throws {
        if request.header.contains("") {
            throw ValidationError("--header is empty; give a header as \"Name: value\"")
        }
        if let connections, !Contract.connections.contains(connections) {
            throw ValidationError("--connections is 1 to 16, not \(connections)")
        }
        if output == "-" {
            throw ValidationError(
                "idown writes no file to standard output: save it, and read the path that get prints"
            )
        }
        if output?.contains("/") == true {
            throw ValidationError(
                "--output is a name without a folder; give the folder by --directory"
            )
        }
    }

    /// The name of a given option that is about a single file, so that only one URL is allowed; nil
    /// for none.
    var optionOfOneFile: String? { values.keysOfOneFile.first.map(AddOptions.argument) }

    /// The name of a given option that is about the transfer or the written file, so that a probe
    /// cannot use it; nil for none.
    ///
    /// `--output` is allowed: the answer of a probe then has that name.
    var optionOfDownload: String? {
        let given: [String: Any?] = [
            "--directory": directory, "--continue": continues ? true : nil, "--token": token,
            "--limit": request.limit, "--priority": request.priority, "--connections": connections,
            "--retry-for": request.retryFor, "--checksum": request.checksum,
            "--mirror": mirror.first, "--on-existing": request.onExisting, "--when-done": whenDone,
        ]
        return given.filter { $0.value != nil }.keys.min()
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
        var options = values
        options.directory = try (directory ?? usual).map(WorkingFolder.absolute)
        options.paused = isPaused ? true : nil
        options.headers = try request.headers()
        if let value = request.cookies.value {
            options.headers = try Self.adding(value, to: options.headers)
        }
        return options
    }

    /// The options as the service takes them, but for the folder, the headers and the cookies, which
    /// can be wrong.
    private var values: AddOptions {
        var options = AddOptions()
        options.filename = output
        request.fill(&options)
        options.connections = connections
        options.mirrors = mirror
        options.token = token
        options.whenDone = whenDone
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
}

extension AddOptions {
    /// Returns how the command line names an option of the contract.
    static func argument(_ name: String) -> String {
        switch name {
        case "filename": "--output"
        case "mirrors": "--mirror"
        default: "--\(name)"
        }
    }
}
