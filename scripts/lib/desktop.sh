#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What an app's installation gives a desktop. A script defines `put <source> <target> <mode>` and sets `root`, the prefix
# below which it installs, and then sources this file: . scripts/lib/desktop.sh

# put_desktop <folder> <identifier>: the entry, the icon and the description for catalogues of programs.
put_desktop() {
    put "$1/$2.desktop" "$root/share/applications/$2.desktop" 644
    put "$1/$2.svg" "$root/share/icons/hicolor/scalable/apps/$2.svg" 644
    put "$1/$2.metainfo.xml" "$root/share/metainfo/$2.metainfo.xml" 644
}
