// SPDX-License-Identifier: Apache-2.0

import Curl
import Glibc
import iDownData
import iDownloader

extension NetworkConfiguration {
    /// What the user's environment says, and before it what the user's settings say.
    init(_ settings: Settings, _ folders: StandardFolders) {
        self.init(
            environment: { name in getenv(name).map { String(cString: $0) } },
            home: folders.home,
            userName: getpwuid(getuid())?.pointee.pw_name.map { String(cString: $0) }
        )
        if let proxy = settings.proxy {
            proxies =
                proxy.isEmpty
                ? ProxyRules() : ProxyRules(proxy: proxy, exceptions: settings.proxyExceptions)
        }
        cookieFile = settings.cookieFile
    }
}
