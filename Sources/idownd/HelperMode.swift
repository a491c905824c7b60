// SPDX-License-Identifier: Apache-2.0

import Curl
import DBus
import Glibc
import iDownData
import iDownloader

/// What `idown` has this program do for it, since only this one has the engine: no service, no bus.
enum HelperMode: String {
    /// Tries a login that comes on standard input: URL, user and password, a line each.
    case tryLogin = "--try-login"
    /// Tells the libraries that are in use, a line each: name, tab, version.
    case libraries = "--libraries"

    /// Longer input is none: a URL, a name and a password.
    private static let longestInput = 128 << 10

    /// - Returns: the exit status.
    func run() async -> Int32 {
        switch self {
        case .tryLogin:
            guard let answer = await Self.tryLogin() else { return 64 }
            print(answer)
        case .libraries:
            for (name, version) in Self.versions { print("\(name)\t\(version)") }
        }
        return 0
    }

    private static var versions: [(String, String)] {
        [
            ("libcurl", CurlLibrary.version.replacing("libcurl/", with: "", maxReplacements: 1)),
            ("SQLite", Store.libraryVersion), ("libdbus", DBusLibrary.version),
            ("expat", Metalink.parserVersion),
        ]
    }

    /// `accepted`, or `refused` or `unknown` with a tab and a sentence; nil where nothing
    /// was asked.
    private static func tryLogin() async -> String? {
        guard let lines = input(), lines.count == 3, let url = try? URLReference(lines[0]),
            let place = try? URLReference(url.withoutUserInfo), let pool = try? TransferPool()
        else { return nil }
        let folders = StandardFolders.current()
        let (settings, _) = SettingsFile(folder: folders.config).read()
        let trial = LoginTrial(pool: pool, network: NetworkConfiguration(settings, folders))
        let verdict = await trial.verdict(
            on: .init(user: lines[1], password: lines[2]),
            at: place
        )
        await pool.shutDown()
        return switch verdict {
        case .accepted: "accepted"
        case .refused(let text): "refused\t\(text)"
        case .unknown(let text): "unknown\t\(text)"
        }
    }

    /// The lines of standard input: read(2).
    private static func input() -> [String]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= longestInput {
            let count = read(STDIN_FILENO, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
        }
        guard bytes.count <= longestInput, let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        // By scalars: a line may end with what combines with its end.
        return text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0) }
    }
}
