# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian package and the archive (`make package`), unpacks both, and uses the program in each.

usage: packages_test.py SOURCE_DIR BUILD_DIR CPACK
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
CPACK = sys.argv[3]
MODEL = SOURCE / "models/hello_sin"
# Files of each folder, as in the wheel.
EXPECTED = ("bin/thimble", "include/thimble.h", "lib/thimble/firmware/insn_count.so", "lib/thimble/firmware/runner-cortex-m4.elf",
            "share/doc/thimble-ml/copyright", "share/thimble/cmake/thimble-config.cmake",
            "share/thimble/device/kernels/kernels.def", "share/thimble/licenses/libfmt-dev.txt",
            "share/thimble/device/thimble.cdx.json", "share/thimble/targets/stm32h743.toml", "share/thimble/thimble.cdx.json")


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        done = subprocess.run([CPACK, "-B", cls.folder, "--config", BUILD / "CPackConfig.cmake"], cwd=BUILD,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, done.stdout

    def check(self, prefix):
        for name in EXPECTED:
            self.assertTrue((prefix / name).is_file(), name)
        self.check_sbom(prefix / "share/thimble")
        program, pte = prefix / "bin/thimble", self.folder / "x.pte"
        run = lambda *words: subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        done = run("compile", MODEL / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate", MODEL / "calibrate.npz", "-o",
                   pte, "--emit", "pte,c", "--out-dir", self.folder / "out")
        self.assertEqual(done.returncode, 0, done.stdout)
        done = run("run", next((self.folder / "out").glob("*.pte"), pte), "--on", "qemu", "--profile")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("instructions", done.stdout)

    def check_sbom(self, share):
        """The list of components has the library of each licence, with a version."""
        sbom = json.loads((share / "thimble.cdx.json").read_text())
        self.assertEqual((sbom["bomFormat"], sbom["specVersion"]), ("CycloneDX", "1.5"))
        for component in sbom["components"]:
            if component["name"] != "robin-map":  # nanobind contains it without a version
                self.assertRegex(component.get("version", ""), r"^\d", component["name"])
            self.assertEqual(len(component["licenses"]), 1)
        licenses = [file for file in (share / "licenses").iterdir() if file.stem not in ("Apache-2.0", "MPL-2.0")]
        self.assertEqual(len(sbom["components"]), len(licenses))
        device = json.loads((share / "device/thimble.cdx.json").read_text())
        version = sbom["metadata"]["component"]["version"]
        self.assertEqual((device["specVersion"], device["metadata"]["component"]["version"], device["components"]), ("1.5", version, []))

    def test_debian_package(self):
        package = next(self.folder.glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", package, self.folder / "root"], check=True)
        shown = subprocess.run(["dpkg-deb", "--field", package, "Package", "Depends", "Installed-Size"], check=True,
                               stdout=subprocess.PIPE, text=True).stdout
        print(package.name, package.stat().st_size, "bytes;", " ".join(shown.split()))
        self.assertIn("Package: thimble-ml", shown)
        self.assertRegex(shown, r"libc6 \(>= 2")
        self.assertNotRegex(shown, "libfmt|libzip")
        self.check(self.folder / "root/usr")

    def test_archive(self):
        archive = next(self.folder.glob("*.tar.gz"))
        print(archive.name, archive.stat().st_size, "bytes")
        (self.folder / "archive").mkdir()
        subprocess.run(["tar", "-xf", archive, "-C", self.folder / "archive"], check=True)
        self.check(next((self.folder / "archive").iterdir()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
