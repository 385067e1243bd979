# SPDX-License-Identifier: Apache-2.0
"""A profile without the plugin that counts instructions: the program builds it at its first use, or ends with a sentence.

usage: counting_plugin_test.py THIMBLE SOURCE_DIR FIRMWARE_FOLDER

The program runs as a copy in a folder of its own, whose firmware folder has the image of a board, but no plugin.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

THIMBLE, SOURCE, FIRMWARE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
DIGITS = SOURCE / "models/digits_cnn"


class CountingPlugin(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.program = self.path / "thimble"
        self.firmware = self.path / "firmware"
        self.firmware.mkdir()
        shutil.copy(THIMBLE, self.program)
        os.symlink(FIRMWARE / "runner-cortex-m4.elf", self.firmware / "runner-cortex-m4.elf")
        self.thimble("compile", DIGITS / "digits_cnn.pt2", "--target", "cortex-m4", "--calibrate", "random", "-o", "y.pte")

    def thimble(self, *arguments, code=0):
        done = subprocess.run([str(self.program), *map(str, arguments)], capture_output=True, text=True, cwd=self.path, timeout=300)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout}{done.stderr}")
        return done

    def builder(self, script):
        """Makes `script` the command that builds a missing file; the name of the target follows it."""
        (self.path / "build.sh").write_text(script)
        (self.firmware / "build_command.txt").write_text(f"sh\n{self.path / 'build.sh'}\n")

    def profile(self, code=0):
        return self.thimble("run", "y.pte", "--on", "qemu", "--profile", "--json", code=code)

    def test_without_a_build_tree(self):
        done = self.profile(code=2)
        message = f"{self.firmware / 'insn_count.so'}: not found; install a C compiler and build Thimble"
        self.assertEqual(json.loads(done.stdout), {"error": message, "exit_code": 2})
        self.assertEqual(done.stderr.strip(), message)

    def test_a_failed_build(self):
        self.builder("echo no compiler; exit 3")
        done = self.profile(code=2)
        self.assertIn("building the plugin insn_count, which counts instructions under QEMU (once)", done.stderr)
        self.assertIn("the build failed with exit code 3:\nno compiler", done.stderr)

    def test_built_at_the_first_use(self):
        self.builder(f'[ "$1" = insn_count ] && cp "{FIRMWARE}/$1.so" "{self.firmware}/"')
        ran = json.loads(self.profile().stdout)
        self.assertGreater(ran["instructions"], 0)
        self.assertTrue(all(op["instructions"] > 0 and op["cycles"] > 0 for op in ran["ops"]))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
