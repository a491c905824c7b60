// SPDX-License-Identifier: Apache-2.0

/// The names of idown's extension for browsers and of the native host that it calls.
package enum BrowserExtension {
    /// The native host's name; its manifests are files of this name.
    package static let hostName = "org.idown.browser"
    /// The extension's id in browsers of Chromium's family; it follows from the key in its manifest.
    package static let chromiumID = "dofnlljjpebfojmpiecjbnkaemhcdfpm"
    /// The extension's id in browsers of Mozilla's family.
    package static let mozillaID = "browser@idown.org"
    /// The origin that Chromium names.
    package static let origin = "chrome-extension://\(chromiumID)/"
    /// The name of the native host's manifest.
    package static let manifestName = "\(hostName).json"

    /// Returns whether a browser has started this program as a native host, for any extension.
    package static func isCall(_ arguments: some Collection<String>) -> Bool {
        guard let first = arguments.first else { return false }
        return first.hasPrefix("chrome-extension://")
            || (arguments.count == 2 && first.hasSuffix("/\(manifestName)"))
    }

    /// Returns whether the arguments of a native host name idown's extension.
    ///
    /// Chromium gives the extension's origin, and may give more. Firefox gives the manifest's path
    /// and the extension's id.
    package static func isOwn(_ arguments: some Collection<String>) -> Bool {
        let arguments = Array(arguments)
        guard let first = arguments.first else { return false }
        if first == origin { return true }
        return arguments.count == 2 && first.hasSuffix("/\(manifestName)")
            && arguments[1] == mozillaID
    }
}
