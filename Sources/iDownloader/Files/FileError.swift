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

    /// Our file is not under its name: nothing stands there, or something else.
    var isAbsence: Bool {
        switch self {
        case .vanished, .notOurs: true
        case .system, .nameTaken, .shortened, .folderMoved, .otherDrive: false
        }
    }

    /// Our file, or the folder that it was in, is not there any more.
    var isGone: Bool {
        if case .folderMoved = self { return true }
        return isAbsence
    }

    /// The file system does not know such names; without special characters it may (FAT, NTFS).
    package var isNameRefused: Bool { errno == EINVAL || errno == EILSEQ }

    /// The file system takes shorter names only.
    package var isNameTooLong: Bool { errno == ENAMETOOLONG }

    /// The failure as the contract names it, with a sentence for people and no path in it.
    package var failure: Failure {
        switch self {
        case .nameTaken:
            Failure(.fileExists, "A file with this name already exists. Choose another name.")
        case .vanished:
            Failure(.fileVanished, Self.gone)
        case .notOurs:
            Failure(
                .fileVanished,
                "Another file has taken the place of the partial file. Move it away and try again."
            )
        case .shortened:
            Failure(.fileVanished, "Another program has shortened the partial file. Try again.")
        case .folderMoved:
            Failure(
                .fileVanished,
                "The path of the folder now leads to another folder. Undo that and try again."
            )
        case .otherDrive:
            Failure(
                .fileVanished,
                "The partial file is on a drive that is not connected. Connect the drive and try"
                    + " again, or cancel and retry the download to start from zero."
            )
        case .system(let code, let operation):
            Self.failure(errno: code, during: operation)
        }
    }

    private static func failure(errno code: Int32, during operation: StaticString) -> Failure {
        switch code {
        case ENOSPC:
            // How much is needed the transfer knows.
            Failure(.fileNoSpace, "The disk is full.", neededSpace: 0)
        case EDQUOT:
            Failure(.fileNoSpace, "Your disk quota is used up.", neededSpace: 0)
        case EFBIG:
            Failure(
                .fileNoSpace,
                "The file is larger than the file system allows. Choose a folder on another one."
            )
        case EACCES, EPERM:
            Failure(
                .fileAccessDenied,
                "The system does not allow it (\(operation)). Check the permissions of the folder."
            )
        case EROFS:
            Failure(.fileAccessDenied, "The file system is read-only. Choose another folder.")
        case ENAMETOOLONG:
            Failure(
                .fileNameTooLong,
                "The file name is longer than the file system allows. Choose a shorter one."
            )
        case ENOENT, ENOTDIR:
            Failure(.fileVanished, Self.gone)
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
        return "The system reports an error (\(operation): \(text)). Check the disk."
    }

    private static let gone =
        "The file or its folder no longer exists. If the folder was deleted, make it again or choose"
        + " another one. Then try again."
}
