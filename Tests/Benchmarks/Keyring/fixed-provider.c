/* SPDX-License-Identifier: Apache-2.0 */

/* A secret service that has one item, which every search finds: what libsecret and the bus take with any provider. A store
   is one durable write of a page. It has plain sessions only, so that nothing is encrypted.

   usage: fixed-provider SECRET FILE   FILE is written to */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define ROOT "/org/freedesktop/secrets"
#define ITEM ROOT "/collection/login/1"
#define SESSION ROOT "/session/1"
#define SERVICE "org.freedesktop.Secret.Service"

static const char *secret;
static int file;

static int send_reply(sd_bus_message *reply, int result) {
    if (result >= 0) result = sd_bus_send(NULL, reply, NULL);
    sd_bus_message_unref(reply);
    return result;
}

static int open_session(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data;
    const char *algorithm;
    int result = sd_bus_message_read(call, "s", &algorithm);
    if (result < 0) return result;
    if (strcmp(algorithm, "plain")) return sd_bus_error_set(error, SD_BUS_ERROR_NOT_SUPPORTED, "plain sessions only");
    return sd_bus_reply_method_return(call, "vo", "s", "", SESSION);
}

static int search(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    return sd_bus_reply_method_return(call, "aoao", 1, ITEM, 0);
}

static int get_secrets(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    sd_bus_message *reply = NULL;
    int result = sd_bus_message_new_method_return(call, &reply);
    if (result >= 0) result = sd_bus_message_open_container(reply, 'a', "{o(oayays)}");
    if (result >= 0) result = sd_bus_message_open_container(reply, 'e', "o(oayays)");
    if (result >= 0) result = sd_bus_message_append(reply, "o", ITEM);
    if (result >= 0) result = sd_bus_message_open_container(reply, 'r', "oayays");
    if (result >= 0) result = sd_bus_message_append(reply, "o", SESSION);
    if (result >= 0) result = sd_bus_message_append_array(reply, 'y', "", 0);
    if (result >= 0) result = sd_bus_message_append_array(reply, 'y', secret, strlen(secret));
    if (result >= 0) result = sd_bus_message_append(reply, "s", "text/plain");
    for (int depth = 0; result >= 0 && depth < 3; depth++) result = sd_bus_message_close_container(reply);
    return send_reply(reply, result);
}

static int create(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data;
    static const char page[4096];
    if (write(file, page, sizeof page) != sizeof page || fdatasync(file))
        return sd_bus_error_set(error, SD_BUS_ERROR_FAILED, "the file cannot be written");
    return sd_bus_reply_method_return(call, "oo", ITEM, "/");
}

static int delete(sd_bus_message *call, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    return sd_bus_reply_method_return(call, "o", "/");
}

static const sd_bus_vtable service[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("OpenSession", "sv", "vo", open_session, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("SearchItems", "a{ss}", "aoao", search, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("GetSecrets", "aoo", "a{o(oayays)}", get_secrets, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};
static const sd_bus_vtable collection[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("CreateItem", "a{sv}(oayays)b", "oo", create, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};
static const sd_bus_vtable item[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Delete", "", "o", delete, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

int main(int count, char **arguments) {
    if (count != 3) return 64;
    secret = arguments[1];
    file = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    sd_bus *bus = NULL;
    if (file < 0 || sd_bus_open_user(&bus) < 0) return 1;
    if (sd_bus_add_object_vtable(bus, NULL, ROOT, SERVICE, service, NULL) < 0
        || sd_bus_add_object_vtable(bus, NULL, ROOT "/aliases/default", "org.freedesktop.Secret.Collection", collection, NULL) < 0
        || sd_bus_add_object_vtable(bus, NULL, ITEM, "org.freedesktop.Secret.Item", item, NULL) < 0
        || sd_bus_request_name(bus, "org.freedesktop.secrets", 0) < 0)
        return 1;
    for (;;) {
        int result = sd_bus_process(bus, NULL);
        if (result < 0) return 1;
        if (result == 0 && sd_bus_wait(bus, UINT64_MAX) < 0) return 1;
    }
}
