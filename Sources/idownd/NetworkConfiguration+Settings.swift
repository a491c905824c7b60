// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import iDownData
import iDownSettings
import iDownloader

extension NetworkConfiguration {
    /// Reads the user's environment; the user's settings have priority over it.
    init(_ settings: Settings, _ folders: StandardFolders) {
        self.init(
            environment: Self.variable,
            home: folders.home,
            userName: getpwuid(getuid())?.pointee.pw_name.map { String(cString: $0) }
        )
        apply(settings)
    }

    /// Applies changed settings.
    mutating func apply(_ settings: Settings) {
        proxies =
            switch settings.proxy {
            case nil: ProxyRules(environment: Self.variable)
            case "": ProxyRules()
            case let proxy?: ProxyRules(proxy: proxy, exceptions: settings.proxyExceptions ?? "")
            }
        cookieFile = settings.cookieFile
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
