// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <adwaita.h>
#include <glib-unix.h>
#include <libintl.h>

// What Swift cannot import: macros with casts.
static const GType CGTK_TYPE_OBJECT = G_TYPE_OBJECT;
static const GType CGTK_TYPE_STRING = G_TYPE_STRING;
static const GType CGTK_TYPE_BOOLEAN = G_TYPE_BOOLEAN;
static const GType CGTK_TYPE_INT64 = G_TYPE_INT64;
static const GType CGTK_TYPE_DOUBLE = G_TYPE_DOUBLE;

static inline GType cgtk_type_of(gpointer instance) { return G_OBJECT_TYPE(instance); }
static inline GType cgtk_value_type(const GValue *value) { return G_VALUE_TYPE(value); }

// A function with any number of arguments; the one that takes a GValue fails for this state.
static inline void cgtk_set_invalid(GtkAccessible *accessible, GtkAccessibleInvalidState state) {
    gtk_accessible_update_state(accessible, GTK_ACCESSIBLE_STATE_INVALID, state, -1);
}

// The queue of Swift's main actor as a descriptor that is readable while the queue has work, which
// the loop of another library then has done. CoreFoundation's run loop uses the same two functions.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *);
