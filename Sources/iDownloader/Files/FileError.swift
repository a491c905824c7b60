// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// Why something could not be done with a file or folder of ours.
package enum FileError: Error, Sendable {
    /// The system refused: its errno, and the function that it came from.
    case system(Int32, StaticString)
    /// The name is taken; nothing was overwritten.
    case nameTaken
    /// The file or folder of ours is not there any more.
    case vanished
    /// Something else stands under the name of our file.
    case notOurs
    /// Our file is shorter than what was written to it: somebody has cut it.
    case shortened
    /// The folder's path leads somewhere else than when it was judged.
    case folderMoved
    /// Our file is on another file system than the one that is there now: a drive is missing.
    case otherDrive
}

extension FileError {
    /// The system's errno, where it was the system that refused.
    package var errno: Int32? {
        if case .system(let code, _) = self { return code }
        return nil
    }

    /// The file system does not know such names; without special characters it may (FAT, NTFS).
    package var isNameRefused: Bool { errno == EINVAL || errno == EILSEQ }

    /// The file system takes shorter names only.
    package var isNameTooLong: Bool { errno == ENAMETOOLONG }

    /// The failure as the contract names it, with a sentence for people and no path in it.
    package var failure: Failure {
        switch self {
        case .nameTaken:
            Failure(.fileExists, "a file of that name is there already")
        case .vanished:
            Failure(.fileVanished, "the file or its folder is not there any more")
        case .notOurs:
            Failure(.fileVanished, "another file has taken the place of the partial one")
        case .shortened:
            Failure(.fileVanished, "another program has cut the partial file")
        case .folderMoved:
            Failure(.fileVanished, "the path of the folder now leads somewhere else")
        case .otherDrive:
            Failure(
                .fileVanished,
                "the partial file is on a drive that is not there; cancel and retry to begin anew"
            )
        case .system(let code, let operation):
            Self.failure(errno: code, during: operation)
        }
    }

    private static func failure(errno code: Int32, during operation: StaticString) -> Failure {
        switch code {
        case ENOSPC:
            // How much is needed the transfer knows.
            Failure(.fileNoSpace, "no space is left on the disk", neededSpace: 0)
        case EDQUOT:
            Failure(.fileNoSpace, "the disk quota is used up", neededSpace: 0)
        case EFBIG:
            Failure(.fileNoSpace, "the file is larger than its file system allows")
        case EACCES, EPERM:
            Failure(.fileAccessDenied, "the system does not allow it (\(operation))")
        case EROFS:
            Failure(.fileAccessDenied, "the file system is read-only")
        case ENAMETOOLONG:
            Failure(.fileNameTooLong, "the name is longer than the file system allows")
        case ENOENT, ENOTDIR:
            Failure(.fileVanished, "the file or its folder is not there any more")
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN, EBUSY:
            Failure(.fileFailed, sentence(for: code, during: operation), isTransient: true)
        default:
            Failure(.fileFailed, sentence(for: code, during: operation))
        }
    }

    private static func sentence(for code: Int32, during operation: StaticString) -> String {
        // GNU's strerror_r may answer with a constant instead of the buffer; XSI's, which Swift
        // imports, fills it.
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0
            else { return "error \(code)" }
            return String(cString: start)
        }
        return "\(operation): \(text)"
    }
}
