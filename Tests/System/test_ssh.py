# SPDX-License-Identifier: Apache-2.0
"""`latchkey ssh-agent` with the machine's own sshd, ssh and git: a scripted finger releases each signature."""

import contextlib
import json
import subprocess

from clients import ClientTest
from machine import MachineTest, eventually, fact
from sensors import WithSensor
from services import CONFIGURATION, NOT_FOUND
from terminals import Terminal

HOME, RUNTIME = "/home/alice", "/run/user/1001"
SOCKET = f"{RUNTIME}/latchkey/ssh-agent.sock"
# A simulated daemon, whose sensor is operated by `latchkey sim`.
ENVIRONMENT = {"LATCHKEY_HOME": f"{HOME}/simulated", "SSH_AUTH_SOCK": SOCKET}
SECOND = 2222
# An operation, a class of items and a reply of docs/reference/protocol.md.
LIST, KEY, NO_ITEMS = 14, 3, [5, []]
USE_KEY, NOT_PERMITTED = 51, 7
SSHD = f"""
Port {SECOND}
HostKey /etc/ssh/second
PidFile none
PasswordAuthentication no
"""

# Sends one request to an agent: a login to a session that the connection has not bound. Prints the type of the reply.
UNBOUND = r"""
import base64, os, socket, struct, sys
def text(data):
    return struct.pack(">I", len(data)) + data
def call(body):
    connection.sendall(text(body))
    size = struct.unpack(">I", connection.recv(4, socket.MSG_WAITALL))[0]
    return connection.recv(size, socket.MSG_WAITALL)
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["SSH_AUTH_SOCK"])
key = base64.b64decode(sys.argv[1])
data = (text(b"s" * 32) + b"\x32" + text(b"root") + text(b"ssh-connection") + text(b"publickey") + b"\x01"
        + text(b"ecdsa-sha2-nistp256") + text(key))
print(call(b"\x0d" + text(key) + text(data) + bytes(4))[0])
"""


