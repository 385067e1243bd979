# SPDX-License-Identifier: Apache-2.0
"""A build tree builds the image of an emulated board when it is first used: once, also if two processes need it, and with a
message. The build is a script of this test, which copies the real image or fails.

usage: board_image_test.py THIMBLE SOURCE_DIR FIRMWARE_DIR
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

THIMBLE, SOURCE, FIRMWARE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
MODEL = SOURCE / "models/hello_sin"
IMAGE = "runner-cortex-m4"

BUILD = """
import pathlib, shutil, sys, time
folder, image = pathlib.Path(sys.argv[1]), sys.argv[2].removeprefix("image-")
with open(folder / "log", "a") as log:
    log.write(image + "\\n")
if (folder / "broken").exists():
    sys.exit("no cross compiler today")
time.sleep(1)
shutil.copy(f"{FIRMWARE}/{image}.elf", folder / "new")
(folder / "new").rename(folder / f"{image}.elf")
"""


class BoardImage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.program = self.path / "thimble"
        self.firmware = self.path / "firmware"
        self.firmware.mkdir()
        shutil.copy(THIMBLE, self.program)
        (self.path / "build.py").write_text(BUILD.replace("{FIRMWARE}", str(FIRMWARE)))
        subprocess.run([self.program, "compile", MODEL / "hello_sin.pt2", "--target", "cortex-m4", "--calibrate",
                        MODEL / "calibrate.npz", "-o", self.path / "y.pte"], check=True, capture_output=True)

    def write_command(self):
        shutil.copy(FIRMWARE / "insn_count.so", self.firmware)
        words = [sys.executable, self.path / "build.py", self.firmware]
        (self.firmware / "build_command.txt").write_text("".join(f"{word}\n" for word in words))

    def start(self):
        return subprocess.Popen([self.program, "run", self.path / "y.pte", "--on", "qemu", "--profile"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_it(self, code):
        process = self.start()
        out, err = process.communicate()
        self.assertEqual(process.returncode, code, out + err)
        return err

    def test_two_processes_build_it_once(self):
        self.write_command()
        processes = [self.start(), self.start()]
        said = [process.communicate()[1] for process in processes]
        self.assertEqual([process.returncode for process in processes], [0, 0], said)
        self.assertEqual((self.firmware / "log").read_text(), f"{IMAGE}\n")
        self.assertEqual(sum(f"building the image {IMAGE} of the emulated board" in text for text in said), 1, said)
        self.assertNotIn("building", self.run_it(0))

    def test_a_failed_build_is_an_error_with_its_output(self):
        self.write_command()
        (self.firmware / "broken").touch()
        said = self.run_it(2)
        self.assertIn(f"image {IMAGE} of the emulated board: the build failed with exit code 1", said)
        self.assertIn("no cross compiler today", said)
        (self.firmware / "broken").unlink()
        self.run_it(0)

    def test_an_installed_program_does_not_build(self):
        self.assertIn(f"{IMAGE}.elf: not found", self.run_it(2))
        self.assertEqual(list(self.firmware.iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
