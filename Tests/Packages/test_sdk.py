# SPDX-License-Identifier: Apache-2.0
"""The two ways to use Latchkey from packages outside this one, in debug and release (the products in release only with
LATCHKEY_TESTS=all): the products and the plugin, with Examples/NoteLocker; and the installed SDK, with copies of Strongbox, a
package that does not name Latchkey, and of Mixed, of which one target must be compiled without Latchkey.

The SDK must need neither this checkout nor the development files of the C libraries. If the kernel allows a mount
namespace, both are hidden while the SDK is tested; if not, the results of the builds are searched for paths of this checkout
and of the libraries' headers. The keychain is a simulated one in a temporary folder."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ["LATCHKEY_RELEASE"])
# The modules of the checkout are built there. Without the last option SwiftPM would build the package that it built last.
SHARED = ("--scratch-path", CHECKOUT / ".build", "--disable-build-manifest-caching")
NAMESPACE = ["unshare", "-m" if os.geteuid() == 0 else "-rm"]
MANIFEST = """// swift-tools-version: 6.0
import PackageDescription
let package = Package(name: "app", targets: [.executableTarget(name: "app")])
"""
# The package of the product needs these headers for its services, and a package that depends on its libraries does not.
WITHOUT_LIBRARIES_OF_SERVICES = """for folder in /usr/include/systemd /usr/include/security; do
    [ ! -d "$folder" ] || mount --bind "$0" "$folder"
    [ ! -e "$folder/pam_appl.h" ] && [ ! -e "$folder/sd-bus.h" ]
done
exec "$@" """
XCTEST, TESTING = "Executed [1-9][0-9]* tests?, with 0 failures", "Test run with [1-9][0-9]* test.* passed"
REFUSED = r"^no token: [A-Z].*\. .* \(-[0-9]*\)$"


def block(number, fence="swift", page="README.md"):
    """A block of a page, counted among those with the same fence."""
    blocks = re.findall(rf"^```{fence}\n(.*?)^```", (CHECKOUT / page).read_text(), re.MULTILINE | re.DOTALL)
    return blocks[number - 1]


class Failure(AssertionError):
    """A command had another status; the text contains its output."""

    def __init__(self, status, output):
        super().__init__(f"status {status}\n{output}")
        self.status = status


def run(*command, fails=False, **options):
    """What a command prints, which has to end with status 0, or with another one if it `fails`."""
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **{"cwd": CHECKOUT} | options)
    if (done.returncode != 0) != fails:
        raise Failure(done.returncode, done.stdout)
    return done.stdout


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture(scope="module")
def namespace():
    """Whether the kernel allows a mount namespace."""
    return subprocess.run([*NAMESPACE, "mount", "--bind", "/tmp", "/tmp"], stderr=subprocess.DEVNULL).returncode == 0


# MARK: the products

def test_the_test_of_the_readme_is_among_those_of_the_example_app():
    source = (CHECKOUT / "Examples/NoteLocker/Tests/NoteLockerTests/READMETests.swift").read_text()
    assert source[source.index("\nimport") + 1:] == block(2)


@pytest.fixture(scope="module")
def package(namespace, tmp_path_factory):
    """What building and testing the package of the README prints, pasted into a new folder; only the path of the checkout is
    another one."""
    package = tmp_path_factory.mktemp("a package")
    write(package / "Package.swift", block(1, "swift manifest").replace("../latchkey", str(CHECKOUT)))
    write(package / "Sources/app/main.swift", block(1))
    write(package / "Tests/appTests/SignInTests.swift", block(2))
    hidden = [*NAMESPACE, "sh", "-ec", WITHOUT_LIBRARIES_OF_SERVICES, tmp_path_factory.mktemp("empty")] if namespace else []
    return package, run(*hidden, "swift", "test", *SHARED, "--package-path", package)


def test_the_package_of_the_readme_passes_its_test_without_a_warning_or_a_header_of_libsystemd_or_libpam(package):
    folder, output = package
    assert re.search(TESTING, output), output
    assert f"{folder}/" not in output, output


def test_the_program_of_the_readme_reads_its_token_after_a_touch_only(package, tmp_path):
    tmp_path.chmod(0o700)
    environment = os.environ | {"LATCHKEY_HOME": str(tmp_path), "LATCHKEY_DAEMON": str(PROGRAMS / "latchkeyd")}
    program = CHECKOUT / ".build/debug/app"
    run(PROGRAMS / "latchkey", "sim", "start", "--ready", env=environment)
    try:
        run(PROGRAMS / "latchkey", "sim", "touch", env=environment)
        assert run(program, env=environment) == "a token\n"
        assert re.search(REFUSED, run(program, env=environment, fails=True), re.MULTILINE)
    finally:
        run(PROGRAMS / "latchkey", "sim", "stop", env=environment)


@pytest.mark.long
def test_a_client_builds_from_a_repository_by_version_without_headers_of_libraries_that_it_does_not_use(namespace, tmp_path):
    if not namespace:
        pytest.skip("this kernel or container allows no mount namespace, in which headers can be hidden")
    text = (CHECKOUT / "Sources/Formats/LatchkeyModel/Version.swift").read_text()
    version = re.search('productVersion = "(.*)"', text)[1]
    run("git", "clone", "--quiet", "--bare", CHECKOUT, tmp_path / "latchkey.git")
    run("git", "-C", tmp_path / "latchkey.git", "tag", "--force", version)
    write(tmp_path / "client/Package.swift", f"""// swift-tools-version: 6.0
