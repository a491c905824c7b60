// SPDX-License-Identifier: Apache-2.0

import iDownTesting

/// What a process asked of the system, as `strace -f -y` wrote it down.
///
/// The places of a call's begin and end among all lines tell the order: of two calls of different
/// threads one was over before the other began exactly if its end stands before the other's begin.
struct SystemCallTrace {
    struct Call {
        let name: String
        /// All between the parentheses, as strace shows it.
        let arguments: String
        let result: String
        /// The line on which it was entered.
        let begin: Int
        /// The line on which it returned.
        let end: Int

        var succeeded: Bool { !result.hasPrefix("-") && !result.hasPrefix("?") }

        /// The path of the descriptor that is the first argument.
        var path: String {
            let rest = arguments.drop { $0 != "<" }.dropFirst()
            return String(rest.prefix { $0 != ">" })
        }
    }

    /// In the order in which they were entered.
    let calls: [Call]
    /// Lines that are neither a call nor a remark of strace.
    let unread: [String]

    /// Reads what `-o` has written, with times (`-ttt`) and threads.
    init(_ text: String) {
        var calls: [Call] = []
        var unread: [String] = []
        var open: [Substring: (name: Substring, arguments: Substring, begin: Int)] = [:]
        for (number, line) in text.split(separator: "\n").enumerated() {
            // A thread's id, padded, then the time, then what happened.
            let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
            guard words.count == 3 else {
                unread.append(String(line))
                continue
            }
            let (thread, event) = (words[0], words[2])
            if event.hasPrefix("+++") || event.hasPrefix("---") { continue }
            if event.hasPrefix("<... ") {
                let name = event.dropFirst(5).prefix { $0 != " " }
                guard let begun = open.removeValue(forKey: thread), begun.name == name,
                    let rest = event.firstRange(of: " resumed>"),
                    let (arguments, result) = Self.tail(event[rest.upperBound...])
                else {
                    unread.append(String(line))
                    continue
                }
                calls.append(
                    Call(
                        name: String(name),
                        arguments: String(begun.arguments) + arguments,
                        result: result,
                        begin: begun.begin,
                        end: number
                    )
                )
                continue
            }
            guard let parenthesis = event.firstIndex(of: "(") else {
                unread.append(String(line))
                continue
            }
            let name = event[..<parenthesis]
            let rest = event[event.index(after: parenthesis)...]
            if rest.hasSuffix("<unfinished ...>") {
                open[thread] = (name, rest.dropLast("<unfinished ...>".count), number)
            } else if let (arguments, result) = Self.tail(rest) {
                calls.append(
                    Call(
                        name: String(name),
                        arguments: String(arguments),
                        result: result,
                        begin: number,
                        end: number
                    )
                )
            } else {
                unread.append(String(line))
            }
        }
        self.calls = calls.sorted { $0.begin < $1.begin }
        self.unread = unread
    }

    /// Splits `…arguments) = result` at the last such sign, since arguments hold any text.
    private static func tail(_ text: Substring) -> (Substring, String)? {
        var place: Range<Substring.Index>?
        var from = text.startIndex
        while let found = text[from...].firstRange(of: ") ") {
            let rest = text[found.upperBound...].drop { $0 == " " }
            if rest.hasPrefix("= ") { place = found }
            from = found.upperBound
        }
        guard let place else { return nil }
        let result = text[place.upperBound...].drop { $0 == " " }.dropFirst(2)
        return (text[..<place.lowerBound], String(result))
    }
}

extension SystemCallTrace {
    /// How the kernel shows the file that has this name in this folder.
    ///
    /// What was made without a name, and linked later, goes on by what it was called at first.
    func path(of name: String, in folder: String) -> String {
        let link = calls.first { call in
            call.name == "linkat" && call.succeeded && call.arguments.contains("\"\(name)\"")
        }
        guard let link, let start = link.arguments.firstRange(of: "/proc/self/fd/") else {
            return "\(folder)/\(name)"
        }
        let number = link.arguments[start.upperBound...].prefix { $0.isNumber }
        let later = calls.first { call in
            link.end < call.begin && call.arguments.hasPrefix("\(number)<\(folder)/#")
        }
        return later?.path ?? "\(folder)/\(name)"
    }

    /// The sync of a file: fsync(2) or fdatasync(2).
    func syncs(of path: String) -> [Call] {
        calls.filter { ["fsync", "fdatasync"].contains($0.name) && $0.path == path }
    }

    /// Writes into a file.
    func writes(to path: String) -> [Call] {
        calls.filter { ["pwrite64", "write", "writev"].contains($0.name) && $0.path == path }
    }

    /// Messages sent over the bus that hold all of these words.
    func sent(_ words: String...) -> [Call] {
        calls.filter { call in
            call.name == "sendmsg" && words.allSatisfy { call.arguments.contains($0) }
        }
    }

    /// The transactions of a SQLite database in WAL mode.
    ///
    /// One is durable when the log is synced after writes to it.
    func commits(of database: String) -> [Commit] {
        let log = database + "-wal"
        var commits: [Commit] = []
        var firstWrite: Call?
        for call in calls where call.path == log {
            switch call.name {
            case "pwrite64", "write", "writev": firstWrite = firstWrite ?? call
            case "fsync", "fdatasync":
                guard let begin = firstWrite?.begin else { continue }
                commits.append(Commit(begin: begin, end: call.end))
                firstWrite = nil
            default: continue
            }
        }
        return commits
    }

    struct Commit {
        /// Where the first write to the log was entered.
        let begin: Int
        /// Where the sync returned.
        let end: Int
    }
}
