# SPDX-License-Identifier: Apache-2.0
"""examples/nordic/on_the_board.ipynb, without a board: west's commands are printed, and a pseudo-terminal prints what the
application printed on the emulated core.

usage: nordic_board_test.py SOURCE_DIR
"""

import os
import pathlib
import pty
import subprocess
import sys
import threading
import time
import tty
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
NORDIC = SOURCE / "examples/nordic"
sys.path.insert(0, str(NORDIC))
from shared import board  # noqa: E402

EXAMPLES = ("hello_axon", "multi_layer", "simple_rnn", "anomaly", "image_cnn", "keywords")


class OnTheBoard(unittest.TestCase):
    def notebook(self, name, text, seconds=20):
        """Runs the notebook while a board prints the text again and again, as a reset after flashing would."""
        master, slave = pty.openpty()
        tty.setraw(slave)
        ended = threading.Event()

        def print_text():
            while not ended.is_set():
                os.write(master, text)
                time.sleep(0.5)

        thread = threading.Thread(target=print_text, daemon=True)
        thread.start()
        environment = {**os.environ, "DRY_RUN": "1", "BOARD_PORT": os.ttyname(slave), "EXAMPLE": name, "SECONDS": str(seconds)}
        done = subprocess.run([sys.executable, NORDIC / "shared/notebook.py", NORDIC / "on_the_board.ipynb"], capture_output=True,
                              text=True, check=False, timeout=60, env=environment)
        ended.set()
        thread.join()
        os.close(slave)
        os.close(master)
        return done

    def told(self, name):
        lines = [line.replace("N us", "94 us") for line in board.expected(name)]
        return "".join(f"{line}\r\n" for line in ["*** Booting Zephyr OS ***", *lines]).encode()

    def test_each_example(self):
        for name in EXAMPLES:
            with self.subTest(name):
                done = self.notebook(name, self.told(name))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn(f"$ west build -b nrf54lm20dk/nrf54lm20b/cpuapp -d build-{name} {NORDIC / name}\n", done.stdout)
                self.assertIn(f"$ west flash -d build-{name}\n", done.stdout)
                self.assertIn(f"{name}: the board prints what the host computed\n", done.stdout)

    def test_another_result(self):
        done = self.notebook("hello_axon", self.told("hello_axon").replace(b"0.999", b"0.998"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("AssertionError: the board printed", done.stderr)

    def test_silence(self):
        done = self.notebook("hello_axon", b"", seconds=1)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no line 'hello_axon: done' for 1.0 s", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