import PackageDescription
let package = Package(
    name: "client", dependencies: [.package(url: "file://{tmp_path}/latchkey.git", from: "{version}")],
    targets: [.executableTarget(name: "client", dependencies: [.product(name: "Security", package: "latchkey")])])
""")
    write(tmp_path / "client/Sources/client/main.swift", "import Security\nprint(errSecItemNotFound)\n")
    (tmp_path / "empty").mkdir()
    hidden = WITHOUT_LIBRARIES_OF_SERVICES.replace("exec ", "mount --bind /dev/null /usr/include/sqlite3.h\nexec ")
    environment = {name: value for name, value in os.environ.items() if name != "LATCHKEY_STRICT"}
    output = run(*NAMESPACE, "sh", "-ec", hidden, tmp_path / "empty", "swift", "run", "--quiet", cwd=tmp_path / "client",
                 env=environment)
    assert output.splitlines()[-1] == "-25300"


# The same sources are compiled in release for the SDK below, so this is among the long tests.
@pytest.mark.parametrize("configuration", ["debug", *["release"] * (os.environ.get("LATCHKEY_TESTS") == "all")])
def test_the_example_app_uses_products_and_plugin(configuration):
    assert re.search(TESTING, run("swift", "test", "-c", configuration, *SHARED, "--package-path", "Examples/NoteLocker"))


# MARK: the SDK

def install(prefix, *arguments):
    return run("scripts/install", "latchkey", *arguments, env=os.environ | {"PREFIX": str(prefix), "DESTDIR": ""})


class SDK:
    """The SDK in the home folder of a user without other programs. Its path has a space, which must not cause a failure."""

    def __init__(self, work, namespace):
        self.work, self.user = work, work / "a user"
        self.prefix = self.user / "local"
        self.folder = self.prefix / "lib/latchkey/sdk"
        self.entering, self.holder = [], None
        self.printed = install(self.prefix, PROGRAMS)
        for name in ("Strongbox", "Mixed"):
            shutil.copytree(CHECKOUT / "Tests/Packages" / name, work / name, ignore=shutil.ignore_patterns(".build"))
        write(work / "keychain/latchkeyd.conf", "tier = simulated\n")
        (work / "keychain").chmod(0o700)
        if namespace:
            self.holder = subprocess.Popen([*NAMESPACE, CHECKOUT / "Tests/Packages/hide.sh", work, CHECKOUT],
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert self.holder.stdout.readline() == "hidden\n"
            user = [] if os.geteuid() == 0 else ["-U", "--preserve-credentials"]
            self.entering = ["nsenter", "-t", self.holder.pid, *user, "-m", f"--wd={work}"]

    def run(self, *command, fails=False, **variables):
        """Runs a command without the variables of this process and without a library path. The library finds the daemon of
        its own prefix, which is neither ~/.local nor /usr."""
        environment = {"PATH": os.environ["PATH"], "HOME": self.user, "LATCHKEY_HOME": self.work / "keychain"} | variables
        assignments = [f"{name}={value}" for name, value in environment.items()]
        return run(*self.entering, "env", "-i", *assignments, *command, fails=fails, cwd=self.work)

    def mixed(self, *command, toolset="toolset.json", **options):
        """Runs a command of Swift on the package of which one target uses the SDK and one does not."""
        toolchain = self.work / "a toolchain"
        self.run(self.folder / "bin/latchkey-toolchain", toolchain, "Vault", "VaultTests", "mixed")
        return self.run("swift", *command, "--package-path", self.work / "Mixed", "--toolset", toolchain / toolset,
                        SWIFT_EXEC=toolchain / "usr/bin/swiftc", **options)

    def app(self, name, source):
        """Builds a package with this program, and returns the program."""
        write(self.work / name / "Package.swift", MANIFEST)
        write(self.work / name / "Sources/app/main.swift", source)
        self.run("swift", "build", "--package-path", self.work / name, "--toolset", self.folder / "toolset.json")
        return self.work / name / ".build/debug/app"

    def latchkey(self, *arguments):
        self.run(self.prefix / "bin/latchkey", *arguments)

    def close(self):
        subprocess.run([self.prefix / "bin/latchkey", "sim", "stop"], capture_output=True,
                       env=os.environ | {"LATCHKEY_HOME": str(self.work / "keychain")})
        if self.holder:
            self.holder.communicate()
        # The builds are large; of what is mounted in the namespace, nothing is here.
        subprocess.run(["rm", "-rf", "--one-file-system", self.work], check=True)


@pytest.fixture(scope="module")
def sdk(namespace, tmp_path_factory):
    run("scripts/build-sdk")
    sdk = SDK(tmp_path_factory.mktemp("sdk"), namespace)
    yield sdk
    sdk.close()


def test_the_installation_says_how_programs_are_found(sdk):
    assert f'export PATH="{sdk.prefix}/bin:$PATH"' in sdk.printed


def test_the_sdk_has_two_modules_and_names_no_other(sdk):
    assert {path.name for path in sdk.folder.glob("*.swiftmodule")} == {"LocalAuthentication.swiftmodule", "Security.swiftmodule"}
    interfaces = list(sdk.folder.rglob("*.swiftinterface"))
    assert interfaces and not any(re.search("Latchkey[A-Z]", path.read_text()) for path in interfaces)


def test_without_the_toolset_there_is_no_module(sdk):
    output = sdk.run("swift", "build", "--package-path", "Strongbox", "--scratch-path", "without", fails=True)
    assert "error: no such module 'LocalAuthentication'" in output


def needs(system):
    if not re.search(f"^ *{system} ", run("swift", "build", "--help"), re.MULTILINE):
        pytest.skip(f"this Swift has no build system {system}")


def again(sdk, folder, command):
    """The build system swiftbuild of Swift 6.3 sometimes crashes in libdispatch before it builds anything. If a signal ends
    `swift` itself, and not a test, the cause is not the SDK, and the command runs once more."""
    try:
        return command()
    except Failure as failure:
        if 0 <= failure.status <= 128:
            raise
        shutil.rmtree(sdk.work / folder, ignore_errors=True)
        return command()


@pytest.mark.parametrize("options", [("-c", "debug"), ("-c", "release"),
                                     ("--build-system", "swiftbuild", "--scratch-path", "swiftbuild")], ids=" ".join)
def test_a_package_is_built_and_tested_with_the_toolset(sdk, options):
    needs(options[1] if options[0] == "--build-system" else "native")
    command = ("swift", "test", *options, "--package-path", "Strongbox", "--toolset", sdk.folder / "toolset.json")
    output = again(sdk, "swiftbuild", lambda: sdk.run(*command))
    assert re.search(XCTEST, output) and re.search(TESTING, output), output


def test_a_program_with_a_static_library_of_swift(sdk):
    sdk.run("swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", "Strongbox", "--scratch-path", "static",
            "--toolset", sdk.folder / "toolset-static.json", "--product", "strongbox-keys")
    sdk.run("static/release/strongbox-keys", LATCHKEY_DAEMON=sdk.prefix / "libexec/latchkeyd")


def test_a_program_reads_its_token_after_a_touch_only(sdk):
    program = sdk.app("item", (CHECKOUT / "Tests/Packages/item.swift").read_text())
    sdk.latchkey("sim", "start", "--ready")
    sdk.latchkey("sim", "touch")
    assert sdk.run(program) == "a token\n"
    assert re.search(REFUSED, sdk.run(program, fails=True), re.MULTILINE)


def test_the_function_of_the_article_about_the_enclave_makes_a_key(sdk):
    article = "Sources/API/Security/Security.docc/KeysInTheSecureEnclave.md"
    program = sdk.app("key", block(1, page=article)
                      + 'do { _ = try makeDeviceKey(); print("made") } catch { print(error) }\n')
    assert sdk.run(program) == "made\n"


def test_a_target_that_is_conditional_on_the_module_needs_a_list_of_targets(sdk):
    """The reason for latchkey-toolchain: the toolset gives the SDK to all targets."""
    output = sdk.run("swift", "build", "--package-path", "Mixed", "--scratch-path", "everywhere",
                     "--toolset", sdk.folder / "toolset.json", fails=True)
    assert "error: cannot find 'SecTrustCopyCertificateChain' in scope" in output
    assert "reference to var 'stdout' is not concurrency-safe" not in output
    assert "usage: latchkey-toolchain FOLDER TARGET..." in sdk.run(sdk.folder / "bin/latchkey-toolchain", fails=True)


@pytest.mark.parametrize("system", ["native", "swiftbuild"])
def test_one_target_with_the_sdk_and_one_without(sdk, system):
    needs(system)
    folder = f"mixed {system}"
    assert re.search(TESTING, again(sdk, folder, lambda: sdk.mixed("test", "--build-system", system, "--scratch-path", folder)))
    program, = (path for path in (sdk.work / folder).rglob("mixed") if path.is_file() and os.access(path, os.X_OK))
    assert sdk.run(program) == "0 a token OpenSSL\n"


def test_one_target_with_the_sdk_and_one_without_with_a_static_library_of_swift(sdk):
    sdk.mixed("build", "-c", "release", "--static-swift-stdlib", "--product", "mixed", "--scratch-path", "mixed native",
              toolset="toolset-static.json")
    assert sdk.run("mixed native/release/mixed", LATCHKEY_DAEMON=sdk.prefix / "libexec/latchkeyd") == "0 a token OpenSSL\n"


def test_where_nothing_can_be_hidden_the_builds_name_neither_this_checkout_nor_headers(sdk):
    if not sdk.entering:
        found = subprocess.run(["grep", "-rlF", "-e", CHECKOUT, "-e", "/openssl/", "-e", "/sqlite3.h", "Strongbox/.build",
                                "static", "swiftbuild", "mixed native", "mixed swiftbuild"], cwd=sdk.work, capture_output=True, text=True)
        assert found.stdout == ""


def test_an_uninstallation_removes_every_file(sdk, tmp_path):
    install(tmp_path, PROGRAMS)
    install(tmp_path, "--remove")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() or path.is_symlink()]
