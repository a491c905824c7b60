# SPDX-License-Identifier: Apache-2.0
"""Shows notifications: prints each as a line of JSON, and clicks the button that a line of input names."""

import json
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


class Server(dbus.service.Object):
    last = 0

    @dbus.service.method(NAME, "", "as")
    def GetCapabilities(self):
        return ["body", "actions"]

    @dbus.service.method(NAME, "", "ssss")
    def GetServerInformation(self):
        return "tests", "idown", "1", "1.2"

    @dbus.service.method(NAME, "u", "")
    def CloseNotification(self, number):
        self.NotificationClosed(number, 3)

    @dbus.service.method(NAME, "susssasa{sv}i", "u")
    def Notify(self, _name, replaced, _icon, summary, body, actions, _hints, _time):
        number = replaced or self.last + 1
        self.last = max(self.last, number)
        print(json.dumps([int(number), summary, body, list(actions)]), flush=True)
        return dbus.UInt32(number)

    @dbus.service.signal(NAME, "us")
    def ActionInvoked(self, number, key):
        pass

    @dbus.service.signal(NAME, "uu")
    def NotificationClosed(self, number, reason):
        pass


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
server = Server(bus, "/" + NAME.replace(".", "/"))
name = dbus.service.BusName(NAME, bus)
loop = GLib.MainLoop()


def read(stream, _):
    words = stream.readline().split()
    if words:
        server.ActionInvoked(int(words[0]), words[1])
    else:
        loop.quit()
    return bool(words)


GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, read)
loop.run()
