// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import iDownView

/// An argument that names a download: a URL, or a metalink file of this machine.
///
/// The service judges URLs; this type catches the mistakes that the service could not explain as
/// well.
enum DownloadArgument: Hashable {
    case url(String)
    /// An absolute path.
    case metalink(path: String)

    /// Reads the arguments of a command; says which URLs were completed.
    ///
    /// - Throws: `ExitCode` after telling the first mistake.
    static func read(_ arguments: [String]) throws -> [DownloadArgument] {
        try arguments.map { text in
            if isLocalMetalink(text) { return .metalink(path: try WorkingFolder.absolute(text)) }
            return .url(try checkedURL(text))
        }
    }

    /// Returns the URL that was typed, with `https://` before it where it begins with a host.
    ///
    /// - Throws: `ExitCode` after telling the mistake.
    static func checkedURL(_ text: String) throws -> String {
        if let url = URLText.completed(text), !Disk.exists(text) {
            Output.talk("idown: assuming \(ShownURL(url))")
            return url
        }
        guard let mistake = mistake(in: text) else { return text }
        Output.complain(mistake)
        throw ExitStatus.refusedURL.exit
    }

    /// What is wrong with a text that should be a URL; nil if it looks like one.
    static func mistake(in text: String) -> String? {
        let example = "give a URL such as https://example.org/disk.iso"
        guard let first = text.first, text.contains(where: { !$0.isWhitespace }) else {
            return "the URL is empty"
        }
        if text.lowercased().hasPrefix("idown:") {
            return "idown: links are opened with: idown open LINK"
        }
        if "/.~".contains(first) { return "\(ShownURL(text)) is a path; \(example)" }
        guard text.utf8.contains(UInt8(ascii: ":")) else {
            return "\(ShownURL(text)) has no scheme; \(example)"
        }
        return nil
    }

    /// Whether an argument names a metalink file of this machine.
    private static func isLocalMetalink(_ text: String) -> Bool {
        guard LinkText.isMetalink(text), !text.contains("://") else { return false }
        // `example.org/x.meta4` is a URL, unless there is such a file.
        return "/.~".contains(text[text.startIndex]) || !text.contains("/")
            || Disk.exists(text)
    }
}
