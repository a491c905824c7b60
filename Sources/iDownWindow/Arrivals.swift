// SPDX-License-Identifier: Apache-2.0

import CGtk
import iDownView

/// Takes links from the clipboard and from drag and drop.
///
/// It adds none of them by itself: it opens the dialog, or offers to open it.
final class Arrivals {
    private let window: Object
    private let tasks: TaskActions
    /// The text that was offered last, which is not offered again.
    private var seen = ""

    /// Opens the dialog with these links.
    var add: (String) -> Void = { _ in }

    init(_ window: Object, _ tasks: TaskActions) {
        self.window = window
        self.tasks = tasks
        acceptDrops()
    }

    /// Makes sure that this text is not offered.
    func know(_ text: String) { seen = text }

    /// Offers to add the link in the clipboard.
    func lookAtClipboard() {
        read { [weak self] in self?.offer($0) }
    }

    /// Opens the dialog with the text in the clipboard.
    func paste() {
        read { [weak self] text in
            self?.know(text)
            self?.add(text)
        }
    }

    private func read(_ done: @escaping (String) -> Void) {
        let clipboard = Object(gtk_widget_get_clipboard(window.widget))
        guard
            gdk_content_formats_contain_gtype(
                gdk_clipboard_get_formats(clipboard.opaque),
                CGTK_TYPE_STRING
            ) != 0
        else { return }
        gdk_clipboard_read_text_async(
            clipboard.opaque,
            nil,
            { source, result, data in
                guard let source, let data else { return }
                let done = Unmanaged<Handler<String, Void>>.fromOpaque(data).takeRetainedValue()
                let clipboard = OpaquePointer(source)
                guard let text = gdk_clipboard_read_text_finish(clipboard, result, nil) else {
                    return
                }
                defer { g_free(text) }
                done.body(String(cString: text))
            },
            Unmanaged.passRetained(Handler(done)).toOpaque()
        )
    }

    private func offer(_ text: String) {
        guard text != seen, text.utf8.count < Self.longest else { return }
        seen = text
        // Only links with a scheme are offered, because a copied "3.14" would pass as a link.
        guard text.split(whereSeparator: \.isWhitespace).allSatisfy({ $0.contains("://") })
        else { return }
        let links = LinkText(text).links
        guard !links.isEmpty, LinkText(text).mistakes.isEmpty else { return }
        let question = counted(
            "Add the copied link?",
            "Add the {count} copied links?",
            UInt(links.count)
        )
        tasks.offer(question, translated("Add…")) { [weak self] in self?.add(text) }
    }

    /// A copied text of this many bytes or more is not offered.
    private static let longest = 65_536

    private func acceptDrops() {
        let target = Object(gtk_drop_target_new(CGTK_TYPE_STRING, GDK_ACTION_COPY))
        var types = [gdk_file_list_get_type(), CGTK_TYPE_STRING]
        gtk_drop_target_set_gtypes(target.opaque, &types, gsize(types.count))
        target.answer("drop") { [weak self] arguments in
            guard let self, let value = arguments.boxed(1, as: GValue.self) else { return false }
            guard cgtk_value_type(value) == gdk_file_list_get_type() else {
                self.add(g_value_get_string(value).map { String(cString: $0) } ?? "")
                return true
            }
            let files = gdk_file_list_get_files(OpaquePointer(g_value_get_boxed(value)))
            // The caller owns the list, but not the files in it.
            defer { g_slist_free(files) }
            var uris: [String] = []
            var rest = files
            while let file = rest {
                if let data = file.pointee.data, let uri = g_file_get_uri(OpaquePointer(data)) {
                    uris.append(String(cString: uri))
                    g_free(uri)
                }
                rest = file.pointee.next
            }
            self.add(uris.joined(separator: "\n"))
            return true
        }
        gtk_widget_add_controller(window.widget, target.opaque)
    }
}
