#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Functions of the scripts that show or test signing in. A script sets `folder` to a temporary folder, which is empty and
# which it removes, and then sources this file in the folder of the repository: . scripts/lib/relying-party.sh

# The packages of apps and examples share one build folder, so that the libraries are compiled once for all of them. Without
# the second option SwiftPM would build the package that it built last there.
apps='--scratch-path .build/apps --disable-build-manifest-caching'

# build_programs [options of swift build, for the keychain]: builds the server and the keychain, and sets `program`, `keychain`.
build_programs() {
    swift build --package-path RelyingParty --product latchkey-server
    swift build "$@" --product latchkeyd
    swift build "$@" --product latchkey
    keychain=$(swift build "$@" --show-bin-path)/latchkey
    program=$(swift build --package-path RelyingParty --show-bin-path)/latchkey-server
}

# build_sign_in: builds the example app, and sets `sign_in`.
build_sign_in() {
    # shellcheck disable=SC2086
    swift build $apps --package-path Examples/SignIn
    sign_in=$PWD/.build/apps/debug/SignIn
}

# build_window: builds the app with a window, puts the Info.plist with its reason for Face ID beside it, and sets `sign_in`.
build_window() {
    # shellcheck disable=SC2086
    swift build $apps --package-path Apps --product latchkey-sign-in
    sign_in=$PWD/.build/apps/debug/latchkey-sign-in
    mkdir -p "$sign_in.resources"
    cp Apps/SignIn/Info.plist "$sign_in.resources/"
}

# start_server <relying party>: starts a server on an empty database, and sets `server` to its process and `port`. Its log
# goes to $folder/lines.
start_server() {
    umask 077
    openssl rand -hex 32 >"$folder/secret"
    cat >"$folder/server.conf" <<EOF_CONFIGURATION
relying_party_id = $1
port = 0
database = $folder/server.sqlite
secret_file = $folder/secret
# A demonstration: a simulated machine protects nothing.
minimum_tier = simulated
EOF_CONFIGURATION
    mkfifo "$folder/log"
    "$program" "$folder/server.conf" serve 2>"$folder/log" &
    server=$!
    exec 3<"$folder/log"
    # The first line of the log is written when the socket listens, and names the port.
    read -r line <&3
    port=$(printf '%s\n' "$line" | sed -n 's/.*"port":\([0-9]*\).*/\1/p')
    [ -n "$port" ] || { printf '%s\n' "$line" >&2; exit 1; }
    cat <&3 >"$folder/lines" &
}

# stop_server: ends the server after the requests that it received.
stop_server() {
    [ -n "${server-}" ] || return 0
    kill "$server"
    wait "$server"
    server=''
}

# start_keychain: starts a keychain on a simulated machine, for the programs that this script starts.
start_keychain() {
    LATCHKEY_HOME=$folder/keychain
    export LATCHKEY_HOME
    mkdir -m 700 "$LATCHKEY_HOME"
    daemon=$("$keychain" sim start --ready | sed -n 's/.*process \([0-9]*\),.*/\1/p')
}

# stop_keychain: ends the simulated machine, and waits until its process has closed its files.
stop_keychain() {
    [ -n "${daemon-}" ] || return 0
    "$keychain" sim stop
    tries=0
    while kill -0 "$daemon" 2>/dev/null && [ "$tries" -lt 100 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
    daemon=''
}

# finish: ends what was started, and removes the folder.
finish() {
    stop_keychain || true
    stop_server || true
    rm -rf "$folder"
}
