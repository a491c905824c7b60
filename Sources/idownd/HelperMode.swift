// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Glibc
import iDownData
import iDownSettings
import iDownloader

/// Work that `idown` leaves to this program, which has the engine; neither a service nor a bus is
/// needed for it.
enum HelperMode: String {
    /// Tries a login that comes on standard input: URL, user and password, a line each.
    case tryLogin = "--try-login"
    /// Prints the libraries in use, a line each: name, tab, version.
    case libraries = "--libraries"
    /// Prints the path of the settings file, its mistakes (`mistake`), its keys without effect
    /// (`note`), whether downloads wait until it is mended (`hold`) or fail (`fail`), and the
    /// settings in force, a line each: key, tab, and text or JSON value.
    case settings = "--settings"
    /// Prints what is wrong in the settings on standard input, a line each.
    case checkSettings = "--check-settings"
    /// Prints why the list cannot be opened; nothing if it can be.
    case checkList = "--check-list"

    /// The most bytes of the input: more than a settings file, or a URL, a name and a password, may
    /// have.
    private static let longestInput = 1 << 20

    /// - Returns: The exit status.
    func run() async -> Int32 {
        switch self {
        case .tryLogin:
            guard let answer = await Self.tryLogin() else { return 64 }
            print(answer)
        case .settings:
            for line in Self.settings() { print(line) }
        case .checkSettings:
            guard let input = Self.input() else { return 64 }
            for mistake in SettingsFile.mistakes(in: input, isProxy: Engine.isProxy) {
                print(mistake)
            }
        case .checkList:
            if let obstacle = Self.obstacle(StandardFolders.current().state) { print(obstacle) }
        case .libraries:
            for (name, version) in Self.versions { print("\(name)\t\(version)") }
        }
        return 0
    }

    /// Returns why the list of downloads in a folder cannot be opened; nil if it can be.
    private static func obstacle(_ folder: String) -> (any Error)? {
        do {
            // Another service may hold the lock, which is no obstacle.
            _ = try StateLock.tryAcquire(folder: folder)
            return Store.obstacle(folder: folder)
        } catch {
            return error
        }
    }

    private static var versions: [(String, String)] {
        [
            ("libcurl", CurlLibrary.version.replacing("libcurl/", with: "", maxReplacements: 1)),
            ("SQLite", Store.libraryVersion), ("libdbus", DBusLibrary.version),
            ("expat", Metalink.parserVersion),
        ]
    }

    private static func settings() -> [String] {
        let folders = StandardFolders.current()
        let file = SettingsFile(folders)
        let reading = file.read()
        let unusable = file.unusableProxy(in: reading, isProxy: Engine.isProxy)
        return ["path\t\(file.path)"] + (reading.failure.map { ["mistake\t\($0)"] } ?? [])
            + reading.furtherFailures.map { "mistake\t\($0)" }
            + (unusable.map { ["fail\t\($0)"] } ?? [])
            + reading.notes.map { "note\t\($0)" }
            + (reading.unknownProxy == nil ? [] : ["hold\tsettings"])
            + SettingsFile.lines(of: reading.settings, folders).map { setting, json in
                "\(setting.rawValue)\t\(json)"
            }
    }

    /// Returns `accepted`, or `refused` or `unknown` with a tab and a sentence; nil if the input
    /// has no login.
    private static func tryLogin() async -> String? {
        // Split by scalars, because a line end may combine with the character before it.
        let lines = input().flatMap { String(validating: $0, as: UTF8.self) }?.unicodeScalars
            .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        guard let lines, lines.count == 3, let url = try? URLReference(lines[0]),
            let place = try? URLReference(url.withoutUserInfo), let pool = try? TransferPool()
        else { return nil }
        let folders = StandardFolders.current()
        let reading = SettingsFile(folders).read()
        // A login must not go past the user's proxy either.
        if let failure = reading.unknownProxy {
            return "unknown\tthe settings file has a mistake (\(failure))"
        }
        let network = NetworkConfiguration(reading.settings, folders)
        let login = TransferRequest.Credentials(user: lines[1], password: lines[2])
        let verdict = await network.verdict(on: login, at: place, by: pool)
        await pool.shutDown()
        return switch verdict {
        case .accepted: "accepted"
        case .refused(let text): "refused\t\(text)"
        case .unknown(let text): "unknown\t\(text)"
        }
    }

    /// Returns all of standard input; nil if that is too long: read(2).
    private static func input() -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= longestInput {
            let count = read(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += piece.prefix(count)
        }
        return nil
    }
}
