// SPDX-License-Identifier: Apache-2.0

// GTK 4.8 and libadwaita 1.2 are the oldest that have all this; what later ones call deprecated works in them too.
#define GDK_DISABLE_DEPRECATION_WARNINGS
#define ADW_DISABLE_DEPRECATION_WARNINGS
#include <adwaita.h>
#include <glib-unix.h>

// The type macros of a GValue are casts, which Swift does not import.
static inline GType latchkey_type_string(void) { return G_TYPE_STRING; }

// How a loop that is not Dispatch's own runs its main queue: libdispatch exports both for the run loop of Foundation,
// and its headers for Linux leave them out.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *ignored);
