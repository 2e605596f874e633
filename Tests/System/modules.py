# SPDX-License-Identifier: Apache-2.0
"""The C libraries of the tests, which programs of the machine load, and programs in C."""

import pathlib
import shutil
import subprocess
import tempfile

MODULE = "/usr/local/lib/pam_test.so"


def install_library(test, source, place):
    """Compiles a file of this folder and copies the library into the machine; skips the test without a C compiler."""
    install_compiled(test, source, place, "-shared", "-fPIC")


def install_compiled(test, source, place, *options):
    """Compiles a file of this folder with these options, and copies the result into the machine, as `install_library` does."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        test.skipTest("no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "compiled"
        subprocess.run([compiler, *options, "-O1", "-o", result, pathlib.Path(__file__).with_name(source)], check=True)
        test.machine.copy(result, place)


def install_module(test):
    """Installs the PAM module of the tests."""
    install_library(test, "pam_test.c", MODULE)
