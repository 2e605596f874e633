#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the scripts that install an app have in common. A script sets `built`, the folder of the built program or
# --remove, and then sources this file: . scripts/lib/put.sh

# put <source> <target> <mode>: installs or removes a file; replaces @PREFIX@ in text files.
put() {
    case $built in
    --remove)
        [ -e "$2" ] || return 0
        rm -f "$2"
        echo "removed $2"
        ;;
    *)
        install -D -m "$3" "$1" "$2"
        [ "$3" = 755 ] || sed -i "s|@PREFIX@|$PREFIX|" "$2"
        echo "installed $2"
        ;;
    esac
}
