// SPDX-License-Identifier: Apache-2.0

import Curl
import Executors
import iDownBus
import iDownState
import iDownloader

// Downloads that the desktop passes on; they cannot choose a folder, a name or an option.
extension OptionChecker {
    /// The most metalinks in one call, each of which is read as a whole.
    private static let mostMetalinks = 100

    /// Checks all URIs, reads the metalinks among them, creates the folder, and returns the tasks.
    ///
    /// - Throws: `AccessDenied` for a file that a sandboxed application names, because the service
    ///   may read files that the application may not.
    func judge(opened uris: [String]) async throws -> [NewTask] {
        let opened = try await Self.read(opened: uris)
        let metalinks = opened.count(where: \.isMetalink)
        guard metalinks == 0 || owner == nil else {
            throw ManagerError(
                .accessDenied,
                "A sandboxed application may open URLs only, no files."
            )
        }
        guard metalinks <= Self.mostMetalinks else {
            throw ManagerError(
                .limitExceeded,
                "Open takes at most \(Self.mostMetalinks) metalinks, not \(metalinks)."
            )
        }
        var tasks: [NewTask] = []
        for item in opened {
            switch item {
            case .reference(let reference, let isUsersOwn):
                tasks.append(task(for: reference, isUsersOwn: isUsersOwn))
            case .metalink(let path, let place):
                tasks += Self.tasks(for: try await metalink(at: path, place).files)
            }
            guard tasks.count <= Contract.maximumURLs else {
                throw ManagerError(
                    .limitExceeded,
                    "Open adds at most \(Contract.maximumURLs) downloads at once."
                )
            }
        }
        // The folder is created last, when everything else is known to be valid.
        return try await finished(consume tasks, with: AddOptions())
    }

    /// Reads a local metalink, checks the options, creates the folder, and returns the tasks.
    ///
    /// - Throws: `InvalidURL` for a path that does not name a metalink, and for a file that cannot
    ///   be read, is no metalink, or lists a file without a URL that can be downloaded.
    func judge(metalinkAt path: String, _ options: AddOptions) async throws -> [NewTask] {
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw ManagerError(
                .invalidURL,
                "\(Self.shown(path)) is not an absolute path such as /home/me/a.meta4."
            )
        }
        try Self.checkIsMetalink(path, "")
        let metalink = try await metalink(at: path, "")
        // All files are added or none, because the caller gets an id for each.
        if let name = metalink.leftOut.first {
            let others = metalink.leftOut.count - 1
            throw ManagerError(
                .invalidURL,
                "The metalink has no URL that idown downloads for the file \(Self.shown(name))"
                    + (others > 0 ? " and \(others) more" : "")
                    + ". Take such files out of the metalink, or add the URLs of the others."
            )
        }
        var tasks = Self.tasks(for: metalink.files)
        for index in tasks.indices { tasks[index].isUsersOwn = true }
        return try await finished(consume tasks, with: options)
    }

    private static func tasks(for files: [Metalink.File]) -> [NewTask] {
        files.map { file in
            let file = ListedFile(file, into: "")
            return NewTask(request: file.request, pieces: file.pieces)
        }
    }

    private enum Opened: Sendable {
        /// A URL, and whether the user chose it; a link may come from any web page.
        case reference(URLReference, isUsersOwn: Bool)
        /// A local metalink, and what begins the text of an error about it.
        case metalink(path: String, place: String)

        var isMetalink: Bool { if case .metalink = self { true } else { false } }
    }

    /// Reads the URIs on another thread, because the bus has other calls to serve.
    @concurrent
    private static func read(opened uris: [String]) async throws -> [Opened] {
        try uris.enumerated().map { index, uri throws(ManagerError) in
            let place = uris.count > 1 ? "URI \(index + 1): " : ""
            switch try opened(uri, place) {
            case .url(let url):
                return .reference(try reference(url, place: place), isUsersOwn: true)
            case .link(let url):
                return .reference(try reference(url, place: place), isUsersOwn: false)
            case .file(let path):
                try checkIsMetalink(path, place)
                return .metalink(path: path, place: place)
            }
        }
    }

    private static func checkIsMetalink(_ path: String, _ place: String) throws(ManagerError) {
        guard Metalink.isMeant(mimeType: "", name: path) else {
            throw ManagerError(
                .invalidURL,
                "\(place)Of local files idown opens metalinks only: their names end in .meta4 or"
                    + " .metalink."
            )
        }
    }

    private static func opened(_ uri: String, _ place: String) throws(ManagerError) -> OpenedURI {
        do throws(ManagerError) {
            return try OpenedURI(uri)
        } catch {
            throw ManagerError(error.code ?? .invalidURL, place + error.message)
        }
    }

    /// Calls that come later wait for this reading; a sleeping disk needs some seconds.
    private static let longestReading: Duration = .seconds(5)

    private func metalink(at path: String, _ place: String) async throws(ManagerError) -> Metalink {
        func refusal(_ reason: String) -> ManagerError {
            let name = Self.shown(String(path.split(separator: "/").last ?? ""))
            let end = reason.hasSuffix(".") ? "" : "."
            return ManagerError(.invalidURL, "\(place)The metalink \(name) \(reason)\(end)")
        }
        do throws(MetalinkFault) {
            let read = try await withTimeLimit(Self.longestReading) {
                () async throws(MetalinkFault) in try await engine.readMetalink(at: path)
            }
            if let read { return read }
        } catch {
            throw refusal(error.message)
        }
        throw refusal("cannot be read: its disk does not answer")
    }
}
