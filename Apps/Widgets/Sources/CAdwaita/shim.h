// SPDX-License-Identifier: Apache-2.0

// GTK 4.8 and libadwaita 1.2 are the oldest that have all this; what later ones call deprecated works in them too.
#define GDK_DISABLE_DEPRECATION_WARNINGS
#define ADW_DISABLE_DEPRECATION_WARNINGS
#include <adwaita.h>
#include <dlfcn.h>
#include <glib-unix.h>
#include <sys/prctl.h>

// The type macros of a GValue are casts, which Swift does not import.
static inline GType latchkey_type_string(void) { return G_TYPE_STRING; }

// prctl(2) is variadic, which Swift cannot call.
static inline int latchkey_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// GTK 4.14 has gtk_accessible_announce(); an older one is met at run time as well.
static inline int latchkey_announce(GtkWidget *widget, const char *text) {
    void (*announce)(GtkAccessible *, const char *, int) =
        (void (*)(GtkAccessible *, const char *, int))dlsym(RTLD_DEFAULT, "gtk_accessible_announce");
    if (!announce) return 0;
    announce(GTK_ACCESSIBLE(widget), text, 2 /* GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_HIGH */);
    return 1;
}

// How a loop that is not Dispatch's own runs its main queue: libdispatch exports both for the run loop of Foundation,
// and its headers for Linux leave them out.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *ignored);
