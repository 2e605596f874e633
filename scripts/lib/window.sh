# SPDX-License-Identifier: Apache-2.0
#
# Running an app with a window. A script sources this file: . scripts/lib/window.sh

# run_app <what is deleted> <program> [argument...]: runs an app on the keychain of LATCHKEY_HOME, or of the user if a
# finger is enrolled; otherwise on a simulated machine in a temporary folder, which is removed afterwards. The programs of
# Latchkey are in LATCHKEY_PROGRAMS.
run_app() {
    deleted=$1
    shift
    LATCHKEY_DAEMON=$LATCHKEY_PROGRAMS/latchkeyd LATCHKEY_APP_ID=${1##*/}
    export LATCHKEY_DAEMON LATCHKEY_APP_ID
    if [ -n "${LATCHKEY_HOME-}" ]; then exec "$@"; fi
    if "$LATCHKEY_PROGRAMS/latchkey" status --json 2>/dev/null | grep -q '"enrolled":true'; then exec "$@"; fi
    LATCHKEY_HOME=$(mktemp -d)
    export LATCHKEY_HOME
    finish() {
        "$LATCHKEY_PROGRAMS/latchkey" sim stop >/dev/null 2>&1 || true
        rm -rf "$LATCHKEY_HOME"
    }
    trap finish EXIT
    trap 'exit 130' HUP INT TERM
    sim="$LATCHKEY_PROGRAMS/latchkey sim"
    { $sim start && $sim sensor touch && $sim enroll && echo 1234 | $sim passcode set; } >/dev/null
    echo "There is no sensor here: $deleted on a simulated machine and deleted afterwards. Its passcode is 1234."
    "$@"
}
