# SPDX-License-Identifier: Apache-2.0
#
# Runs as the first process of new namespaces (mount, pid, ipc, uts, net and cgroup): prepares the root of the machine
# and replaces itself by systemd. Nothing here reaches the host: the mounts belong to this mount namespace and
# disappear with its last process.
# usage: sh Tests/System/boot.sh <image> <work folder> <folder of the built programs | none | restart>
#
# <work folder>/space is the disk of the machine. With `restart` it is as the last boot left it.

set -eu
image=$1 work=$2 programs=$3
root=$work/root
umask 022

# MARK: the root file system

# The image is the lower layer of an overlay, or is copied where the kernel refuses an overlay, so it never changes.
mount_root() {
    mkdir -p "$root" "$work/space/changes" "$work/space/overlay"
    layers="lowerdir=$image,upperdir=$work/space/changes,workdir=$work/space/overlay"
    if ! mount -t overlay -o "$layers" overlay "$root"; then
        echo 'no overlay: copying the image' >&2
        mount --bind "$work/space/changes" "$root"
        [ "$programs" = restart ] || cp -a "$image/." "$root"
    fi
}

# Each boot has its own identifier, as on a machine with a kernel of its own.
name_boot() {
    cat /proc/sys/kernel/random/uuid >"$root/run/boot_id"
    mount --bind "$root/run/boot_id" "$root/proc/sys/kernel/random/boot_id"
}

# Device nodes are made, not bind-mounted: units with PrivateDevices= cannot start with mounted nodes.
make_devices() {
    mount -t tmpfs -o mode=755,nosuid,size=1m dev "$root/dev"
    umask 000
    for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0 fuse:10:229; do
        numbers=${node#*:}
        mknod -m 666 "$root/dev/${node%%:*}" c "${numbers%:*}" "${numbers#*:}"
    done
    umask 022
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,gid=5,mode=620,ptmxmode=666 devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    for number in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${number%:*}" "$root/dev/${number#*:}"; done
}

# Settings of the kernel that no namespace separates from the host's are read-only.
mount_kernel_interfaces() {
    mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
    for place in sys sysrq-trigger; do
        [ -e "$root/proc/$place" ] || continue
        mount --bind "$root/proc/$place" "$root/proc/$place"
        mount -o remount,bind,ro "$root/proc/$place"
    done
    mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
    mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 "$root/sys/fs/cgroup"
}

# systemd reports on the socket notify in the folder $work/host that its start is complete.
mount_run() {
    mount -t tmpfs -o mode=755,nosuid,nodev run "$root/run"
    mkdir "$root/run/host"
    mount --bind "$work/host" "$root/run/host"
}

name_machine() {
    hostname latchkey-test
    echo latchkey-test >"$root/etc/hostname"
    printf '127.0.0.1 localhost latchkey-test\n::1 localhost\n' >"$root/etc/hosts"
    tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
}

# MARK: what the tests find inside

# The ordinary users; their passwords are those of machine.py.
add_users() {
    for user in alice:1001 bob:1002; do
        chroot "$root" useradd --create-home --shell /bin/bash --uid "${user#*:}" --user-group "${user%:*}"
    done
    printf 'alice:the password of alice\nbob:the password of bob\n' | chroot "$root" chpasswd -c SHA256
}

# The programs where `make install PREFIX=/usr` puts them, if they are built; the units; and the user of the services.
install_latchkey() {
    if [ -x "$programs/latchkeyd" ]; then
        PREFIX=/usr DESTDIR=$root scripts/install programs "$programs"
    fi
    for unit in packaging/systemd/*; do
        [ ! -f "$unit" ] || install -D -m 644 "$unit" "$root/lib/systemd/system/${unit##*/}"
    done
    install -D -m 644 packaging/pam.d/latchkey "$root/etc/pam.d/latchkey"
    # Most tests type a passcode of one's own; those of the account's password remove this file.
    install -d "$root/etc/systemd/system/latchkey-authd.service.d"
    printf '[Service]\nExecStart=\nExecStart=/usr/libexec/latchkey-authd --passcode own\n' \
        >"$root/etc/systemd/system/latchkey-authd.service.d/passcode.conf"
    install -D -m 644 packaging/etc/latchkeyd.conf "$root/etc/latchkey/latchkeyd.conf"
    if [ -f packaging/sysusers.d/latchkey.conf ]; then
        install -D -m 644 packaging/sysusers.d/latchkey.conf "$root/usr/lib/sysusers.d/latchkey.conf"
        chroot "$root" systemd-sysusers
    else
        chroot "$root" useradd --system --user-group --home-dir /var/lib/latchkey --shell /usr/sbin/nologin latchkey
    fi
    # A socket starts its service with the first connection.
    chroot "$root" systemctl --quiet enable latchkeyd.socket latchkey-authd.socket latchkey-agents.socket
}

# MARK: order of the steps

mount_root
if [ "$programs" != restart ]; then
    name_machine
    add_users
    # The tests of the packages begin without Latchkey.
    [ "$programs" = none ] || install_latchkey
fi
make_devices
mount_kernel_interfaces
mount_run
name_boot

# After this the namespace contains no mount of the host.
mkdir "$root/run/before"
cd "$root"
pivot_root . run/before
exec chroot . /usr/bin/setpriv --bounding-set -sys_module,-sys_rawio,-sys_time /bin/sh -c '
    umount -l /run/before && rmdir /run/before &&
        exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin LANG=C.UTF-8 container=lxc \
            NOTIFY_SOCKET=/run/host/notify /lib/systemd/systemd' <"/dev/null" >/dev/null
