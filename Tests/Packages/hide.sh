#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Hides the checkout and the development files of OpenSSL and SQLite in this mount namespace, says so, and waits until its
# input ends. A folder with links to all other files is mounted over each folder: an unprivileged user cannot remove files.
# usage: hide.sh <temporary folder> <checkout>

set -eu
work=$1 checkout=$2 count=0

# Prints the development files of the C libraries in a folder.
development_files() {
    for name in openssl sqlite3.h sqlite3ext.h libcrypto.so libssl.so libsqlite3.so libcrypto.a libssl.a \
        libsqlite3.a libcrypto.pc libssl.pc openssl.pc sqlite3.pc; do
        [ ! -e "$1/$name" ] || echo "$name"
    done
}

# The folders of the .pc files first, because they are inside the others.
for folder in /usr/lib/*/pkgconfig /usr/lib/pkgconfig /usr/local/lib/pkgconfig /usr/lib/*-linux-gnu /usr/lib64 \
    /usr/local/lib /usr/include/*-linux-gnu /usr/include /usr/local/include; do
    [ -d "$folder" ] && [ ! -L "$folder" ] || continue
    names=$(development_files "$folder")
    [ -n "$names" ] || continue
    count=$((count + 1))
    mkdir -p "$work/real/$count" "$work/links/$count"
    mount --rbind "$folder" "$work/real/$count"
    ln -s "$work/real/$count"/* "$work/links/$count"
    for name in $names; do rm "$work/links/$count/$name"; done
    mount --bind "$work/links/$count" "$folder"
    [ -z "$(development_files "$folder")" ]
done
mkdir -p "$work/empty"
mount --bind "$work/empty" "$checkout"
[ ! -e "$checkout/Package.swift" ]
echo hidden
exec cat
