// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Resolves the links of closed folders anew for each look, every folder on a thread of its own.
///
/// A closed folder on a disk that hangs must not hold up downloads to other disks. A folder that
/// does not answer in time is judged by its text and by the path that it last led to. Later looks
/// do not wait for it until it answers.
final class ClosedFolders: Sendable {
    private struct Folder {
        let thread = DiskThread(label: "org.idown.closed-folder")
        /// Where the folder last led; nil before it has answered, and where it led nowhere.
        var path: String?
    }

    private let fileSystem: FileSystem
    private let longestWait: Duration
    /// The folders by the bytes of their texts: a String takes two spellings for one.
    private let folders = Mutex<[[UInt8]: Folder]>([:])

    /// - Parameters:
    ///   - fileSystem: makes the system calls.
    ///   - longestWait: the longest time that a look waits for all folders together.
    init(fileSystem: FileSystem, longestWait: Duration) {
        self.fileSystem = fileSystem
        self.longestWait = longestWait
    }

    /// Returns the closed folders as written, and where they lead.
    ///
    /// Waits for the folders' disks, so it must not be called on one of Swift's own threads.
    func paths(of texts: [String]) -> [String] {
        let texts = texts.filter { $0.utf8.first == UInt8(ascii: "/") }
        let looks = texts.compactMap(look(at:))
        let end = DispatchTime.now() + longestWait / .seconds(1)
        for answer in looks { _ = answer.wait(timeout: end) }
        return texts
            + folders.withLock { folders in texts.compactMap { folders[Array($0.utf8)]?.path } }
    }

    /// Begins a look; returns nil for a folder that still owes the answer to an earlier one.
    private func look(at text: String) -> DispatchSemaphore? {
        let key = Array(text.utf8)
        let thread = folders.withLock { folders in
            folders[key] = folders[key] ?? Folder()
            return folders[key]?.thread
        }
        guard let thread, !thread.hasOutlasted(longestWait) else { return nil }
        let answer = DispatchSemaphore(value: 0)
        thread.async { [self] in
            // After an error the folder may still be where it last led.
            if let target = try? TargetFolder.resolve(text, fileSystem) {
                folders.withLock { $0[key]?.path = target.path }
            }
            answer.signal()
        }
        return answer
    }
}
