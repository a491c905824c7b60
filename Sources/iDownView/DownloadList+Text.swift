// SPDX-License-Identifier: Apache-2.0

package import iDownBus

extension DownloadList {
    /// Writes tasks as an input file that ``init(_:)`` and `aria2c -i` read.
    ///
    /// Request headers, cookies, user names and passwords are left out, because the service does not
    /// give them away.
    ///
    /// - Throws: ``Unwritable`` for a value that would be read back differently, such as a folder
    ///   with a line end.
    package static func lines(
        of tasks: [TaskProperties],
        for reader: LineReader = .program
    ) throws(Unwritable) -> [String] {
        var lines: [String] = []
        for task in tasks {
            lines.append(([task.url] + task.mirrors).map(reader.line).joined(separator: "\t"))
            for (name, value) in options(of: task) {
                let text = reader.line(value)
                // The reader of a list takes blanks from both ends.
                let isKept = text == value && !value.hasPrefix(" ") && !value.hasSuffix(" ")
                guard isKept || reader == .terminal else {
                    throw Unwritable(id: task.id, option: name)
                }
                lines.append("  \(name)=\(text)")
            }
        }
        return lines
    }

    /// A value that a list as text cannot hold.
    package struct Unwritable: Error, CustomStringConvertible {
        fileprivate let id: String
        fileprivate let option: String

        package var description: String {
            "nothing was written, because a list as text cannot hold the option \(option) of"
                + " download \(id): it has a control character, or a blank at its end."
                + " Use --json, which holds everything."
        }
    }

    private static func options(of task: TaskProperties) -> [(name: String, value: String)] {
        var options: [(name: String, value: String)] = []
        func add(_ name: String, _ value: String) { options.append((name, value)) }
        if !task.directory.isEmpty { add("dir", task.directory) }
        // The import takes the name from the URL again. Without `out`, entries have equal options,
        // so one call can add thousands of them.
        if !task.fileName.isEmpty, !isSuggested(task.fileName, by: task.url) {
            // The reader takes blanks from the start of a value.
            add("out", (task.fileName.hasPrefix(" ") ? "./" : "") + task.fileName)
        }
        if !task.checksum.isEmpty { add("checksum", task.checksum) }
        if !task.referrer.isEmpty { add("referer", task.referrer) }
        if !task.userAgent.isEmpty { add("user-agent", task.userAgent) }
        if task.speedLimit > 0 { add("max-download-limit", "\(task.speedLimit)") }
        if task.maxConnections > 0 {
            // aria2 uses the lower of the two numbers.
            add("split", "\(task.maxConnections)")
            add("max-connection-per-server", "\(task.maxConnections)")
        }
        if task.retryFor != Contract.usualRetryFor {
            add("retry-for", Quantity.text(ofSeconds: task.retryFor))
        }
        if task.state == .paused { add("pause", "true") }
        if task.priority != 0 { add("priority", "\(task.priority)") }
        if task.expectedSize > 0 { add("expected-size", "\(task.expectedSize)") }
        if !task.whenDone.isEmpty { add("when-done", task.whenDone) }
        if task.onExisting != AddOptions.OnExisting.rename.rawValue, !task.onExisting.isEmpty {
            add("on-existing", task.onExisting)
        }
        return options
    }

    /// The list in the form that ``init(_:)`` reads, with a line of its own for each mirror.
    package var text: String {
        entries.flatMap { entry in
            [entry.url] + entry.optionLines.map { "  \($0.name)=\($0.value)" }
        }.joined(separator: "\n")
    }

    /// Returns whether a name is the one that the service takes from a URL by itself.
    static func isSuggested(_ name: String, by url: String) -> Bool {
        guard let path = URLText(url)?.path else { return false }
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        guard !last.isEmpty else { return name == "download" }
        return name == last || name == URLText.percentDecoded(last)
    }
}

extension DownloadList.Entry {
    fileprivate var optionLines: [(name: String, value: String)] {
        let isBlank = subfolder == nil && options.filename?.hasPrefix(" ") == true
        let name = [isBlank ? "." : subfolder, options.filename].compactMap(\.self)
            .joined(separator: "/")
        let texts: [(String, String?)] = [
            ("dir", options.directory), ("out", name.isEmpty ? nil : name),
            ("checksum", options.checksum), ("referer", options.referrer),
            ("user-agent", options.userAgent), ("token", options.token),
            ("pause", options.paused.map { "\($0)" }),
            ("max-connection-per-server", options.connections.map { "\($0)" }),
            ("max-download-limit", options.speedLimit.map { "\($0)" }),
            ("priority", options.priority.map { "\($0)" }),
            ("retry-for", options.retryFor.map { Quantity.text(ofSeconds: $0) }),
            ("expected-size", options.expectedSize.map { "\($0)" }),
            ("when-done", options.whenDone?.rawValue),
            ("on-existing", options.onExisting?.rawValue),
        ]
        return texts.compactMap { name, text in text.map { (name: name, value: $0) } }
            + options.headers.map { (name: "header", value: "\($0.name): \($0.value)") }
            + options.mirrors.map { (name: "mirror", value: $0) }
    }
}
