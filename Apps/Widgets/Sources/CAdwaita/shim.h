// SPDX-License-Identifier: Apache-2.0

// GTK 4.8 and libadwaita 1.2 are the oldest supported versions; functions that later versions deprecate still work
// there.
#define GDK_DISABLE_DEPRECATION_WARNINGS
#define ADW_DISABLE_DEPRECATION_WARNINGS
#include <adwaita.h>
#include <dlfcn.h>
#include <glib-unix.h>
#include <pango/pangocairo.h>
#include <string.h>
#include <sys/prctl.h>

// The type macros of a GValue are casts, which Swift does not import.
static inline GType latchkey_type_string(void) { return G_TYPE_STRING; }
static inline GType latchkey_type_boolean(void) { return G_TYPE_BOOLEAN; }
static inline GType latchkey_type_int(void) { return G_TYPE_INT; }

// A macro with a cast, which Swift does not import.
static inline const GVariantType *latchkey_variant_type_string(void) { return G_VARIANT_TYPE_STRING; }

// A macro with an array of lengths, which Swift does not import.
static inline int latchkey_character_length(const char *text) { return (int)(g_utf8_next_char(text) - text); }

// prctl(2) is variadic, which Swift cannot call.
static inline int latchkey_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

// GTK 4.8 sends each character typed into a password field, and its whole text when it is cleared, to assistive
// technology in clear: gtkatspitext.c connects to both signals when the field is first used, and again after it was
// hidden. These handlers run before GTK's handlers and disconnect them. While they do, they block themselves, so that
// only other handlers are found.
static inline void latchkey_take_others(GtkEditable *text, guint signal) {
    for (gulong id; (id = g_signal_handler_find(
                         text, G_SIGNAL_MATCH_ID | G_SIGNAL_MATCH_UNBLOCKED, signal, 0, NULL, NULL, NULL));)
        g_signal_handler_disconnect(text, id);
}
static inline void latchkey_inserted(GtkEditable *text, char *added, int length, int *position, void *data) {
    gulong own = g_signal_handler_find(text, G_SIGNAL_MATCH_FUNC, 0, 0, NULL, (void *)latchkey_inserted, NULL);
    g_signal_handler_block(text, own);
    latchkey_take_others(text, g_signal_lookup("insert-text", GTK_TYPE_EDITABLE));
    g_signal_handler_unblock(text, own);
}
static inline void latchkey_deleted(GtkEditable *text, int start, int end, void *data) {
    gulong own = g_signal_handler_find(text, G_SIGNAL_MATCH_FUNC, 0, 0, NULL, (void *)latchkey_deleted, NULL);
    g_signal_handler_block(text, own);
    latchkey_take_others(text, g_signal_lookup("delete-text", GTK_TYPE_EDITABLE));
    g_signal_handler_unblock(text, own);
}
static inline void latchkey_keep_from_assistants(GtkEditable *editable) {
    GtkEditable *text = gtk_editable_get_delegate(editable);
    g_signal_connect(text, "insert-text", G_CALLBACK(latchkey_inserted), NULL);
    g_signal_connect(text, "delete-text", G_CALLBACK(latchkey_deleted), NULL);
}

// Wipes remnants of earlier calls below the caller's stack frame and in the vector registers: copying a text leaves
// it in these registers, and the dynamic linker saves them to the stack when it resolves a function at its first
// call. Swift has neither arrays of that size on the stack nor access to registers.
static __attribute__((noinline)) void latchkey_wipe_stack(void) {
    char below[1 << 16];
    explicit_bzero(below, sizeof below);
#if defined(__x86_64__)
    __asm__ volatile(
        "pxor %%xmm0, %%xmm0\n pxor %%xmm1, %%xmm1\n pxor %%xmm2, %%xmm2\n pxor %%xmm3, %%xmm3\n"
        "pxor %%xmm4, %%xmm4\n pxor %%xmm5, %%xmm5\n pxor %%xmm6, %%xmm6\n pxor %%xmm7, %%xmm7\n"
        "pxor %%xmm8, %%xmm8\n pxor %%xmm9, %%xmm9\n pxor %%xmm10, %%xmm10\n pxor %%xmm11, %%xmm11\n"
        "pxor %%xmm12, %%xmm12\n pxor %%xmm13, %%xmm13\n pxor %%xmm14, %%xmm14\n pxor %%xmm15, %%xmm15\n"
        :
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15", "memory");
#elif defined(__aarch64__)
    // v8 to v15 are partly callee-saved; copying uses the others.
    __asm__ volatile(
        "movi v0.2d, #0\n movi v1.2d, #0\n movi v2.2d, #0\n movi v3.2d, #0\n movi v4.2d, #0\n movi v5.2d, #0\n"
        "movi v6.2d, #0\n movi v7.2d, #0\n movi v16.2d, #0\n movi v17.2d, #0\n movi v18.2d, #0\n movi v19.2d, #0\n"
        :
        :
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "memory");
#endif
}

// gtk_accessible_announce() exists since GTK 4.14 and is looked up at run time; returns 0 where it is missing.
static inline int latchkey_announce(GtkWidget *widget, const char *text) {
    void (*announce)(GtkAccessible *, const char *, int) =
        (void (*)(GtkAccessible *, const char *, int))dlsym(RTLD_DEFAULT, "gtk_accessible_announce");
    if (!announce) return 0;
    announce(GTK_ACCESSIBLE(widget), text, 2 /* GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_HIGH */);
    return 1;
}

// g_variant_new() and g_variant_builder_add() are variadic, which Swift cannot call. The arguments of Notify; `action` is the
// title of a button, or NULL.
static inline GVariant *latchkey_notification(
    const char *title, const char *body, const char *icon, const char *identifier, const char *action) {
    GVariantBuilder hints;
    g_variant_builder_init(&hints, G_VARIANT_TYPE("a{sv}"));
    g_variant_builder_add(&hints, "{sv}", "desktop-entry", g_variant_new_string(icon));
    const char *actions[] = {identifier, action};
    return g_variant_new(
        "(susss@asa{sv}i)", "Latchkey", 0u, icon, title, body, g_variant_new_strv(actions, action ? 2 : 0), &hints, -1);
}

// gtk_accessible_update_state() is variadic, which Swift cannot call.
static inline void latchkey_set_expanded(GtkWidget *widget, int is_expanded) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_EXPANDED, is_expanded, -1);
}

// These functions run Dispatch's main queue from another event loop. libdispatch exports them for Foundation's run
// loop, but its headers for Linux do not declare them.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *ignored);
