# SPDX-License-Identifier: Apache-2.0
"""A new user clicks idown's icon: with the window's package and, once it was removed, without."""

import os
import pathlib
import subprocess
import unittest

from gi.repository import Gio, GLib

from desktop import Desktop
from session import INSTALLED, wait
from window import Bus, Node, Role, activate

ICON = "/usr/share/applications/org.idown.Manager1.desktop"
SERVER = """<node><interface name="org.freedesktop.Notifications"><method name="Notify">
<arg type="s"/><arg type="u"/><arg type="s"/><arg type="s"/><arg type="s"/><arg type="as"/>
<arg type="a{sv}"/><arg type="i"/><arg type="u" direction="out"/></method>
<method name="GetCapabilities"><arg type="as" direction="out"/></method></interface></node>"""


class First(unittest.TestCase):
    def setUp(self):
        self.desktop = Desktop(pathlib.Path(os.environ["IDOWN_WORK"]) / INSTALLED, "x11")
        self.addCleanup(self.desktop.close)

    def click_icon(self):
        subprocess.run(["gio", "launch", ICON], env=self.desktop.environment, check=True, timeout=30)


class WithPackage(First):
    def test_the_icon_opens_the_window_and_brings_it_back(self):
        registry = Node(Bus(), ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root"))

        def frames():
            return [frame for application in registry.children for frame in application.children
                    if frame.name == "idown" and frame.role == Role.FRAME and frame.is_showing]
        self.click_icon()
        wait(frames, "the window", 30)
        self.click_icon()
        self.assertEqual(len(frames()), 1)
        activate("app.quit")
        wait(lambda: not frames(), "the window's end")
        self.click_icon()
        wait(frames, "the window again", 30)
        activate("app.quit")


class WithoutPackage(First):
    def test_without_the_window_a_notification_tells(self):
        shown = []

        def answer(_, sender, path, interface, method, arguments, call):
            if method == "Notify":
                shown.append(arguments.unpack()[3])
                call.return_value(GLib.Variant("(u)", (1,)))
            else:
                call.return_value(GLib.Variant("(as)", (["actions", "body"],)))
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)
        interface = Gio.DBusNodeInfo.new_for_xml(SERVER).interfaces[0]
        bus.register_object("/org/freedesktop/Notifications", interface, answer)
        bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName",
                      GLib.Variant("(su)", ("org.freedesktop.Notifications", 0)), None, 0, -1)
        self.click_icon()

        def look():
            GLib.MainContext.default().iteration(False)
            return shown
        wait(look, "a notification", 30)
        self.assertEqual(shown, ["No unfinished downloads"])


# What is for the other state is no test of this one.
if INSTALLED == "yes":
    del WithoutPackage
else:
    del WithPackage
