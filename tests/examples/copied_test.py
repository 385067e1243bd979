# SPDX-License-Identifier: Apache-2.0
"""Each example that builds a firmware with an installed Thimble builds and runs in a folder outside of the source tree, by the
commands in its README.

usage: copied_test.py SOURCE_DIR BUILD_DIR

The environment variable THIMBLE_FIRMWARE is the firmware folder of a build, whose archives are linked: compiling the kernels
again takes a minute of each application.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
FIRMWARE = pathlib.Path(os.environ["THIMBLE_FIRMWARE"])
TIME_LIMIT_SECONDS = 120
# Applications that need a vendor's SDK, Zephyr or a trained network, and scripts of Python, have tests of their own.
OTHERS = {"executorch", "nordic", "notebooks", "nxp", "qat", "search", "sweep", "text", "zephyr"}


class CopiedExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = pathlib.Path(folder.name)
        prefix = cls.home / "thimble"
        # Everything but the images of emulated boards, which may not be built.
        subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "device"], check=True,
                       stdout=subprocess.DEVNULL)
        (prefix / "bin").mkdir()
        shutil.copy(BUILD / "thimble", prefix / "bin")

    def commands(self, example):
        """Copies the example and returns its folder and the commands of the README's first block that configures a build."""
        folder = self.home / "copy" / example
        shutil.copytree(SOURCE / "examples" / example, folder)
        blocks = re.findall(r"^```\n(.*?)^```", (folder / "README.md").read_text(), re.M | re.S)
        block = next(text for text in blocks if "cmake -S" in text)
        return folder, block.replace("\\\n", " ").splitlines()

    def run_commands(self, example, core, archives):
        folder, commands = self.commands(example)
        libraries = ";".join(str(FIRMWARE / core / name) for name in archives)
        library = f"'-DTHIMBLE_DEVICE_LIBRARY=-Wl,--start-group;{libraries};-Wl,--end-group'"
        printed = ""
        for command in commands:
            done = subprocess.run(command.replace("cmake -S", f"cmake {library} -G Ninja -S"), shell=True, cwd=folder,
                                  env={**os.environ, "HOME": str(self.home)}, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=TIME_LIMIT_SECONDS, check=False)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
            printed = done.stdout
        return folder, printed

    def test_app(self):
        _, printed = self.run_commands("app", "cortex-m4", ("libruntime_product.a", "libkernels.a"))
        self.assertRegex(printed, r"^digit 4\noutput [0-9a-f]{80}\nEND ok\n$")

    def test_two_models_on_an_ethos_u(self):
        _, printed = self.run_commands("ethos_u", "cortex-m55", ("libruntime_product.a", "libkernels.a", "libethos_u.a"))
        self.assertRegex(printed, r"^(output [0-9a-f]+\n){4}END ok\n$")

    def test_serial_runner(self):
        folder, _ = self.run_commands("serial_runner", "cortex-m4", ("libruntime.a", "libkernels.a"))
        self.assertGreater((folder / "build/serial_runner.bin").stat().st_size, 100_000)

    def test_all_examples_have_a_test(self):
        folders = {path.name for path in (SOURCE / "examples").iterdir() if path.is_dir()}
        self.assertEqual(folders - OTHERS, {"app", "ethos_u", "serial_runner"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
