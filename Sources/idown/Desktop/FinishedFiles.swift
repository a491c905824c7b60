// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Processes
import iDownBus
import iDownView

/// Opens finished files, and shows them in their folders, with the programs of the desktop.
///
/// The programs run in a session of their own, so that neither the end of this command nor Ctrl-C
/// in its terminal ends them, and what they write is dropped.
enum FinishedFiles {
    /// Why a file was not opened or shown; the text names the file, so that it can be found.
    struct Refusal: Error, CustomStringConvertible {
        let status: ExitStatus
        let description: String

        init(_ status: ExitStatus, _ description: String) {
            self.status = status
            self.description = description
        }
    }

    /// Returns the path of a download's finished file.
    ///
    /// - Parameters:
    ///   - id: The download.
    ///   - client: The service.
    ///   - isPatient: Whether to wait for its disk as long as the user does; else it gets ten seconds.
    /// - Returns: The path.
    /// - Throws: ``Refusal`` where the download is not completed, or its file is gone.
    static func path(
        of id: String,
        _ client: ManagerClient,
        isPatient: Bool = true
    ) async throws(Refusal) -> String {
        let task: TaskProperties
        do throws(ManagerError) {
            task = try await client.getTask(id)
        } catch {
            throw Refusal(ExitStatus(error), error.named(id).description)
        }
        guard task.state == .completed else {
            throw Refusal(
                .invalidState,
                "download \(task.id) is \(task.state), not completed; \(advice(for: task))"
            )
        }
        let path = task.path
        if isPatient { Disk.wait(for: path) }
        switch TimeLimit.run({ access(path, F_OK) == 0 ? 0 : errno }) {
        case 0: return path
        case ENOENT, ENOTDIR:
            throw Refusal(
                .fileFailure,
                "the file of download \(task.id) is gone: \(path); download it again with:"
                    + " idown retry \(task.id)"
            )
        case let code:
            let reason = code.map { String(cString: strerror($0)) } ?? "its disk does not answer"
            throw Refusal(.fileFailure, "cannot reach \(path): \(reason)")
        }
    }

    private static func advice(for task: TaskProperties) -> String {
        switch task.state {
        case .paused, .cancelled: "resume it with: idown resume \(task.id)"
        case .failed: "try again with: idown retry \(task.id)"
        default: "wait for it with: idown wait \(task.id)"
        }
    }

    /// Opens a file with the program that the desktop uses for its kind: xdg-open(1).
    static func open(_ path: String) async throws(Refusal) {
        try checkDesktop(for: path)
        try await startProgram(for: path, file: path)
    }

    /// Shows files, selected, in the windows of their folders; opens the folders if no file manager
    /// answers.
    static func reveal(_ paths: [String]) async throws(Refusal) {
        guard let first = paths.first else { return }
        try checkDesktop(for: first)
        if await showInFileManager(paths) { return }
        var folders: [String] = []
        for path in paths {
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
            guard !folders.contains(folder) else { continue }
            folders.append(folder)
            try await startProgram(for: folder.isEmpty ? "/" : folder, file: path)
        }
    }

    private static func checkDesktop(for path: String) throws(Refusal) {
        let hasDisplay = ["WAYLAND_DISPLAY", "DISPLAY"].contains { (name: String) in
            getenv(name).map { $0.pointee != 0 } ?? false
        }
        guard hasDisplay else {
            throw Refusal(
                .failed,
                "there is no desktop here: neither DISPLAY nor WAYLAND_DISPLAY is set; the file"
                    + " is \(path)"
            )
        }
    }
}

// The file manager.
extension FinishedFiles {
    /// Longer than the bus waits for a program that it starts (25 s): the bus says when that failed.
    private static let fileManagerPatience: Duration = .seconds(30)

    /// The most files that are shown, because more windows do not help.
    private static let mostFiles = 100

    /// Asks the file manager: freedesktop.org, "File Manager D-Bus Interface".
    ///
    /// - Returns: Whether the file manager answered, or may still show the files: a slow one does,
    ///   and they must not be shown twice.
    private static func showInFileManager(_ paths: [String]) async -> Bool {
        guard let connection = try? await Connection.open(.session) else { return false }
        let fileManager = Proxy(
            connection,
            "org.freedesktop.FileManager1",
            "/org/freedesktop/FileManager1",
            "org.freedesktop.FileManager1"
        )
        let uris = paths.prefix(mostFiles).map(URLText.ofFile)
        var isShown = true
        do throws(BusError) {
            try await fileManager.call("ShowItems", uris, "", timeout: fileManagerPatience)
        } catch {
            isShown = error.isNoReply
        }
        await connection.close()
        return isShown
    }
}

// The program.
extension FinishedFiles {
    /// How long to wait for xdg-open.
    ///
    /// On a desktop it ends immediately. Elsewhere it runs the program itself and ends with it,
    /// which is not waited for.
    private static let programPatience: Duration = .seconds(3)

    private static func startProgram(for path: String, file: String) async throws(Refusal) {
        // The program's output is dropped.
        let (process, code) = OtherProgram.start(
            ["xdg-open", path],
            streams: [STDIN_FILENO: .null, STDOUT_FILENO: .null, STDERR_FILENO: .null],
            isDetached: true
        )
        guard code != ENOENT else {
            throw Refusal(
                .failed,
                "xdg-open is not installed (Debian: xdg-utils); the file is \(file)"
            )
        }
        guard code == 0 else {
            let reason = String(cString: strerror(code))
            throw Refusal(.failed, "xdg-open did not start: \(reason); the file is \(file)")
        }
        let status = TimeLimit.run(atMost: programPatience) { OtherProgram.end(of: process) }
        guard let status, status != 0 else { return }
        throw Refusal(.failed, "xdg-open could not open \(path): \(meaning(of: status))")
    }

    /// Exit codes of xdg-open(1).
    private static func meaning(of status: CInt) -> String {
        guard status & 0x7F == 0 else { return "signal \(status & 0x7F) ended it" }
        let code = (status >> 8) & 0xFF
        return code == 3 ? "no program for it was found" : "it ended with exit code \(code)"
    }
}

// Code that the commands share.
extension FinishedFiles {
    /// Opens or shows the files of downloads; prints what is wrong with each missing one, and ends
    /// with the exit code of the first.
    static func present(
        _ ids: [String],
        _ client: ManagerClient,
        by body: ([String]) async throws(Refusal) -> Void
    ) async throws {
        var paths: [String] = []
        var first: ExitStatus?
        func tell(_ refusal: Refusal) {
            Output.complain(refusal.description)
            first = first ?? refusal.status
        }
        for id in ids {
            do throws(Refusal) {
                paths.append(try await path(of: id, client))
            } catch {
                tell(error)
                guard error.status != .unreachable else { break }
            }
        }
        do throws(Refusal) {
            try await body(paths)
        } catch {
            tell(error)
        }
        if let first { throw first.exit }
    }
}
