// SPDX-License-Identifier: Apache-2.0

import iDownBus
import iDownView

/// Reads the arguments of `idown open`: IDs, links, and paths of metalink files.
///
/// The service checks links; a path becomes the URI that the service takes.
enum OpenArgument {
    /// Returns the download's ID where the argument is one, or a task's object path; else nil.
    static func id(in text: String) -> String? {
        let id = TaskPath.id(meantBy: text)
        return TaskPath.isID(id) ? id : nil
    }

    /// Returns the argument as a URI.
    static func uri(for text: String) throws -> String {
        // RFC 3986, section 3.1; `./a:b.meta4` has no scheme.
        guard text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.-]*:/) == nil else { return text }
        guard LinkText.isMetalink(text) else {
            let mistake = DownloadArgument.mistake(in: text) ?? "\(ShownURL(text)) is not a URL"
            Output.complain(mistake)
            throw ExitStatus.refusedURL.exit
        }
        return URLText.ofFile(try WorkingFolder.absolute(text))
    }
}
