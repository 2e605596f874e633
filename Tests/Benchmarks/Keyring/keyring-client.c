/* SPDX-License-Identifier: Apache-2.0 */

/* A program that stores its passwords with libsecret, for the comparison with Latchkey. It reads one command per line
   from standard input ("read ACCOUNT", "add ACCOUNT", "clear ACCOUNT", "ping ACCOUNT", which asks for nothing) and prints the nanoseconds of the call, or
   "error" and the reason. It begins only when a secret service is on the bus, so that the bus never starts another one.
   It is a separate program, so that nothing else needs libsecret to be built. */

#include <libsecret/secret.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const SecretSchema schema = {
    "org.example.bench",
    SECRET_SCHEMA_DONT_MATCH_NAME,
    {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"account", SECRET_SCHEMA_ATTRIBUTE_STRING}, {NULL, 0}},
    0, 0, 0, 0, 0, 0, 0, 0};

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void appeared(GDBusConnection *bus, const gchar *name, const gchar *owner, gpointer loop) {
    (void)bus, (void)name, (void)owner;
    g_main_loop_quit(loop);
}

static gboolean late(gpointer loop) {
    (void)loop;
    puts("error no secret service within 30 seconds");
    exit(1);
}

static void wait_for_service(void) {
    GMainLoop *loop = g_main_loop_new(NULL, FALSE);
    guint timer = g_timeout_add_seconds(30, late, loop);
    guint watch = g_bus_watch_name(
        G_BUS_TYPE_SESSION, "org.freedesktop.secrets", G_BUS_NAME_WATCHER_FLAGS_NONE, appeared, NULL, loop, NULL);
    g_main_loop_run(loop);
    g_bus_unwatch_name(watch);
    g_source_remove(timer);
    g_main_loop_unref(loop);
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    const char *service = arguments[1], *secret = arguments[2];
    wait_for_service();
    GDBusConnection *bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, NULL);
    puts("ready");
    fflush(stdout);
    char verb[8], account[128];
    while (scanf("%7s %127s", verb, account) == 2) {
        GError *error = NULL;
        gboolean done = FALSE;
        long long began = now();
        if (!strcmp(verb, "read")) {
            char *found = secret_password_lookup_sync(
                &schema, NULL, &error, "service", service, "account", account, NULL);
            done = found && !strcmp(found, secret);
            secret_password_free(found);
        } else if (!strcmp(verb, "add")) {
            done = secret_password_store_sync(
                &schema, SECRET_COLLECTION_DEFAULT, "bench", secret, NULL, &error, "service", service, "account", account,
                NULL);
        } else if (!strcmp(verb, "clear")) {
            done = secret_password_clear_sync(&schema, NULL, &error, "service", service, "account", account, NULL);
        } else if (!strcmp(verb, "ping")) {
            GVariant *pong = g_dbus_connection_call_sync(
                bus, "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.DBus.Peer", "Ping", NULL, NULL,
                G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
            done = pong != NULL;
            if (pong) g_variant_unref(pong);
        }
        long long took = now() - began;
        if (done) printf("%lld\n", took);
        else printf("error %s %s\n", verb, error ? error->message : "returned a wrong result");
        g_clear_error(&error);
        fflush(stdout);
    }
    return 0;
}
