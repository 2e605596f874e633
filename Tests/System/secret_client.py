# SPDX-License-Identifier: Apache-2.0
"""A program inside the machine that uses org.freedesktop.secrets as any other one does.

usage: secret_client.py store NAME SECRET | read NAME | unlock TIMES"""

import sys

from gi.repository import Gio, GLib

SERVICE, PLACE = "org.freedesktop.secrets", "/org/freedesktop/secrets"
MINUTE = 60_000
bus = Gio.bus_get_sync(Gio.BusType.SESSION)


def call(path, interface, method, kind, arguments, reply):
    return bus.call_sync(SERVICE, path, f"org.freedesktop.Secret.{interface}", method, GLib.Variant(kind, arguments),
                         GLib.VariantType(reply), Gio.DBusCallFlags.NONE, MINUTE, None).unpack()


def unlock():
    """Whether the prompt for a locked keychain is dismissed."""
    prompt = call(PLACE, "Service", "Unlock", "(ao)", ([f"{PLACE}/collection/login"],), "(aoo)")[1]
    loop, dismissed = GLib.MainLoop(), []

    def completed(*arguments):
        dismissed.append(arguments[5].unpack()[0])
        loop.quit()

    place = bus.signal_subscribe(SERVICE, "org.freedesktop.Secret.Prompt", "Completed", prompt, None, 0, completed)
    call(prompt, "Prompt", "Prompt", "(s)", ("",), "()")
    loop.run()
    bus.signal_unsubscribe(place)
    return dismissed[0]


def main(verb, name, *rest):
    if verb == "unlock":
        return print(sum(unlock() for _ in range(int(name))))
    session = call(PLACE, "Service", "OpenSession", "(sv)", ("plain", GLib.Variant("s", "")), "(vo)")[1]
    pairs = {"service": name, "xdg:schema": "org.example.Test"}
    if verb == "store":
        properties = {"org.freedesktop.Secret.Item.Label": GLib.Variant("s", name),
                      "org.freedesktop.Secret.Item.Attributes": GLib.Variant("a{ss}", pairs)}
        secret = (session, b"", rest[0].encode(), "text/plain")
        call(f"{PLACE}/collection/login", "Collection", "CreateItem", "(a{sv}(oayays)b)", (properties, secret, True), "(oo)")
        return
    unlocked, locked = call(PLACE, "Service", "SearchItems", "(a{ss})", (pairs,), "(aoao)")
    if locked:
        unlocked, prompt = call(PLACE, "Service", "Unlock", "(ao)", (locked,), "(aoo)")
        assert prompt == "/", prompt
    secret = call(unlocked[0], "Item", "GetSecret", "(o)", (session,), "((oayays))")[0]
    print(bytes(secret[2]).decode())


main(*sys.argv[1:])
