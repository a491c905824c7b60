// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <dbus/dbus.h>

// What of <dbus/dbus.h> Swift cannot import as it stands. The type codes are not here: they are
// the characters of the specification, and Swift writes them as such (TypeCode.swift).

// A DBusError in its starting state. DBUS_ERROR_INIT is a brace initializer, which is not imported.
static inline DBusError cdbus_error_init(void) {
    DBusError error = DBUS_ERROR_INIT;
    return error;
}

// pipe2(2), which <unistd.h> declares only with _GNU_SOURCE: no child that is started meanwhile
// inherits the ends.
int pipe2(int ends[2], int flags);

// malloc_trim(3), malloc.h: gives free memory back to the system.
int malloc_trim(size_t kept);
