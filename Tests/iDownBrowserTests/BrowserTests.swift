// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Testing
import iDownBrowser

struct BrowserTests {
    @Test(
        arguments: [
            (["chrome-extension://dofnlljjpebfojmpiecjbnkaemhcdfpm/"], true, true),
            (["chrome-extension://dofnlljjpebfojmpiecjbnkaemhcdfpm/", "--x"], true, true),
            (["/a/org.idown.browser.json", "browser@idown.org"], true, true),
            (["chrome-extension://dofnlljjpebfojmpiecjbnkaemhcdfpm"], true, false),
            (["chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"], true, false),
            (["chrome-extension://dofnlljjpebfojmpiecjbnkaemhcdfpm/x"], true, false),
            (["/a/org.idown.browser.json", "other@idown.org"], true, false),
            (["/a/org.idown.browser.json"], false, false),
            (["/a/b.json", "browser@idown.org"], false, false),
            ([], false, false), (["get", "http://a/"], false, false),
        ] as [([String], Bool, Bool)]
    )
    func `only idown's own extension may call`(arguments: [String], isCall: Bool, isOwn: Bool) {
        #expect(BrowserExtension.isCall(arguments) == isCall)
        #expect(BrowserExtension.isOwn(arguments) == isOwn)
    }

    @Test(arguments: [Browser.Family.chromium, .mozilla])
    func `a manifest names the program, whatever its path`(family: Browser.Family) throws {
        let path = #"/a "b"\c"#
        struct Manifest: Decodable { let name, path, type: String }
        let manifest = try JSONDecoder().decode(
            Manifest.self,
            from: Data(family.manifest(of: path).utf8)
        )
        #expect(manifest.name == BrowserExtension.hostName && manifest.path == path)
        #expect(manifest.type == "stdio")
    }

    @Test func `every browser has folders of its own`() {
        #expect(Set(Browser.all.map(\.name)).count == Browser.all.count)
        #expect(Set(Browser.all.map(\.userHosts)).count == Browser.all.count)
        #expect(Browser.all.allSatisfy { $0.systemHosts.hasPrefix("/") })
    }
}
