# SPDX-License-Identifier: Apache-2.0
#
# Running an app with a window, and taking its pictures. A script defines `drive <name...>`, which runs the tests of its
# window, and then sources this file: . scripts/lib/window.sh

# pictures <target of make> <widthxheight> <folder> <looks> [name...]: takes the pictures of each look, which is light, dark
# or narrow, in a folder of its own below a folder outside the repository. Also after a test that failed.
pictures() {
    [ -n "$3" ] || { echo "usage: make $1 FOLDER=..." >&2; exit 2; }
    size=$2 looks=$4
    mkdir -p "$3"
    folder=$(cd "$3" && pwd)
    shift 4
    case $folder/ in "$PWD"/*) echo 'error: the folder has to be outside the repository' >&2; exit 2 ;; esac
    status=0
    for look in $looks; do
        mkdir -p "$folder/$look"
        case $look in
        light | dark) scheme=$look screen=$size ;;
        narrow) scheme=light screen=360x640 ;;
        esac
        LATCHKEY_SCREENSHOTS=$folder/$look ADW_DEBUG_COLOR_SCHEME=prefer-$scheme LATCHKEY_SCREEN=${screen}x24 drive "$@" ||
            status=$?
    done
    echo "pictures in $folder"
    exit "$status"
}

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
