// SPDX-License-Identifier: Apache-2.0

import DBus
import Glibc
import Logging

/// Opens finished files, and shows them in their folders, by the programs of the desktop.
struct FilePresenter: Sendable {
    /// So many are selected at once; a window with more helps nobody.
    private static let mostFiles = 100

    private let fileManager: BusService
    private let portal: BusService
    private let programs: UserPrograms
    private let log: Logger

    init(_ connection: Connection, programs: UserPrograms, log: Logger) {
        fileManager = BusService(
            connection,
            "org.freedesktop.FileManager1",
            "/org/freedesktop/FileManager1",
            "org.freedesktop.FileManager1"
        )
        portal = BusService(
            connection,
            "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop",
            "org.freedesktop.portal.OpenURI"
        )
        self.programs = programs
        self.log = log
    }

    /// Opens a file with the program for its kind.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - token: lets the program take the focus; empty for none.
    func open(_ path: String, token: String = "") async {
        if await openByPortal("OpenFile", path, token) { return }
        await openByProgram(path)
    }

    /// Shows files, selected, in the windows of their folders.
    func reveal(_ paths: [String], token: String = "") async {
        guard let first = paths.first else { return }
        let uris = paths.suffix(Self.mostFiles).map(FileURI.text)
        if await ask(fileManager, "ShowItems", [uris.busValue, .string(token)]) { return }
        if await openByPortal("OpenDirectory", first, token) { return }
        let folder = first.lastIndex(of: "/").map { first[..<$0] } ?? "/"
        await openByProgram(folder.isEmpty ? "/" : String(folder))
    }

    /// Shows the list in a terminal; where there is none, the folder with the files.
    func showList(folder: String, token: String = "") async {
        let own = UserPrograms.ownFolder.map { $0 + "/idown" }
        guard let program = own.flatMap(UserPrograms.locate) ?? UserPrograms.locate("idown") else {
            return await showFolder(folder, token: token)
        }
        // The first is what the desktops agree on; the second is Debian's.
        for terminal in [["xdg-terminal-exec"], ["x-terminal-emulator", "-e"]] {
            guard UserPrograms.locate(terminal[0]) != nil else { continue }
            do {
                try await programs.start(terminal + [program, "watch"], named: "list")
                return
            } catch {
                log.notice("the list could not be shown in a terminal: \(error)")
            }
        }
        await showFolder(folder, token: token)
    }

    /// Shows a folder's content; of one that is not there yet, that of the next above it.
    func showFolder(_ path: String, token: String = "") async {
        guard path.hasPrefix("/") else { return }
        var path = path
        while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/") {
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        let folder = [FileURI.text(of: path)]
        if await ask(fileManager, "ShowFolders", [folder.busValue, .string(token)]) { return }
        await openByProgram(path)
    }

    /// The portal opens what the caller can open: it is handed the file itself.
    private func openByPortal(
        _ member: MemberName,
        _ path: String,
        _ token: String
    ) async -> Bool {
        let number = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { return false }
        let file = OpenDescriptor(owning: number)
        let options: [String: Value] = token.isEmpty ? [:] : ["activation_token": .string(token)]
        return await ask(portal, member, [.string(""), .descriptor(file), options.busValue])
    }

    /// Longer than the bus waits for a service that it starts (25 s): that one could not be started
    /// is the bus's to say.
    private static let patience: Duration = .seconds(30)

    /// Asks a service to open or show something.
    ///
    /// - Returns: whether nobody else is to be asked. Whoever is slow to answer does it all the
    ///   same, and nothing is to be opened twice.
    private func ask(
        _ service: BusService,
        _ member: MemberName,
        _ arguments: [Value]
    ) async -> Bool {
        guard await service.isWithinReach else { return false }
        do throws(BusError) {
            try await service.call(member, arguments, startsIt: true, patience: Self.patience)
            return true
        } catch {
            // One that has gone with the call does nothing any more.
            return error.isNoReply ? await service.isThere : false
        }
    }

    private func openByProgram(_ path: String) async {
        do {
            try await programs.start(["xdg-open", path], named: "open")
        } catch {
            log.notice("\(path) could not be opened: \(error)")
        }
    }
}
