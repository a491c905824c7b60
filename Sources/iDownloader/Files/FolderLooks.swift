// SPDX-License-Identifier: Apache-2.0

import Executors
package import iDownState

/// Checks and makes the folders that clients name, one at a time for each file system.
///
/// If a file system does not answer in time, the calls that wait for it fail, and later ones fail
/// immediately until it answers.
package final class FolderLooks: Sendable {
    private enum Step: Sendable {
        /// The path leads to another file system, where it is looked at next.
        case elsewhere(String)
        /// The folder can be used; its path with links resolved.
        case over(String)
    }

    /// The longest time that a call waits for an answer.
    private static let longestWait: Duration = .seconds(2)

    private let disk: DiskQueue
    private let fileSystem: FileSystem
    private let closed: ClosedFolders

    /// - Parameters:
    ///   - disk: the threads on which folders are looked at, and which a hanging folder may block.
    ///   - fileSystem: makes the system calls.
    init(on disk: DiskQueue, fileSystem: FileSystem) {
        self.disk = disk
        self.fileSystem = fileSystem
        closed = ClosedFolders(fileSystem: fileSystem, longestWait: Self.longestWait / 2)
    }

    /// Checks a folder, makes it if it is missing, and returns its path with links resolved.
    ///
    /// A finished `file` that is to move there has to be on the same file system. Without `makes`,
    /// a missing folder is not made.
    package func prepare(
        _ path: String,
        rules: FolderRules,
        for file: LocalFile? = nil,
        makes: Bool = true
    ) async throws(FolderRefusal) -> String {
        // First, since the look for links would keep this disk busy for minutes with a path that is
        // far too long.
        try TargetFolder.checkForm(path)
        let end = ContinuousClock.now + Self.longestWait
        var place = path
        for hop in 0...Self.mostHops {
            guard !disk.holdsUpLooks(in: place, for: Self.longestWait) else { break }
            let step = try await withTimeLimit(end - .now) {
                [self, place] () async throws(FolderRefusal) -> Step? in
                try await disk.run(key: nil, in: place) {
                    [self] () throws(FolderRefusal) -> Step? in
                    // Nobody waits any more, so nothing is made either.
                    guard ContinuousClock.now < end else { return nil }
                    let device = disk.fileSystem(of: place)
                    if hop < Self.mostHops, let exit = exit(of: path, from: device) {
                        return .elsewhere(exit)
                    }
                    let folder = try TargetFolder(
                        path,
                        rules: rules,
                        closed: closed,
                        fileSystem: fileSystem
                    )
                    try folder.make(fileSystem: fileSystem, for: file, makes: makes)
                    return .over(folder.path)
                }
            }
            guard let step = step ?? nil else { break }
            switch step {
            case .elsewhere(let next): place = next
            case .over(let path): return path
            }
        }
        throw FolderRefusal(
            "The folder's disk does not answer. Choose another folder, or try again later."
        )
    }

    /// The most file systems that a look is moved to by links; then it is made where it is.
    private static let mostHops = 8
    /// The most links followed in one path, as in the kernel (path_resolution(7)).
    private static let mostLinks = 40

    /// Returns where the links of a path lead to another file system; nil if the path stays on this
    /// one.
    ///
    /// The look then moves there, because a file system that hangs must not delay looks at other
    /// folders on this one. Links behind the returned path are not followed.
    private func exit(of path: String, from device: UInt64?) -> String? {
        var rest = Array(path.split(separator: "/").map(String.init).reversed())
        var (done, links) = ([String](), 0)
        while let name = rest.popLast() {
            if name == "." { continue }
            if name == ".." {
                _ = done.popLast()
                continue
            }
            let here = "/" + (done + [name]).joined(separator: "/")
            guard let target = fileSystem.target(of: here) else {
                done.append(name)
                continue
            }
            links += 1
            guard links <= Self.mostLinks else { return nil }
            if target.hasPrefix("/") { done = [] }
            rest += target.split(separator: "/").map(String.init).reversed()
            let place = "/" + (done + rest.reversed()).joined(separator: "/")
            guard disk.fileSystem(of: place) == device else { return place }
        }
        return nil
    }
}
