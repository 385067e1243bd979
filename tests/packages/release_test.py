# SPDX-License-Identifier: Apache-2.0
"""packaging/release.py, in a clone of the repository: a dry run, and what it refuses.

usage: release_test.py SOURCE_DIR ARM_CXX

The wheel and `make package` have tests of their own and are left out here; packaging/reproducible.py makes all parts.
"""

import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
CXX = sys.argv[2]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.clone = cls.folder / "clone"
        done = run("git", "-c", "safe.directory=*", "clone", "--quiet", "--no-hardlinks", SOURCE, cls.clone)
        assert done.returncode == 0, done.stdout
        cls.first = cls.make("first")

    @classmethod
    def make(cls, name):
        done = run(sys.executable, cls.clone / "packaging/release.py", cls.folder / name, "--dry-run", "--only",
                   "source,cmsis,zephyr")
        assert done.returncode == 0, done.stdout
        return cls.folder / name

    def file(self, pattern):
        found = list(self.first.glob(pattern))
        self.assertEqual(len(found), 1, pattern)
        return found[0]

    def test_hashes_and_signature(self):
        sums = (self.first / "SHA256SUMS").read_text()
        rows = dict(reversed(line.split("  ")) for line in sums.splitlines())
        unsigned = {"SHA256SUMS", "SHA256SUMS.asc", "dry-run-key.asc"}
        self.assertEqual(set(rows), {path.name for path in self.first.iterdir()} - unsigned)
        for name, digest in rows.items():
            self.assertEqual(hashlib.sha256((self.first / name).read_bytes()).hexdigest(), digest)
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "GNUPGHOME": home}
            gpg = lambda *words: run("gpg", "--batch", *words, env=environment).returncode
            self.assertEqual(gpg("--import", self.first / "dry-run-key.asc"), 0)
            changed = self.folder / "changed"
            changed.write_text(sums.replace("0", "1", 1))
            self.assertEqual(gpg("--verify", self.first / "SHA256SUMS.asc", self.first / "SHA256SUMS"), 0)
            self.assertNotEqual(gpg("--verify", self.first / "SHA256SUMS.asc", changed), 0)
            run("gpgconf", "--kill", "all", env=environment)

    def test_second_release_has_the_same_bytes(self):
        second = self.make("second")
        self.assertEqual((self.first / "SHA256SUMS").read_text(), (second / "SHA256SUMS").read_text())

    def test_source_archive_has_the_commit(self):
        with tarfile.open(self.file("thimble-[0-9]*.tar.gz")) as archive:
            names = {member.name.split("/", 1)[1] for member in archive if member.isfile()}
        self.assertEqual(names, set(run("git", "-C", self.clone, "ls-files").stdout.splitlines()))

    def test_zephyr_archive_has_the_folders_that_its_build_reads(self):
        (self.folder / "zephyr").mkdir()
        done = run("tar", "-xf", self.file("thimble-zephyr-*.tar.gz"), "-C", self.folder / "zephyr")
        self.assertEqual(done.returncode, 0, done.stdout)
        module = self.folder / "zephyr/thimble"
        self.assertIn("name: thimble", (module / "zephyr/module.yml").read_text())
        self.check_sbom(module)
        for text in [*module.glob("zephyr/*.txt"), *module.glob("zephyr/*.cmake"), *module.glob("engines/*/zephyr/*.cmake")]:
            for name in re.findall(r"_DIR\}/(\.\./[A-Za-z_/.]+)", text.read_text()):
                self.assertTrue((text.parent / name).exists(), f"{text.name}: {name}")
        # The device libraries configure in the archive, as in a Zephyr build.
        project = self.folder / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(x C CXX)\n"
            f"include({module}/cmake/subproject.cmake)\nthimble_device_targets(all)\nmessage(\"targets: ${{all}}\")\n")
        done = run("cmake", "-S", project, "-B", project / "build")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("thimble_device_kernels", done.stdout)

    def check_sbom(self, folder):
        sbom = json.loads((folder / "thimble.cdx.json").read_text())
        self.assertEqual((sbom["bomFormat"], sbom["components"]), ("CycloneDX", []))
        self.assertIn(f"VERSION {sbom['metadata']['component']['version']}", (SOURCE / "CMakeLists.txt").read_text())

    def test_pack_is_complete(self):
        with zipfile.ZipFile(self.file("*.pack")) as archive:
            archive.extractall(self.folder / "pack")
            names = set(archive.namelist())
        pack = self.folder / "pack"
        root = xml.etree.ElementTree.parse(pack / "Thimble.Thimble.pdsc").getroot()
        files = [row for row in root.iter("file") if row.get("category") != "include"]
        self.assertEqual({row.get("name") for row in files} | {"LICENSE", "Thimble.Thimble.pdsc", "thimble.cdx.json"}, names)
        self.check_sbom(pack)
        folders = {row.get("name") for row in root.iter("file") if row.get("category") == "include"}
        for name in names:
            if not name.endswith((".h", ".hpp", ".cpp", ".def")):
                continue
            for include in re.findall(r'^#include "([^"]+)"', (pack / name).read_text(), re.M):
                places = [pack / name / "..", *(pack / folder for folder in folders)]
                found = any((place.resolve() / include).is_file() for place in places)
                self.assertTrue(found or include.startswith("ethosu_") or "vendor" in include, f"{name}: {include}")
        options = [f"-I{pack / folder}" for folder in sorted(folders)]
        for source in ("runtime/core/model.cpp", "kernels/mve/conv2d.cpp", "engines/ethos_u/delegate/backend.cpp"):
            done = run(CXX, "-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard", "-std=c++17", "-Os", "-fomit-frame-pointer",
                       "-DTHIMBLE_TRACE=0", *options, "-c", pack / source, "-o", self.folder / "x.o")
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_archive_of_the_program_does_not_depend_on_its_maker(self):
        sys.path.append(str(SOURCE / "packaging"))
        import release  # noqa: PLC0415 -- the script under test

        copies = []
        for user, order in ((1000, ("b", "a")), (0, ("a", "b"))):
            made, copy = self.folder / f"{user}.tar.gz", self.folder / f"copy_{user}.tar.gz"
            with tarfile.open(made, "w:gz") as archive:
                for name in order:
                    member = tarfile.TarInfo(f"top/{name}")
                    member.uid, member.uname, member.size, member.mode, member.mtime = user, f"user{user}", 3, 0o755, 1700000000
                    archive.addfile(member, io.BytesIO(b"x" + name.encode() + b"y"))
            release.copy_archive(made, copy)
            copies.append(copy.read_bytes())
        self.assertEqual(copies[0], copies[1])
        with tarfile.open(self.folder / "copy_1000.tar.gz") as archive:
            self.assertEqual([(member.name, member.uid, member.mode, archive.extractfile(member).read()) for member in archive],
                             [("top/a", 0, 0o755, b"xay"), ("top/b", 0, 0o755, b"xby")])

    def refused(self, expected, signing=("--dry-run",), **options):
        out = self.folder / "refused"
        done = run(sys.executable, self.clone / "packaging/release.py", out, *signing, "--only", "source", **options)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(expected, done.stdout)
        self.assertNotIn("making", done.stdout)
        self.assertFalse(out.exists())
        self.assertEqual(list(self.folder.glob(".refused*")), [])

    def test_unknown_key_is_refused_before_the_parts_are_made(self):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "GNUPGHOME": home}
            self.refused("--key nobody@x.invalid: found no key that can sign", ("--key", "nobody@x.invalid"), env=environment)
            run("gpgconf", "--kill", "all", env=environment)

    def test_key_signs_the_release(self):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "GNUPGHOME": home}
            made = run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "test key", "ed25519", "sign", "1d", env=environment)
            self.assertEqual(made.returncode, 0, made.stdout)
            out = self.folder / "signed"
            done = run(sys.executable, self.clone / "packaging/release.py", out, "--key", "test key", "--only", "source", env=environment)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertEqual(run("gpg", "--verify", out / "SHA256SUMS.asc", out / "SHA256SUMS", env=environment).returncode, 0)
            run("gpgconf", "--kill", "all", env=environment)

    def test_changes_and_missing_notes_are_refused(self):
        log = self.clone / "CHANGELOG.md"
        text = log.read_text()
        log.write_text(re.sub(r"(?m)^## \d", "## x", text))
        self.refused("the work tree has changes")
        commit = run("git", "-C", self.clone, "-c", "user.name=x", "-c", "user.email=x@x.invalid", "commit", "-qam", "x")
        self.assertEqual(commit.returncode, 0, commit.stdout)
        self.refused("CHANGELOG.md has no section")
        run("git", "-C", self.clone, "reset", "-q", "--hard", "HEAD~1")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
