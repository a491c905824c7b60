// SPDX-License-Identifier: Apache-2.0

import iDownView

/// Looks at what was typed where a URL belongs.
///
/// Only the service judges URLs; here mistakes are caught that it could not explain as well.
enum URLArgument {
    /// What is wrong with the argument; nil if it looks like a URL.
    static func mistake(in text: String) -> String? {
        guard !text.isEmpty else { return "the URL is empty" }
        if "/.~".contains(text[text.startIndex]) {
            return "\(ShownURL(text)) is a path; give a URL such as https://example.org/file.iso"
        }
        guard text.utf8.contains(UInt8(ascii: ":")) else {
            return "\(ShownURL(text)) has no scheme; did you mean https://\(ShownURL(text))?"
        }
        if text.lowercased().hasPrefix("idown:") {
            return "an idown: link is opened with: idown open LINK"
        }
        return nil
    }

    /// Refuses the first argument that is no URL.
    static func check(_ arguments: [String]) throws {
        for argument in arguments {
            guard let mistake = mistake(in: argument) else { continue }
            Output.complain(mistake)
            throw ExitStatus.refusedURL.exit
        }
    }
}
