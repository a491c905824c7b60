// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownBus
import iDownView

/// The size and view of the window, kept for the next start in a key file in the state folder.
///
/// It holds nothing about downloads. A value that cannot be read has its default.
struct WindowState {
    var width = 1080
    var height = 640
    var isMaximized = false
    var areDetailsShown = false
    var sort = TaskPages.Look().sort
    var isDescending = TaskPages.Look().isDescending

    private static let folder = String(cString: g_get_user_state_dir()) + "/idown"
    private static let path = folder + "/window"
    private static let group = "Window"
    /// The largest width and height; no screen is larger.
    private static let most = 16_384

    /// Reads the file that ``save()`` wrote.
    init() {
        let file = g_key_file_new()
        defer { g_key_file_unref(file) }
        guard g_key_file_load_from_file(file, Self.path, G_KEY_FILE_NONE, nil) != 0 else { return }
        func text(_ key: String) -> String {
            guard let text = g_key_file_get_string(file, Self.group, key, nil) else { return "" }
            defer { g_free(text) }
            return String(cString: text)
        }
        func flag(_ key: String, _ other: Bool) -> Bool { Bool(text(key)) ?? other }
        width = min(Int(text("Width")) ?? width, Self.most)
        height = min(Int(text("Height")) ?? height, Self.most)
        isMaximized = flag("Maximized", isMaximized)
        areDetailsShown = flag("Details", areDetailsShown)
        sort = TaskQuery.Sort(rawValue: text("Sort")) ?? sort
        isDescending = flag("Descending", isDescending)
    }

    /// Writes the state for the next start.
    func save() {
        let file = g_key_file_new()
        defer { g_key_file_unref(file) }
        let values = [
            "Width": "\(width)", "Height": "\(height)", "Maximized": "\(isMaximized)",
            "Details": "\(areDetailsShown)", "Sort": sort.rawValue,
            "Descending": "\(isDescending)",
        ]
        for (key, value) in values { g_key_file_set_string(file, Self.group, key, value) }
        g_mkdir_with_parents(Self.folder, 0o700)
        g_key_file_save_to_file(file, Self.path, nil)
    }
}
