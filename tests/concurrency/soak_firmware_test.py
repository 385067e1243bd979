# SPDX-License-Identifier: Apache-2.0
"""Models on emulated cores (firmware/apps/soak): random calls of three models in one arena, and a model in an interrupt handler
while another one runs.

usage: soak_firmware_test.py QEMU FIRMWARE_DIR SOURCE_DIR [--calls N]

Instructions are the clock (-icount): the interrupts are at the same instructions on each machine.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

QEMU = sys.argv[1]
FIRMWARE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[2:4])
CALLS = int(sys.argv[sys.argv.index("--calls") + 1]) if "--calls" in sys.argv else 10000
LAYOUT = re.search(r"kKernelLayoutVersion = (\d+)", (SOURCE / "abi/kernel_layout.h").read_text())[1]
DATA = SOURCE / f"tests/data/golden/layout{LAYOUT}"
MACHINES = {"cortex-m0plus": "mps2-an385", "cortex-m4": "mps2-an386", "cortex-m33": "mps2-an505", "cortex-m55": "mps3-an547"}
SHARED = [f"shared_{name}.pte" for name in ("digits_cnn", "hello_sin", "streaming_conv_buffer")]


def run(core, *words):
    """Runs the image of the core. Returns the counts that it prints by name."""
    arguments = "".join(f",arg={word}" for word in ("soak", *words))
    done = subprocess.run([QEMU, "-M", MACHINES[core], "-nodefaults", "-display", "none", "-monitor", "none", "-serial", "none",
                           "-icount", "shift=5,sleep=off", "-kernel", FIRMWARE / f"soak-{core}.elf", "-semihosting-config",
                           "enable=on,target=native" + arguments], cwd=DATA, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done, {name: int(value) for name, value in re.findall(r"\b([a-z]+) (\d+)\b", done.stdout)}


class SoakOnCores(unittest.TestCase):
    def check_series(self, core, calls, seed):
        done, counts = run(core, "series", calls, seed, *SHARED)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual((counts["calls"], counts["wrong"]), (calls, 0))
        self.assertGreater(counts["resets"], calls // 100)
        self.assertGreater(counts["restores"], calls // 400)
        self.assertGreaterEqual(counts["longest"], 100)
        print(core, counts)

    def test_random_calls_in_one_arena(self):
        self.check_series("cortex-m4", CALLS, 1)

    def test_memory_of_another_model_is_noticed(self):
        """Models that were not compiled for one arena overwrite the states of each other."""
        done, counts = run("cortex-m4", "series", CALLS, 1, "states.pte", "states.pte")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertGreater(counts["wrong"], 0)

    def check_interrupts(self, core, low, high, runs):
        done, counts = run(core, "interrupts", runs, low, high)
        self.assertEqual(done.returncode, 0, f"{core}: {done.stdout}")
        self.assertEqual((counts["runs"], counts["wrong"]), (runs, 0))
        self.assertGreater(counts["refused"], 10)
        print(core, counts)

    def test_interrupts_armv6m(self):
        self.check_interrupts("cortex-m0plus", "convolutions_thumb1.pte", "sine.pte", 12)

    def test_interrupts_dsp(self):
        self.check_interrupts("cortex-m4", "shared_digits_cnn.pte", "states.pte", 24)
        self.check_interrupts("cortex-m33", "lstm.pte", "states.pte", 4)

    def test_interrupts_mve(self):
        self.check_interrupts("cortex-m55", "convolutions_mve.pte", "sine.pte", 24)


if __name__ == "__main__":
    if "--calls" in sys.argv:
        at = sys.argv.index("--calls")
        del sys.argv[at:at + 2]
    unittest.main(argv=sys.argv[:1], verbosity=2)
