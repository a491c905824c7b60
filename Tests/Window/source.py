# SPDX-License-Identifier: Apache-2.0
"""source.py TEXT: a program whose label is dragged, and that puts its text into the clipboard.

It prints "shown" once it was drawn, and "taken" once the drag is over something that takes it.
A text that is a file's URI is dragged as a file."""

import sys

import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gdk, Gio, GLib, GObject, Gtk

text = sys.argv[1]


def show(application):
    label = Gtk.Label(label="drag me")
    source = Gtk.DragSource(actions=Gdk.DragAction.COPY)
    if text.startswith("file://"):
        data = GLib.Bytes.new(f"{text}\r\n".encode())
        content = Gdk.ContentProvider.new_for_bytes("text/uri-list", data)
    else:
        content = Gdk.ContentProvider.new_for_value(GObject.Value(str, text))
    source.set_content(content)
    source.connect("drag-begin", lambda _, drag: drag.connect(
        "notify::selected-action", lambda *_: print("taken", flush=True)))
    label.add_controller(source)
    window = Gtk.ApplicationWindow(application=application, title="source", child=label,
                                   default_width=200, default_height=120, decorated=False)
    window.present()
    window.get_clipboard().set_content(content)
    clock = window.get_frame_clock()

    def painted(_):
        clock.disconnect(handler)
        print("shown", flush=True)
    handler = clock.connect("after-paint", painted)


program = Gtk.Application(application_id="org.idown.Source", flags=Gio.ApplicationFlags.NON_UNIQUE)
program.connect("activate", show)
program.run([])
