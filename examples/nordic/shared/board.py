# SPDX-License-Identifier: Apache-2.0
"""A board on this machine: builds and flashes an example's application, and compares what it prints on its serial port with the
"Expected output" of the example's README.

Without hardware, DRY_RUN=1 prints the commands of west instead of running them, and BOARD_PORT may be any terminal.
"""
import os
import re
import select
import subprocess
import termios
import time
import tty
from pathlib import Path

NORDIC = Path(__file__).resolve().parents[1]
BOARD = "nrf54lm20dk/nrf54lm20b/cpuapp"


def port():
    """The serial port: BOARD_PORT, or the only one of the board's debugger."""
    named = os.environ.get("BOARD_PORT")
    found = [named] if named else sorted(str(path) for path in Path("/dev/serial/by-id").glob("*SEGGER*"))
    if not found:
        raise SystemExit("no serial port of the board's debugger in /dev/serial/by-id: connect the board, or set BOARD_PORT")
    return found[0]  # the first one of the kit is that of the application core


def flash(name, build=None):
    """Builds the application of the example and writes it to the board."""
    build = build or f"build-{name}"
    for command in (["west", "build", "-b", BOARD, "-d", build, str(NORDIC / name)], ["west", "flash", "-d", build]):
        print("$", " ".join(command), flush=True)
        if not os.environ.get("DRY_RUN"):
            subprocess.run(command, check=True)


def expected(name):
    """The lines of the first block after "Expected output" in the README."""
    text = (NORDIC / name / "README.md").read_text()
    return re.search(r"^Expected output[^\n]*\n+```\n(.*?)^```$", text, re.M | re.S)[1].splitlines()


def without_times(line):
    return re.sub(r"\b\d+ us\b", "N us", line)


class Line:
    """A serial port with 115200 baud. Bytes that came before it was opened are dropped."""

    def __init__(self, path):
        self.path, self.file = path, os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.file)
        settings = termios.tcgetattr(self.file)
        settings[4] = settings[5] = termios.B115200
        termios.tcsetattr(self.file, termios.TCSANOW, settings)
        termios.tcflush(self.file, termios.TCIFLUSH)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        os.close(self.file)

    def lines(self, last, seconds=30):
        """Yields the lines up to `last`. Without a byte for `seconds`, it ends with a message."""
        text, end = "", time.monotonic() + seconds
        while True:
            ready, _, _ = select.select([self.file], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise SystemExit(f"{self.path}: no line '{last}' for {seconds} s; the last text was {text!r}")
            text += os.read(self.file, 4096).decode("ascii", "replace").replace("\r", "")
            end = time.monotonic() + seconds
            *complete, text = text.split("\n")
            for line in complete:
                yield line
                if line == last:
                    return


def check(name, line, seconds=30):
    """Prints what the application prints. Raises an error if it is not what the README says."""
    wanted = expected(name)
    printed = []
    for text in line.lines(wanted[-1], seconds):
        print(text, flush=True)
        printed.append(without_times(text))
    # Lines of the boot banner and of west come before.
    if printed[-len(wanted):] != [without_times(text) for text in wanted]:
        raise AssertionError(f"the board printed {printed}, the README has {wanted}")
    print(f"{name}: the board prints what the host computed")
