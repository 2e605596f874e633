# SPDX-License-Identifier: Apache-2.0
"""The C libraries of the tests, which programs of the machine load."""

import pathlib
import shutil
import subprocess
import tempfile

MODULE = "/usr/local/lib/pam_test.so"


def install_library(test, source, place):
    """Compiles a file of this folder and copies the library into the machine; skips the test without a C compiler."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        test.skipTest("no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "library.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, pathlib.Path(__file__).with_name(source)],
                       check=True)
        test.machine.copy(library, place)


def install_module(test):
    """Installs the PAM module of the tests."""
    install_library(test, "pam_test.c", MODULE)
