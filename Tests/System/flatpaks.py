# SPDX-License-Identifier: Apache-2.0
"""Real Flatpak apps in the machine, made of its own programs, and sandboxes that a hostile program of alice makes."""

# A runtime with secret-tool and what it links, and two apps that are nothing but a name.
INSTALL = r"""
set -e
mkdir -p /root/flatpak && cd /root/flatpak
mkdir -p runtime/files runtime/usr/etc
cp -L --parents /usr/bin/secret-tool /usr/bin/dash /usr/bin/sleep runtime/
ln -s dash runtime/usr/bin/sh
{ ldd /usr/bin/secret-tool; ldd /usr/bin/dash; } | grep -o '/[^ ]*' | sort -u | while read -r library; do
    install -D "$library" "runtime/usr/${library#/usr}"
done
architecture=$(flatpak --default-arch)
platform=org.example.Platform/$architecture/1
printf '[Runtime]\nname=org.example.Platform\nruntime=%s\nsdk=%s\n' "$platform" "$platform" >runtime/metadata
flatpak build-export --runtime repository runtime 1
for name in "$@"; do
    rm -rf app && mkdir -p app/files app/export
    printf '[Application]\nname=%s\nruntime=%s\nsdk=%s\ncommand=secret-tool\n
[Session Bus Policy]\norg.freedesktop.secrets=talk\n' "$name" "$platform" "$platform" >app/metadata
    flatpak build-export repository app 1
done
flatpak remote-add --no-gpg-verify test file:///root/flatpak/repository
flatpak install --system --assumeyes --noninteractive test "$@"
"""
REMOVE = "flatpak uninstall --system --all --assumeyes --noninteractive; flatpak remote-delete test; rm -rf /root/flatpak"
# The machine hides settings of the kernel in /proc, and the kernel then refuses a /proc of its own to a sandbox, unless there
# is one in which nothing is hidden.
SHOW_PROC = """
mkdir -m 700 /run/flatpak-test && mkdir /run/flatpak-test/proc
mount -t proc -o nosuid,nodev,noexec proc /run/flatpak-test/proc
mount --bind /run/flatpak-test/proc/sys/user /proc/sys/user
"""
HIDE_PROC = "umount /proc/sys/user /run/flatpak-test/proc && rm -r /run/flatpak-test"

# The root folder that bwrap makes is on tmpfs, as that of a Flatpak, and its maker may write there.
SANDBOX = ["bwrap", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--bind", "/home/alice", "/home/alice",
           "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--dev", "/dev"]


def sandboxed(made, *argv):
    """The command line of a program in a sandbox of alice, after the shell command `made`."""
    return [*SANDBOX, "sh", "-c", made + '; exec "$@"', "sh", *argv]


def stating(app):
    """A shell command that writes what Flatpak writes."""
    return f"printf '[Application]\\nname={app}\\n' >/.flatpak-info"


class WithFlatpaks:
    """Two apps; for a class that derives from a `ServiceTest` too."""

    MAIL, OTHER = "org.example.Mail", "org.example.Other"

    def setUp(self):
        super().setUp()
        self.machine.run("sh", "-c", INSTALL, "sh", self.MAIL, self.OTHER, timeout=120)
        self.addCleanup(self.machine.run, "sh", "-c", REMOVE, timeout=60)
        self.machine.run("sh", "-c", SHOW_PROC)
        self.addCleanup(self.machine.run, "sh", "-c", HIDE_PROC)
