# SPDX-License-Identifier: Apache-2.0
"""What users feel: whole processes, from their start to their end, beside what people use today in the same run.

Every store is in a private folder, every bus and agent is of this run. A round runs each command once, so that a busy moment
hits all of them. In a cold run the background process of the command (latchkeyd, gnome-keyring-daemon, gpg-agent) does not
run before; files are in the page cache.

usage: scripts/bench feel [quick]      `quick` leaves out the builds of an app, the window and the sign-in"""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from providers import gnome_keyring, keyring_environment, private_bus
from store import PROGRAMS, SIMULATED, Store
from terminal import Terminal

ROOT = pathlib.Path(__file__).resolve().parents[2]
WARM, COLD, PROMPTS = 40, 10, 20
SECRET = "a token of forty characters, as a forge gives"
rows = []


def timed(command, environment, **options):
    """Milliseconds of a process, which has to write the secret."""
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, **options)
    passed = (time.perf_counter() - began) * 1000
    assert SECRET in done.stdout.decode(), done.stdout
    return passed


def report(name, samples, beside=None):
    """Adds a line of the table; `beside` are the samples of which the ratio is printed."""
    ratio = f"{statistics.median(samples) / statistics.median(beside):.1f}x" if beside else ""
    samples = sorted(samples)
    rows.append((name, f"{statistics.median(samples):.1f}", f"{samples[0]:.1f}", f"{samples[-1]:.1f}",
                 f"{len(samples)}", ratio))


def show():
    heads = ("", "median ms", "fastest", "slowest", "runs", "to latchkey")
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    for row in [heads, *rows]:
        print("  ".join(f"{cell:<{width}}" if not column else f"{cell:>{width}}"
                        for column, (cell, width) in enumerate(zip(row, widths))).rstrip(), flush=True)
    rows.clear()


# MARK: what people use today

class Latchkey:
    name = "latchkey get"

    def __init__(self, _):
        self.store = Store(SIMULATED)
        self.store.latchkey("set", "--protect", "none", "token", input=SECRET)
        self.environment = self.store.environment
        self.command = [f"{PROGRAMS}/latchkey", "get", "token"]

    def chill(self):
        self.store.latchkey("restart")

    def end(self):
        self.store.__exit__()


class Run(Latchkey):
    """A command with the secret in its environment, which writes it."""
    name = "latchkey run, printenv"

    def __init__(self, folder):
        super().__init__(folder)
        self.command = [f"{PROGRAMS}/latchkey", "run", "--env", "TOKEN=token", "--", "printenv", "TOKEN"]


class App(Latchkey):
    """A program with Foundation that calls SecItemCopyMatching."""
    name = "an app, SecItemCopyMatching"

    def __init__(self, folder):
        super().__init__(folder)
        self.command = [f"{PROGRAMS}/latchkey-test-client", "read", "token"]


class SecretTool:
    name = "secret-tool lookup"

    def __init__(self, folder):
        self.folder = folder / "keyring"
        self.folder.mkdir(mode=0o700)
        self.bus, address = private_bus(folder)
        self.environment = {
            "PATH": os.environ["PATH"], "DBUS_SESSION_BUS_ADDRESS": address, **keyring_environment(self.folder)}
        self.command = ["secret-tool", "lookup", "service", "bench"]
        self.start()
        try:
            self.store()
        except BaseException:
            self.end()
            raise

    def store(self):
        store = ["secret-tool", "store", "--label=bench", "service", "bench"]
        began = time.perf_counter()
        # The daemon takes its name on the bus some time after its start.
        while subprocess.run(store, input=SECRET, text=True, env=self.environment, stderr=subprocess.DEVNULL,
                             timeout=20).returncode:
            assert time.perf_counter() - began < 20, "gnome-keyring does not answer"

    def start(self):
        self.process = gnome_keyring(self.environment)

    def chill(self):
        self.process.terminate()
        self.process.wait()

    def cold(self):
        """Milliseconds from the start of the daemon with the password, as at login, to the secret."""
        began = time.perf_counter()
        self.start()
        while subprocess.run(self.command, env=self.environment, stdout=subprocess.PIPE, timeout=20,
                             stderr=subprocess.DEVNULL).stdout.decode().strip() != SECRET:
            assert time.perf_counter() - began < 20, "gnome-keyring does not answer"
        return (time.perf_counter() - began) * 1000

    def end(self):
        self.chill()
        self.bus.terminate()
        self.bus.wait()


class GnuPG:
    """A file that is encrypted to a key without a passphrase, so that nothing is asked."""
    name = "gpg -d"

    def __init__(self, folder):
        self.folder = folder / "gpg"
        self.folder.mkdir(mode=0o700)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "GNUPGHOME": str(self.folder),
                            "PASSWORD_STORE_DIR": str(self.folder / "store"), "LANG": "C.UTF-8"}
        self.run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "bench", "default", "default", "never")
        self.run("gpg", "--batch", "--output", self.folder / "secret.gpg", "--encrypt", "--recipient", "bench", input=SECRET)
        self.command = ["gpg", "--quiet", "--decrypt", str(self.folder / "secret.gpg")]

    def run(self, *command, **options):
        subprocess.run(command, env=self.environment, check=True, text=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, **options)

    def chill(self):
        self.run("gpgconf", "--kill", "gpg-agent")

    def end(self):
        self.chill()


