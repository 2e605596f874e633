# SPDX-License-Identifier: Apache-2.0
"""What an engine for containers does with the lines of a Containerfile."""

from debs import FOLDER, WITHOUT_QUESTIONS, PackageTest
from machine import CHECKOUT


class ContainerTest(PackageTest):
    """The lines of a Containerfile in a root file system where no systemd runs; no engine is here."""

    ROOT = "/srv/container"
    # Enters the root, with a mount namespace and processes of its own, as a user.
    ENTER = """
set -eu
mkdir -p /srv/container/space /srv/container/root
mountpoint -q /srv/container/space || mount -t tmpfs space /srv/container/space
mkdir -p /srv/container/space/changes /srv/container/space/work
mount -t overlay -o lowerdir=/,upperdir=/srv/container/space/changes,workdir=/srv/container/space/work overlay \
    /srv/container/root
root=/srv/container/root user=$1
shift
mount -t proc proc $root/proc
mount --rbind /dev $root/dev
mount -t tmpfs run $root/run
chroot $root setpriv --reuid $user --regid $user --clear-groups "$@"
"""

    def setUp(self):
        super().setUp()
        # The changes of one line are there for the next.
        self.machine.run("sh", "-c", f"mkdir -p {self.ROOT}/space && mount -t tmpfs space {self.ROOT}/space")
        self.addCleanup(self.machine.run, "sh", "-c", f"umount {self.ROOT}/space && rm -rf {self.ROOT}")

    def line(self, user, environment, command):
        variables = [f"{name}={value}" for name, value in {"HOME": "/", **WITHOUT_QUESTIONS, **environment}.items()]
        return self.machine.run("unshare", "-m", "-p", "-f", "--kill-child", "sh", "-c", self.ENTER, "sh", user, "env",
                                *variables, "/bin/sh", "-c", command, timeout=120)

    def run_lines(self, file):
        """Runs the RUN lines of a file, and returns how many there are and the values of its other words."""
        user, environment, ran, others = "root", {}, 0, {}
        for line in (CHECKOUT / file).read_text().splitlines():
            word, _, rest = line.partition(" ")
            if word == "USER":
                user = rest
            elif word == "ENV":
                environment.update([rest.split("=", 1)])
            elif word == "RUN":
                self.line(user, environment, rest)
                ran += 1
            elif word == "COPY":
                # The packages are where the line copies them.
                self.assertEqual(rest, f".build/deb/*.deb {FOLDER}/")
            elif word not in ("", "#"):
                others[word] = rest
        return ran, others
