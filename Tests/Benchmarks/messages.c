// SPDX-License-Identifier: Apache-2.0

// The least that adding has to do on the bus: the signals that idownd sends for a task, and the
// reply, for each call, and nothing else. Nothing is read, decided or kept.
// usage: messages NAME SIGNAL…   (each SIGNAL a file that holds a message as it went over the bus)

#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8, SIZE = 64 << 10 };
static DBusMessage *signals[MOST];
static int count;

static DBusMessage *message_in(const char *name) {
    static char bytes[SIZE];
    FILE *file = fopen(name, "rb");
    if (!file) return NULL;
    size_t length = fread(bytes, 1, SIZE, file);
    fclose(file);
    return dbus_message_demarshal(bytes, length, NULL);
}

static void send_and_release(DBusConnection *bus, DBusMessage *message) {
    if (!message || !dbus_connection_send(bus, message, NULL)) abort();
    dbus_message_unref(message);
}

static DBusHandlerResult answer(DBusConnection *bus, DBusMessage *call, void *nothing) {
    (void)nothing;
    if (dbus_message_get_type(call) != DBUS_MESSAGE_TYPE_METHOD_CALL)
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    for (int i = 0; i < count; i++) send_and_release(bus, dbus_message_copy(signals[i]));
    const char *id = "12345";
    DBusMessage *reply = dbus_message_new_method_return(call);
    if (!reply || !dbus_message_append_args(reply, DBUS_TYPE_STRING, &id, DBUS_TYPE_INVALID)) abort();
    send_and_release(bus, reply);
    return DBUS_HANDLER_RESULT_HANDLED;
}

int main(int words, char **word) {
    for (int i = 2; i < words && count < MOST; i++) {
        if (!(signals[count++] = message_in(word[i]))) return 1;
    }
    DBusConnection *bus = dbus_bus_get(DBUS_BUS_SESSION, NULL);
    if (!bus || words < 3 || !dbus_connection_add_filter(bus, answer, NULL, NULL)) return 1;
    if (dbus_bus_request_name(bus, word[1], 0, NULL) != DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER) return 1;
    while (dbus_connection_read_write_dispatch(bus, -1)) continue;
    return 0;
}
