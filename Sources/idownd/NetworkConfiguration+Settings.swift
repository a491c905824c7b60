// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import iDownData
import iDownloader

extension NetworkConfiguration {
    /// What the user's environment says, and before it what the user's settings say.
    init(_ settings: Settings, _ folders: StandardFolders) {
        self.init(
            environment: Self.variable,
            home: folders.home,
            userName: getpwuid(getuid())?.pointee.pw_name.map { String(cString: $0) }
        )
        heed(settings)
    }

    /// Takes up what the user's settings say now.
    mutating func heed(_ settings: Settings) {
        proxies =
            switch settings.proxy {
            case nil: ProxyRules(environment: Self.variable)
            case "": ProxyRules()
            case let proxy?: ProxyRules(proxy: proxy, exceptions: settings.proxyExceptions)
            }
        cookieFile = settings.cookieFile
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}