class AgentTest(MachineTest):
    def setUp(self):
        if self.machine.run("test", "-x", "/usr/bin/latchkey", check=False).returncode != 0:
            self.skipTest("no programs: run `make build` first")
        self.session = self.enterContext(self.machine.session("alice"))
        self.addCleanup(self.clean)
        self.machine.write(f"{ENVIRONMENT['LATCHKEY_HOME']}/latchkeyd.conf", "tier = simulated\n", 0o600,
                           "alice:alice")
        self.machine.run("sh", "-c", f"chown -R alice:alice {HOME}/simulated; chmod 700 {HOME}/simulated")
        self.latchkey("sim", "start", "--ready")
        self.latchkey("key", "create", "--ssh", "work")
        self.public = self.latchkey("key", "public", "work", "--format", "ssh").stdout
        self.allow("bob", self.public)
        self.allow("alice", self.machine.read("/etc/ssh/test.pub") + self.public)
        self.know("localhost", 22)

    def clean(self):
        self.user("systemctl", "--user", "stop", "latchkey-ssh-agent.socket", "latchkey-ssh-agent.service", check=False)
        self.user("systemctl", "--user", "unset-environment", "LATCHKEY_HOME", "SSH_AUTH_SOCK", check=False)
        self.latchkey("sim", "stop", check=False)
        self.machine.run("sh", "-c", f"rm -rf {HOME}/simulated {HOME}/.ssh/known_hosts {HOME}/repository "
                         f"{HOME}/work.pub /home/bob/repository.git /home/bob/.ssh/authorized_keys")

    # MARK: what the person and the programs do

    def user(self, *argv, **options):
        """A command of alice, who has a user manager, outside of her shell."""
        return self.machine.run(*argv, user="alice",
                                env={"XDG_RUNTIME_DIR": RUNTIME, "HOME": HOME, **ENVIRONMENT}, **options)

    def latchkey(self, *argv, **options):
        return self.user("latchkey", *argv, **options)

    def touch(self):
        self.latchkey("sim", "touch")

    def prompts(self):
        lines = self.latchkey("sim", "transcript").stdout.splitlines()
        return [line.split("asks: ", 1)[1].strip('"') for line in lines if "asks: " in line]

    def allow(self, user, keys):
        self.machine.write(f"/home/{user}/.ssh/authorized_keys", keys, 0o600, f"{user}:{user}")
        self.machine.run("chown", f"{user}:{user}", f"/home/{user}/.ssh")

    def know(self, name, port):
        """Writes the key of a server of this machine into alice's known hosts."""
        place = f"[{name}]:{port}" if port != 22 else name
        path = "/etc/ssh/second.pub" if port == SECOND else "/etc/ssh/ssh_host_ed25519_key.pub"
        key = " ".join(self.machine.read(path).split()[:2])
        self.machine.run("sh", "-c", f"printf '%s\\n' '{place} {key}' >>{HOME}/.ssh/known_hosts")
        self.machine.run("chown", "alice:alice", f"{HOME}/.ssh", f"{HOME}/.ssh/known_hosts")

    def ssh(self, *argv, options=(), algorithm="ssh-ed25519", **rest):
        return self.user("ssh", "-o", "BatchMode=yes", "-o", f"HostKeyAlgorithms={algorithm}", *options, *argv,
                         timeout=90, **rest)

    # MARK: agents

    def activate(self):
        """Starts the socket of the user unit; the first connection starts the agent."""
        self.user("systemctl", "--user", "set-environment", f"LATCHKEY_HOME={ENVIRONMENT['LATCHKEY_HOME']}")
        self.user("systemctl", "--user", "start", "latchkey-ssh-agent.socket")

    @contextlib.contextmanager
    def running(self, *options):
        """An agent in the foreground."""
        process = self.machine.start(
            "latchkey", "ssh-agent", "--foreground", *options, user="alice",
            env={"XDG_RUNTIME_DIR": RUNTIME, "HOME": HOME, **ENVIRONMENT}, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        try:
            self.assertEqual(process.stdout.readline(), f"SSH_AUTH_SOCK={SOCKET}; export SSH_AUTH_SOCK;\n")
            yield
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            eventually(lambda: self.machine.run("pgrep", "-u", "alice", "-fx", "latchkey ssh-agent.*",
                                                check=False).returncode != 0)

    @contextlib.contextmanager
    def second_server(self, certified=False):
        """A second sshd with a host key of its own, and perhaps a certificate of it."""
        for name in ("second", "second_ca"):
            self.machine.run("rm", "-f", f"/etc/ssh/{name}", f"/etc/ssh/{name}.pub")
            self.machine.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"/etc/ssh/{name}")
        self.machine.run("ssh-keygen", "-q", "-s", "/etc/ssh/second_ca", "-I", "second", "-h", "-n", "localhost",
                         "/etc/ssh/second.pub")
        certificate = "HostCertificate /etc/ssh/second-cert.pub\n" if certified else ""
        self.machine.write("/etc/ssh/sshd_second", SSHD + certificate)
        process = self.machine.start("/usr/sbin/sshd", "-D", "-f", "/etc/ssh/sshd_second", stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            eventually(lambda: self.machine.run("ssh-keyscan", "-p", str(SECOND), "localhost",
                                                check=False).stdout != "")
            yield
        finally:
            process.kill()
            process.wait()


class LoginTests(AgentTest):
    def test_a_finger_logs_in_through_the_socket_of_the_user_unit(self):
        self.activate()
        self.assertEqual(self.user("stat", "-c", "%a %U", SOCKET).stdout, "600 alice\n")
        self.assertIn(f"SSH_AUTH_SOCK={SOCKET}\n", self.user("systemctl", "--user", "show-environment").stdout)
        self.touch()
        done = self.ssh("-vv", "bob@localhost", "id", "-un")
        self.assertEqual(done.stdout, "bob\n", done.stderr)
        fingerprint = self.user("ssh-add", "-l").stdout.split()[1]
        transcript = [line for line in done.stderr.replace("\r", "").splitlines() if line.startswith("debug1: ") or
                      line.startswith("Authenticated")]
        for text in (f"Offering public key: work ECDSA {fingerprint} agent",
                     f"Server accepts key: work ECDSA {fingerprint} agent"):
            self.assertTrue(any(text in line for line in transcript), (text, transcript))
        self.assertIn('Authenticated to localhost ([127.0.0.1]:22) using "publickey".',
                      done.stderr.replace("[::1]", "[127.0.0.1]"))
        [prompt] = self.prompts()
        self.assertRegex(prompt, r"^log in to localhost as bob, asked by /usr/bin/ssh \(process \d+\), key work$")
        fact("login", f'ssh -vv: {next(line for line in transcript if "Server accepts key" in line)[8:]}')
        fact("its prompt", prompt)

    def test_a_finger_logs_in_through_an_agent_that_a_shell_started(self):
        script = ('eval "$(latchkey ssh-agent)" >/dev/null && '
                  "ssh -o BatchMode=yes -o HostKeyAlgorithms=ssh-ed25519 bob@localhost id -un; "
                  'eval "$(latchkey ssh-agent -k)"')
        self.touch()
        done = self.user("sh", "-c", script, timeout=90)
        self.assertRegex(done.stdout, r"^bob\nAgent pid \d+ killed\n$", done.stderr)
        self.assertEqual(len(self.prompts()), 1)

    def test_every_login_needs_a_finger(self):
        self.activate()
        self.touch()
        self.assertEqual(self.ssh("bob@localhost", "true", check=False).returncode, 0)
        self.latchkey("sim", "cancel")
        refused = self.ssh("bob@localhost", "true", check=False)
        self.assertEqual(refused.returncode, 255)
        self.assertIn("Permission denied", refused.stderr)
        self.assertEqual(len(self.prompts()), 2)

    def test_a_hashed_and_an_unknown_host_are_named(self):
        self.activate()
        self.user("ssh-keygen", "-q", "-H", "-f", f"{HOME}/.ssh/known_hosts")
        self.touch()
        self.ssh("bob@localhost", "true")
        self.assertIn("log in to localhost as bob", self.prompts()[-1])
        self.machine.run("rm", f"{HOME}/.ssh/known_hosts")
        self.touch()
        self.ssh("bob@localhost", "true", options=("-o", "StrictHostKeyChecking=no", "-o",
                                                   "UserKnownHostsFile=/dev/null"))
        server = self.machine.run("ssh-keygen", "-lf", "/etc/ssh/ssh_host_ed25519_key.pub").stdout.split()[1]
        self.assertIn(f"log in to {server} as bob", self.prompts()[-1])

    def test_every_kind_of_host_key_proves_its_session(self):
        self.activate()
        unknown = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null")
        for algorithm, kind in (("ecdsa-sha2-nistp256", "ecdsa"), ("rsa-sha2-256", "rsa"), ("rsa-sha2-512", "rsa")):
            self.touch()
            done = self.ssh("bob@localhost", "id", "-un", options=unknown, algorithm=algorithm)
            self.assertEqual(done.stdout, "bob\n", done.stderr)
            key = self.machine.run("ssh-keygen", "-lf", f"/etc/ssh/ssh_host_{kind}_key.pub").stdout.split()[1]
            self.assertIn(f"log in to {key} as bob", self.prompts()[-1])

    def test_a_host_certificate_proves_the_key_inside(self):
        self.activate()
        with self.second_server(certified=True):
            self.know("localhost", SECOND)
            self.machine.run("sh", "-c", f"echo \"@cert-authority * $(cat /etc/ssh/second_ca.pub)\" "
                             f">>{HOME}/.ssh/known_hosts")
            self.touch()
            done = self.ssh("-p", str(SECOND), "alice@localhost", "id", "-un",
                            algorithm="ssh-ed25519-cert-v01@openssh.com")
        self.assertEqual(done.stdout, "alice\n", done.stderr)
        self.assertIn("log in to [localhost]:2222 as alice", self.prompts()[-1])

    def test_a_revoked_host_key_signs_nothing(self):
        self.activate()
        key = " ".join(self.machine.read("/etc/ssh/ssh_host_ed25519_key.pub").split()[:2])
        self.machine.run("sh", "-c", f"printf '%s\\n' '@revoked * {key}' >>{HOME}/.ssh/known_hosts")
        refused = self.ssh("bob@localhost", "true", check=False, options=(
            "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"))
        self.assertEqual(refused.returncode, 255)
        self.assertEqual(self.prompts(), [])

    def test_a_session_that_is_not_bound_is_refused_unless_allowed(self):
        key = self.public.split()[1]
        with self.running():
            self.assertEqual(self.user("python3", "-c", UNBOUND, key).stdout, "5\n")
            self.assertEqual(self.prompts(), [])
        with self.running("--allow-unbound"):
            self.touch()
            self.assertEqual(self.user("python3", "-c", UNBOUND, key).stdout, "14\n")
        self.assertIn("log in as root: host unknown, perhaps forwarded, asked by", self.prompts()[-1])

    def test_another_user_cannot_use_the_socket(self):
        self.activate()
        done = self.machine.run("ssh-add", "-l", user="bob", env={"SSH_AUTH_SOCK": SOCKET}, check=False)
        self.assertEqual(done.returncode, 2)
        # Root reaches the socket, and the agent serves only its own user.
        done = self.machine.run("ssh-add", "-l", env={"SSH_AUTH_SOCK": SOCKET}, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("work", done.stdout)


class ForwardingTests(AgentTest):
    def test_a_forwarded_login_says_so(self):
        self.activate()
        with self.second_server():
            self.know("localhost", SECOND)
            self.touch()
            self.touch()
            inner = ("ssh -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "
                     f"-p {SECOND} alice@localhost id -un")
            done = self.ssh("-A", "bob@localhost", inner)
        self.assertEqual(done.stdout, "alice\n", done.stderr)
        first, second = self.prompts()
        self.assertRegex(first, "^log in to localhost as bob, asked by /usr/bin/ssh ")
        self.assertRegex(second, r"^log in to \[localhost\]:2222 as alice, forwarded through localhost, asked by "
                         "/usr/bin/ssh ")
        fact("forwarded", second)

    def test_a_forwarded_login_without_the_key_of_its_host_is_refused(self):
        self.activate()
        # The method of servers before OpenSSH 8.9, which is enough for a login that is not forwarded.
        plain = ("-o", "PubkeyAuthentication=unbound")
        self.touch()
        self.assertEqual(self.ssh("bob@localhost", "id", "-un", options=plain).stdout, "bob\n")
        with self.second_server():
            self.touch()
            inner = (f"ssh {' '.join(plain)} -o BatchMode=yes -o StrictHostKeyChecking=no -o "
                     f"UserKnownHostsFile=/dev/null -p {SECOND} alice@localhost id -un")
            done = self.ssh("-A", "bob@localhost", inner, check=False)
        self.assertEqual((done.returncode, done.stdout), (255, ""), done.stderr)
        self.assertEqual(len(self.prompts()), 2)

    def test_a_forwarded_message_says_so(self):
        self.activate()
        self.touch()
        self.touch()
        done = self.ssh("-A", "bob@localhost", "ssh-add -L >/tmp/work.pub; echo text | "
                        "ssh-keygen -Y sign -n file -f /tmp/work.pub")
        self.assertIn("BEGIN SSH SIGNATURE", done.stdout, done.stderr)
        self.assertRegex(self.prompts()[-1], "^sign data of namespace file, forwarded through localhost, asked by ")

    def test_a_server_cannot_have_an_unbound_login_signed(self):
        self.activate()
        self.machine.write("/usr/local/lib/unbound.py", UNBOUND)
        self.touch()
        done = self.ssh("-A", "bob@localhost", f"python3 /usr/local/lib/unbound.py {self.public.split()[1]}")
        self.assertEqual(done.stdout, "5\n", done.stderr)
        self.assertEqual(len(self.prompts()), 1)


class GitTests(AgentTest):
    def test_git_clones_and_pushes_over_ssh_with_a_signed_commit(self):
        self.activate()
        self.machine.run("git", "init", "-q", "--bare", "-b", "main", "/home/bob/repository.git", user="bob",
                         env={"HOME": "/home/bob"})
        self.machine.write(f"{HOME}/work.pub", self.public, owner="alice:alice")
        self.touch()
        self.user("git", "clone", "-q", "bob@localhost:repository.git", f"{HOME}/repository", timeout=90)
        settings = ("-c", "user.name=Alice", "-c", "user.email=alice@example.com", "-c", "gpg.format=ssh", "-c",
                    f"user.signingKey={HOME}/work.pub")
        self.touch()
        self.user("git", "-C", f"{HOME}/repository", *settings, "commit", "-q", "-S", "--allow-empty", "-m",
                  "a change", timeout=90)
        self.touch()
        self.user("git", "-C", f"{HOME}/repository", "push", "-q", "origin", "HEAD:main", timeout=90)
        pushed = self.machine.run("git", "-C", "/home/bob/repository.git", "log", "--format=%s", "main", user="bob",
                                  env={"HOME": "/home/bob"}).stdout
        self.assertEqual(pushed, "a change\n")
        kinds = [prompt.split(", asked")[0] for prompt in self.prompts()]
        self.assertEqual(kinds, ["log in to localhost as bob", "sign data of namespace git",
                                 "log in to localhost as bob"])
        fact("git", "; ".join(kinds))


class ServicesTests(WithSensor, ClientTest):
    """The same with the services of the system, where the access group is that of the program."""

    def allow_virtual_hardware(self, answer):
        super().allow_virtual_hardware(answer)
        self.machine.run("sh", "-c", f"echo 'enclave = software' >>{CONFIGURATION}")

    def setUp(self):
        super().setUp()
        self.first, self.prompts = self.person()
        # The passcode was entered just before, so that its key is in memory and no prompt is shown.
        self.latchkey("key", "create", "--ssh", "work")
        self.public = self.latchkey("key", "public", "work", "--format", "ssh").stdout
        self.machine.write("/tmp/work.pub", self.public, owner="alice:alice")
        self.addCleanup(self.end)
        self.start()

    def start(self):
        self.machine.run("sh", "-c", "mkdir -p /run/user/1001 && chown alice /run/user/1001; chmod 700 /run/user/1001")
        self.process = self.machine.start("latchkey", "ssh-agent", "--foreground", user="alice",
                                          env={"XDG_RUNTIME_DIR": RUNTIME}, stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, text=True)
        self.assertTrue(self.process.stdout.readline().startswith(f"SSH_AUTH_SOCK={SOCKET};"))

    def end(self):
        self.process.kill()
        # It ends with the process that was killed, a moment later; the next agent would find its socket in use.
        eventually(lambda: self.machine.run("pgrep", "-u", "alice", "-f", "ssh-agent --foreground", check=False).returncode)
        self.process.wait()
        self.process.stdout.close()

    def test_a_finger_signs_and_the_prompt_names_the_program(self):
        self.machine.run("cp", "/etc/hostname", "/tmp/message")
        self.machine.run("chown", "alice", "/tmp/message")
        with self.machine.start("ssh-keygen", "-Y", "sign", "-n", "file", "-f", "/tmp/work.pub", "/tmp/message",
                                user="alice", env={"SSH_AUTH_SOCK": SOCKET}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as signing:
            prompt = str(self.prompts.do("agent.await_prompt"))
            self.assertIn("sign data of namespace file, asked by /usr/bin/ssh-keygen (process ", prompt)
            self.finger("touch")
            self.assertEqual(signing.wait(20), 0)
        self.machine.run("rm", "/tmp/message.sig")

    def test_the_prompt_is_on_the_terminal_of_the_program_that_asked(self):
        """Although the agent has none, and an agent for windows is there."""
        # The session has a runtime folder of its own.
        self.end()
        session = self.enterContext(self.machine.session("alice"))
        self.start()
        # A terminal without a person at its other end begins without any mode, as one that a program reads by key.
        terminal = self.enterContext(Terminal(session, "sh", "-c", (
            f"stty sane; SSH_AUTH_SOCK={SOCKET} exec ssh-keygen -Y sign -n file -f /tmp/work.pub /etc/hostname")))
        terminal.expect("“ssh-keygen” asks for", "sign data of namespace file", "/usr/bin/ssh-keygen")
        self.finger("touch")
        # It cannot write beside the file.
        self.assertEqual(terminal.end(), 255)
        self.assertIn("Permission denied", terminal.output)
        self.assertNotIn("agent refused", terminal.output)

    def test_no_other_program_uses_a_key_for_another_one(self):
        use = {0: [0, b"key"], 1: [0, bytes(32)], 2: {1: False, 2: {0: "", 3: True}}, 3: [1, 1, 1001]}
        reply = self.first.do("app.call", USE_KEY, use)
        self.assertEqual(reply[1][0], NOT_PERMITTED, reply)

    def test_the_prompt_ends_with_the_program_that_asked(self):
        signing = self.machine.start("ssh-keygen", "-Y", "sign", "-n", "file", "-f", "/tmp/work.pub", "/etc/hostname",
                                     user="alice", env={"SSH_AUTH_SOCK": SOCKET}, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.prompts.do("agent.await_prompt")
        signing.kill()
        signing.wait()
        while self.prompts.do("agent.follow", 10)[0] != 2:
            pass

    def test_the_agent_of_the_user_unit_has_the_identity_of_the_program(self):
        self.end()
        with self.machine.session("alice") as session:
            session.run("systemctl", "--user", "start", "latchkey-ssh-agent.socket")
            listed = session.run("env", f"SSH_AUTH_SOCK={SOCKET}", "ssh-add", "-L").stdout
            session.run("systemctl", "--user", "stop", "latchkey-ssh-agent.socket", "latchkey-ssh-agent.service")
        self.assertEqual(listed, self.public)

    def test_no_other_command_or_program_uses_the_key(self):
        listed = json.loads(self.latchkey("key", "list", "--json").stdout)
        self.assertEqual([(key["name"], key["ssh"], key["group"]) for key in listed],
                         [("work", True, "/usr/bin/latchkey")])
        refused = self.latchkey("key", "sign", "work", "/etc/hostname", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("only latchkey ssh-agent signs with it", refused.stderr)
        # A program of another group does not see the key.
        self.program("/usr/bin/other-app")
        other = self.app(program="/usr/bin/other-app")
        self.assertEqual(other.do("app.call", LIST, {0: KEY, 1: {}}), NO_ITEMS)
        self.latchkey("key", "delete", "work", "--yes")
        self.assertEqual(self.latchkey("key", "delete", "work", "--yes", check=False).returncode, NOT_FOUND)
