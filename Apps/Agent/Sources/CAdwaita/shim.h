// SPDX-License-Identifier: Apache-2.0

#include <adwaita.h>
#include <dlfcn.h>
#include <sys/prctl.h>

// prctl(2) is variadic, which Swift cannot call.
static inline int latchkey_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// The type macros of a GValue are casts, which Swift does not import.
static inline GType latchkey_type_string(void) { return G_TYPE_STRING; }

// GTK 4.14 has gtk_accessible_announce(); an older one is met at run time as well.
static inline int latchkey_announce(GtkWidget *widget, const char *text) {
    void (*announce)(GtkAccessible *, const char *, int) =
        (void (*)(GtkAccessible *, const char *, int))dlsym(RTLD_DEFAULT, "gtk_accessible_announce");
    if (!announce) return 0;
    announce(GTK_ACCESSIBLE(widget), text, 2 /* GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_HIGH */);
    return 1;
}
