#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts that install have in common. A script sets `built`, the folder of the built programs or --remove, and
# `root`, the prefix below which it installs, and then sources this file: . scripts/lib/put.sh

# put <source> <target> <mode>: installs or removes a file; replaces @PREFIX@ in text files, and strips programs of their
# symbols, as packages do.
put() {
    case $built in
    --remove)
        [ -e "$2" ] || return 0
        rm -f "$2"
        echo "removed $2"
        ;;
    *)
        install -D -m "$3" "$1" "$2"
        if [ "$3" != 755 ]; then
            sed -i "s|@PREFIX@|$PREFIX|" "$2"
        elif [ "$(head -c 4 "$2" | tail -c 3)" = ELF ]; then
            strip --strip-unneeded "$2"
        fi
        echo "installed $2"
        ;;
    esac
}

# The folders of the user's units and of the desktop's autostart entries: a prefix in a home folder is for that user only.
case $PREFIX in
"$HOME"/*)
    configuration=${DESTDIR-}${XDG_CONFIG_HOME:-$HOME/.config}
    units=$configuration/systemd/user autostart=$configuration/autostart
    ;;
*) units=$root/lib/systemd/user autostart=${DESTDIR-}/etc/xdg/autostart ;;
esac
