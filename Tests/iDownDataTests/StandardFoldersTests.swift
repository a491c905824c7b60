// SPDX-License-Identifier: Apache-2.0

import Testing
import iDownTesting

@testable import iDownData

@Suite struct StandardFoldersTests {
    @Test func `without variables all folders are below the home folder`() {
        let folders = StandardFolders(environment: [:], home: "/nowhere/me/")
        #expect(folders.home == "/nowhere/me")
        #expect(folders.config == "/nowhere/me/.config/idown")
        #expect(folders.state == "/nowhere/me/.local/state/idown")
        #expect(folders.dataHome == "/nowhere/me/.local/share")
        #expect(folders.cacheHome == "/nowhere/me/.cache")
        #expect(folders.runtime == nil)
        #expect(folders.download == "/nowhere/me/Downloads")
    }

    @Test func `the variables set the folders`() {
        let folders = StandardFolders(
            environment: [
                "HOME": "/nowhere/you", "XDG_CONFIG_HOME": "/c/", "XDG_STATE_HOME": "/s",
                "XDG_DATA_HOME": "/d", "XDG_CACHE_HOME": "/k", "XDG_RUNTIME_DIR": "/r",
            ],
            home: "/nowhere/me"
        )
        #expect(folders.home == "/nowhere/you")
        #expect(folders.config == "/c/idown")
        #expect(folders.state == "/s/idown")
        #expect(folders.dataHome == "/d")
        #expect(folders.cacheHome == "/k")
        #expect(folders.runtime == "/r")
    }

    @Test(arguments: ["", "relative", "./here", "~/there"])
    func `a variable that is not absolute counts as unset`(value: String) {
        let names = ["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"]
        let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, value) })
        let folders = StandardFolders(environment: environment, home: "/nowhere/me")
        #expect(folders == StandardFolders(environment: [:], home: "/nowhere/me"))
    }

    @Test func `the download folder is read from user-dirs.dirs`() async throws {
        try await withTemporaryFolder { home in
            try Files().makePrivateFolder(home + "/.config")
            let list = "XDG_DOWNLOAD_DIR=\"$HOME/Loads\"\n"
            try Files().replace(home + "/.config/user-dirs.dirs", with: Array(list.utf8))
            #expect(StandardFolders(environment: [:], home: home).download == home + "/Loads")
        }
    }

    @Test(arguments: [
        ("XDG_DOWNLOAD_DIR=\"$HOME/Down loads\"", "/h/Down loads"),
        ("# one\n  XDG_DOWNLOAD_DIR=\"/mnt/big/\"\n", "/mnt/big"),
        ("XDG_DOWNLOAD_DIR=\"$HOME/a\\\"b\\$c\\\\d\"", "/h/a\"b$c\\d"),
        ("XDG_DOWNLOAD_DIR=\"$HOME/a\"\nXDG_DOWNLOAD_DIR=\"$HOME/b\"", "/h/b"),
        ("XDG_DOWNLOAD_DIR=\"$HOME/T\u{e9}l\u{e9}chargements\"", "/h/T\u{e9}l\u{e9}chargements"),
        ("XDG_DOWNLOAD_DIR=\"$HOME/\"", nil), ("XDG_DOWNLOAD_DIR=\"$HOME\"", nil),
        ("XDG_DOWNLOAD_DIR=\"/h\"", nil), ("XDG_DOWNLOAD_DIR=\"$HOMEr/x\"", nil),
        ("XDG_DOWNLOAD_DIR=\"relative\"", nil), ("XDG_DOWNLOAD_DIR=$HOME/x", nil),
        ("XDG_DOWNLOAD_DIR=\"$HOME/open", nil), ("XDG_DOWNLOAD_DIR=\"$HOME/x\\", nil),
        ("#XDG_DOWNLOAD_DIR=\"$HOME/x\"", nil), ("XDG_MUSIC_DIR=\"$HOME/x\"", nil), ("", nil),
    ])
    func `the file is read as user-dirs.dirs(5) describes`(list: String, folder: String?) {
        let directories = UserDirectories(content: Array(list.utf8), home: "/h")
        #expect(directories["XDG_DOWNLOAD_DIR"] == folder)
    }

    @Test func `a line that is not UTF-8 is ignored`() {
        let list =
            Array("XDG_DOWNLOAD_DIR=\"$HOME/a\"\nXDG_DOWNLOAD_DIR=\"$HOME/".utf8) + [0xff, 0x22]
        #expect(UserDirectories(content: list, home: "/h")["XDG_DOWNLOAD_DIR"] == "/h/a")
    }
}
