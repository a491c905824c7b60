// SPDX-License-Identifier: Apache-2.0

import DBus
import Dispatch
import Executors
import Glibc
import Logging
import iDownView

/// Opens finished files and reveals them in their folders, with the desktop's own programs.
struct FilePresenter: Sendable {
    /// How many files are selected in one request; more windows or selected files would not help
    /// the user.
    private static let maxFiles = 100

    private let fileManager: Proxy
    private let portal: Proxy
    private let window: Proxy
    private let programs: ProgramLauncher
    private let log: Logger
    /// Looks at files, so that a disk that hangs holds up nothing else.
    private let disk = DispatchQueue(label: "org.idown.files")
    /// The longest that a click waits for a disk; then the file is left to the program that opens it.
    private static let longestLook: Duration = .seconds(2)

    init(_ connection: Connection, programs: ProgramLauncher, log: Logger) {
        fileManager = Proxy(
            optional: connection,
            "org.freedesktop.FileManager1",
            "/org/freedesktop/FileManager1",
            "org.freedesktop.FileManager1"
        )
        portal = Proxy(
            optional: connection,
            "org.freedesktop.portal.Desktop",
            "/org/freedesktop/portal/desktop",
            "org.freedesktop.portal.OpenURI"
        )
        window = Proxy(
            optional: connection,
            "org.idown.Window",
            "/org/idown/Window",
            "org.freedesktop.Application"
        )
        self.programs = programs
        self.log = log
    }

    /// Opens a file with the program for its kind.
    ///
    /// - Parameters:
    ///   - path: An absolute path.
    ///   - token: An activation token, which lets the program take the focus; empty for none.
    func open(_ path: String, token: String = "") async {
        if await openByPortal("OpenFile", path, token) { return }
        await openByProgram(path)
    }

    /// Shows the files' folders in the file manager, with the files selected.
    func reveal(_ paths: [String], token: String = "") async {
        guard let first = paths.first else { return }
        let uris = paths.suffix(Self.maxFiles).map(URLText.ofFile)
        if await present(fileManager, "ShowItems", [uris.busValue, .string(token)]) { return }
        if await openByPortal("OpenDirectory", first, token) { return }
        let folder = first.lastIndex(of: "/").map { first[..<$0] } ?? "/"
        await openByProgram(folder.isEmpty ? "/" : String(folder))
    }

    /// Starts the window, or brings it to the front.
    ///
    /// - Parameter token: An activation token, which lets it take the focus; empty for none.
    /// - Returns: False where it is not installed.
    func showWindow(token: String = "") async -> Bool {
        // Both names: GTK reads the older one on X11.
        let data: [String: Value] =
            token.isEmpty
            ? [:] : ["activation-token": .string(token), "desktop-startup-id": .string(token)]
        let asked = try? await window.owner
        if await present(window, "Activate", [data.busValue]) { return true }
        // A window that was just ending took the call with it: the next call starts another one.
        guard let asked, await leaves(asked) else { return false }
        return await present(window, "Activate", [data.busValue])
    }

    /// Waits until a window that did not take a call has left the bus.
    ///
    /// - Returns: False if it is still there after 2 s, so that it was not ending.
    private func leaves(_ owner: BusName) async -> Bool {
        for _ in 0..<100 {
            if (try? await window.owner) != owner { return true }
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { return false }
        }
        return false
    }

    /// Whether there is a terminal in which ``showList(folder:token:)`` can show the list.
    var canShowList: Bool { !Self.listCommands().isEmpty }

    /// Shows the list of downloads (`idown watch`) in a terminal; where no terminal starts, opens
    /// the folder.
    func showList(folder: String, token: String) async {
        for command in Self.listCommands() {
            do {
                try await programs.start(command, named: "list")
                return
            } catch {
                log.notice("could not show the list in a terminal: \(error)")
            }
        }
        await showFolder(folder, token: token)
    }

    /// Returns the commands that show the list in a terminal, best first; none where no terminal or
    /// no `idown` is found.
    static func listCommands(
        locate: (String) -> String? = ProgramLauncher.locate
    ) -> [[String]] {
        let own = ProgramLauncher.ownFolder.map { $0 + "/idown" }
        guard let program = own.flatMap(locate) ?? locate("idown") else { return [] }
        // The first is the desktops' common proposal; the second is Debian's.
        return [["xdg-terminal-exec"], ["x-terminal-emulator", "-e"]]
            .filter { locate($0[0]) != nil }.map { $0 + [program, "watch"] }
    }

    /// Shows a folder in the file manager; for a missing folder, its nearest parent that exists.
    func showFolder(_ path: String, token: String = "") async {
        guard path.hasPrefix("/") else { return }
        let existing = await withTimeLimit(Self.longestLook, on: disk) { Self.nearestFolder(path) }
        let path = existing ?? path
        let folder = [URLText.ofFile(path)]
        if await present(fileManager, "ShowFolders", [folder.busValue, .string(token)]) { return }
        await openByProgram(path)
    }

    /// The path, or its nearest parent that exists.
    private static func nearestFolder(_ path: String) -> String {
        var path = path
        while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/") {
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        return path
    }

    /// Opens through the portal, which takes an open file, so that it opens only what the caller
    /// may read.
    private func openByPortal(
        _ member: MemberName,
        _ path: String,
        _ token: String
    ) async -> Bool {
        guard await portal.isAvailable else { return false }
        let opened = await withTimeLimit(Self.longestLook, on: disk) {
            let number = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            return number >= 0 ? OpenDescriptor(owning: number) : nil
        }
        guard let file = opened ?? nil else { return false }
        let options: [String: Value] = token.isEmpty ? [:] : ["activation_token": .string(token)]
        return await present(portal, member, [.string(""), .descriptor(file), options.busValue])
    }

    /// How long to wait for an answer.
    ///
    /// The bus gives up on a service that it starts after 25 s; waiting longer lets that error
    /// arrive.
    private static let timeout: Duration = .seconds(30)

    /// Asks a service to open or show something.
    ///
    /// - Returns: Whether the service has done it or may still do it. A service that only answers
    ///   late still does it, and asking another one would open the file twice.
    private func present(
        _ service: Proxy,
        _ member: MemberName,
        _ arguments: [Value]
    ) async -> Bool {
        guard await service.isAvailable else { return false }
        let asked = try? await service.owner
        do throws(BusError) {
            try await service.call(
                member,
                values: arguments,
                timeout: Self.timeout,
                startsService: true
            )
            return true
        } catch {
            // A service that has stopped will not do it any more, and another one that has taken its
            // name knows nothing of it.
            guard error.isNoReply, let owner = try? await service.owner else { return false }
            return owner == asked ?? owner
        }
    }

    private func openByProgram(_ path: String) async {
        do {
            try await programs.start(["xdg-open", path], named: "open")
        } catch {
            log.notice("could not open \(path): \(error)")
        }
    }
}
