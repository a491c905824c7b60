// SPDX-License-Identifier: Apache-2.0

import Glibc
package import iDownState

/// Why an operation on one of idown's files or folders failed.
package enum FileError: Error, Sendable {
    /// A system call failed: its errno, and the name of the call.
    case system(Int32, StaticString)
    /// The name is taken; nothing was overwritten.
    case nameTaken
    /// The file is gone.
    case vanished
    /// The folder is not there; its drive may not be mounted.
    case folderMissing
    /// Another file has the name of idown's file.
    case notOurs
    /// The file is shorter than what was written to it: another program has truncated it.
    case shortened
    /// The folder's path leads to another place than when it was checked.
    case folderMoved
    /// The file was made on another file system than the one at its path now: a drive is missing.
    case otherDrive
}

extension FileError {
    /// The errno of the failed system call; nil for other errors.
    package var errno: Int32? {
        if case .system(let code, _) = self { return code }
        return nil
    }

    /// Whether idown's file does not have its name: no file has it, or another one.
    var isAbsence: Bool {
        switch self {
        case .vanished, .notOurs: true
        case .system, .nameTaken, .shortened, .folderMissing, .folderMoved, .otherDrive: false
        }
    }

    /// Whether the file, or its folder, is gone.
    var isGone: Bool {
        switch self {
        case .folderMissing, .folderMoved: true
        default: isAbsence
        }
    }

    /// Whether the file, its folder or its drive is gone.
    var isMissing: Bool { if case .otherDrive = self { true } else { isGone } }

    /// Whether the file system refuses a character of the name; it may take the name without
    /// special characters (FAT, NTFS).
    package var isNameRefused: Bool { errno == EINVAL || errno == EILSEQ }

    /// Whether the name is too long for the file system.
    package var isNameTooLong: Bool { errno == ENAMETOOLONG }

    /// The failure as the D-Bus contract names it, with a message for people that contains no path.
    package var failure: Failure {
        switch self {
        case .nameTaken:
            Failure(
                .fileExists,
                "A file with this name, or its .part file, already exists. \(Failure.otherName)"
            )
        case .vanished:
            Failure(.fileVanished, Self.gone)
        case .folderMissing:
            // A drive is often mounted a little after the service has started.
            Failure(
                .fileVanished,
                Self.gone + " If it is on a drive, connect the drive. To choose another folder,"
                    + " cancel the download first.",
                isTransient: true
            )
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
                    + " again, or cancel and retry the download to start from zero.",
                isTransient: true
            )
        case .system(let code, let operation):
            Self.failure(errno: code, during: operation)
        }
    }

    private static func failure(errno code: Int32, during operation: StaticString) -> Failure {
        switch code {
        case ENOSPC:
            // The transfer fills in how much space is needed.
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
                "idown may not read or write there. Check the permissions of the file and of its"
                    + " folder."
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
        // The last three are those of network drives whose server is away or has started anew.
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN, EBUSY, ESTALE, ENOTCONN, ETIMEDOUT:
            Failure(.fileFailed, sentence(for: code, during: operation), isTransient: true)
        default:
            Failure(.fileFailed, sentence(for: code, during: operation))
        }
    }

    private static func sentence(for code: Int32, during operation: StaticString) -> String {
        // Swift imports the XSI version of strerror_r, which fills the buffer; GNU's may return a
        // constant instead.
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0
            else { return "error \(code)" }
            return String(cString: start)
        }
        return "The system reports an error (\(operation): \(text)). Check the disk."
    }

    private static let gone =
        "There is no such file or folder. If a folder was deleted, make it again or choose another"
        + " one. Then try again."
}