class Pass(GnuPG):
    name = "pass show"

    def __init__(self, folder):
        super().__init__(folder)
        self.run("pass", "init", "bench")
        self.run("pass", "insert", "--multiline", "token", input=SECRET)
        self.command = ["pass", "show", "token"]


def commands(folder):
    tools = []
    for kind in (Latchkey, Run, App, SecretTool, GnuPG, Pass):
        place = folder / kind.__name__
        place.mkdir()
        try:
            tools.append(kind(place))
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            print(f"skip  {kind.name}: {error}")
    warm, cold = {tool: [] for tool in tools}, {tool: [] for tool in tools}
    try:
        for turn in range(COLD):
            for tool in tools:
                tool.chill()
                cold[tool].append(tool.cold() if hasattr(tool, "cold") else timed(tool.command, tool.environment))
        for turn in range(WARM):
            for tool in tools:
                warm[tool].append(timed(tool.command, tool.environment))
        for kind, samples in (("warm", warm), ("cold", cold)):
            for tool in tools:
                report(f"{tool.name}, {kind}", samples[tool], samples[tools[0]])
    finally:
        for tool in tools:
            tool.end()


# MARK: a finger

def prompts():
    """A read of a protected item on a terminal, by a simulated finger."""
    with Store(SIMULATED) as store:
        store.latchkey("sim", "start", "--ready")
        store.latchkey("set", "--protect", "presence", "token", input=SECRET)
        shown, replied = {"warm": [], "cold": []}, []
        for turn in range(PROMPTS):
            kind = ("warm", "cold")[turn % 2]
            if kind == "cold":
                store.latchkey("restart")
            began = time.perf_counter()
            with Terminal([f"{PROGRAMS}/latchkey", "get", "token"], store.environment | {"TERM": "xterm"}) as terminal:
                terminal.expect("Touch the sensor")
                shown[kind].append((time.perf_counter() - began) * 1000)
                began = time.perf_counter()
                terminal.type("m")
                terminal.expect(SECRET)
                replied.append((time.perf_counter() - began) * 1000)
                terminal.end()
    report("start of latchkey get to its prompt on the terminal, warm", shown["warm"])
    report("start of latchkey get to its prompt on the terminal, cold", shown["cold"])
    report("touch to the secret", replied)


# MARK: an app

MANIFEST = """// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "app", dependencies: [{dependency}],
    targets: [.executableTarget(name: "app", dependencies: [{product}])])
"""
APPS = {
    "an app that reads a file, Foundation": ("import Foundation", """let data = try? Data(contentsOf: URL(filePath: "token"))
print(data.map { String(decoding: $0, as: UTF8.self) } ?? "none")
"""),
    "an app that reads a file, FoundationEssentials": ("import FoundationEssentials", """let data = try? Data(contentsOf: URL(filePath: "token"))
print(data.map { String(decoding: $0, as: UTF8.self) } ?? "none")
"""),
    "the app with LatchkeyKit": ("import Foundation\nimport LatchkeyKit", """let entry = KeychainEntry.password(service: "mail", account: "ada")
print((try? KeychainStore().string(of: entry)) ?? "none")
"""),
}


def app(folder):
    """Build and size of an app with the library against the same app without, static and without symbols."""
    print("\nbuilding the same app with and without the library, in release\n", flush=True)
    for number, (name, (imports, code)) in enumerate(APPS.items()):
        package = folder / f"app{number}"
        (package / "Sources/app").mkdir(parents=True)
        (package / "Sources/app/main.swift").write_text(f"{imports}\n\n{code}")
        needs = "LatchkeyKit" in imports
        (package / "Package.swift").write_text(
            MANIFEST.replace("{dependency}", f'.package(name: "latchkey", path: "{ROOT}")' if needs else "")
            .replace("{product}", '.product(name: "LatchkeyKit", package: "latchkey")' if needs else ""))
        environment = {key: value for key, value in os.environ.items() if key != "LATCHKEY_STRICT"}
        command = ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", str(package)]
        began = time.perf_counter()
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            print(f"skip  {name}: {done.stdout[-2000:]}")
            continue
        first = time.perf_counter() - began
        with open(package / "Sources/app/main.swift", "a") as source:
            source.write('print("again")\n')
        began = time.perf_counter()
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        again = time.perf_counter() - began
        program = package / "app.stripped"
        subprocess.run(["strip", "-o", program, package / ".build/release/app"], check=True)
        starts = []
        for _ in range(WARM):
            began = time.perf_counter()
            subprocess.run(["true"] if needs else [program], cwd=folder, stdout=subprocess.DEVNULL, check=True)
            starts.append((time.perf_counter() - began) * 1000)
        start = "" if needs else f", start to end {statistics.median(starts):.1f} ms"
        print(f"{name}: {first:.0f} s to build, {again:.1f} s after a change, {program.stat().st_size / 1e6:.1f} MB{start}",
              flush=True)


with tempfile.TemporaryDirectory(prefix="lk-feel.", dir="/tmp") as name:
    place = pathlib.Path(name)
    print(f"{os.cpu_count()} processors, {' '.join(os.uname()[i] for i in (0, 2, 4))}", flush=True)
    commands(place)
    prompts()
    show()
    if sys.argv[1:] != ["quick"]:
        app(place)
        for part in (["prompt"], ["sign-in", "100"]):
            print(f"\nscripts/bench {' '.join(part)}", flush=True)
            if subprocess.run([ROOT / "scripts/bench", *part]).returncode:
                print(f"skip  {part[0]}: it failed, see above")
