# SPDX-License-Identifier: Apache-2.0
"""Files of tests/data/golden, which earlier versions of the program wrote: each gives the recorded bytes on the host, in the
evaluator and on emulated boards, or is refused with a sentence that names both versions.

usage: golden_test.py THIMBLE SOURCE_DIR

make.py adds the files of a new layout version.
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

THIMBLE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
DATA = SOURCE / "tests/data/golden"
LAYOUT = int(re.search(r"kKernelLayoutVersion = (\d+)", (SOURCE / "abi/kernel_layout.h").read_text())[1])
ON_BOARDS = ("sine.pte", "convolutions_mve.pte", "convolutions_ethos_u55.pte", "states.pte")  # in addition to the host


def run(path, *words):
    return subprocess.run([THIMBLE, "run", path, *words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def layout_of(path):
    """Returns the kernel layout version of a file's program entry (docs/formats/records.md); 0 if it has none."""
    data = path.read_bytes()
    at = data.find(b"THMB")
    return 0 if at < 0 else int.from_bytes(data[at + 6:at + 8], "little")


class Golden(unittest.TestCase):
    def check_results(self, folder, row, on):
        done = run(folder / row["file"], "--input", folder / row["input"], *row["options"], "--on", on)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [{key: output[key] for key in ("name", "dtype", "shape", "sha256")} for output in json.loads(done.stdout)["outputs"]]
        self.assertEqual(found, row["outputs"], f"{folder.name}/{row['file']} on {on}")

    def check_refused(self, path, data, expected, on="host"):
        done = run(path, "--input", data, "--on", on)
        self.assertEqual(done.returncode, 1, f"{path}: {done.stdout}")
        self.assertIn(expected, json.loads(done.stdout)["error"])

    def rows(self):
        lists = sorted(DATA.glob("layout*/list.json"))
        self.assertTrue(lists)
        for path in lists:
            for row in json.loads(path.read_text())["files"]:
                yield path.parent, row

    def test_results_are_the_recorded_ones(self):
        compared = 0
        for folder, row in self.rows():
            if layout_of(folder / row["file"]) not in (0, LAYOUT):
                continue
            compared += 1
            with self.subTest(file=f"{folder.name}/{row['file']}"):
                # The evaluator runs no delegates of NPUs, and has other bits in float.
                evaluator = () if re.search("_(ethos|axon|neutron|float)", row["file"]) else ("eval",)
                for on in ("host",) + evaluator + (("qemu",) if row["file"] in ON_BOARDS else ()):
                    self.check_results(folder, row, on)
        print(compared, "files with recorded results")

    def test_each_file_has_a_row_with_its_hash(self):
        listed = {f"{folder.name}/{row['file']}": row["sha256"] for folder, row in self.rows()}
        found = {f"{path.parent.name}/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in DATA.glob("layout*/*.pte")}
        self.assertEqual(listed, found)

    def test_files_of_the_present_layout_exist(self):
        self.assertTrue((DATA / f"layout{LAYOUT}/list.json").exists(),
                        f"no golden files of kernel layout version {LAYOUT}: python3 tests/golden/make.py build/thimble .")

    def test_a_file_with_another_layout_version_is_refused(self):
        folder = DATA / f"layout{LAYOUT}"
        data = bytearray((folder / "sine.pte").read_bytes())
        at = data.index(b"THMB") + 6
        data[at:at + 2] = (LAYOUT + 1).to_bytes(2, "little")
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "other.pte"
            path.write_bytes(data)
            for on in ("host", "eval", "qemu"):
                self.check_refused(path, folder / "hello_sin_4.npy",
                                   f"kernel layout version {LAYOUT + 1}, this release runs version {LAYOUT}", on)

    def test_files_of_other_layouts_are_refused_with_both_versions(self):
        others = [(folder, row, version) for folder, row in self.rows()
                  if (version := layout_of(folder / row["file"])) not in (0, LAYOUT)]
        if not others:
            self.skipTest(f"all golden files have layout version {LAYOUT}")
        for folder, row, version in others:
            with self.subTest(file=f"{folder.name}/{row['file']}"):
                for on in ("host", "eval", "qemu"):
                    self.check_refused(folder / row["file"], folder / row["input"],
                                       f"kernel layout version {version}, this release runs version {LAYOUT}", on)

    def test_another_version_of_the_entry_is_refused(self):
        folder = DATA / f"layout{LAYOUT}"
        data = bytearray((folder / "sine.pte").read_bytes())
        at = data.index(b"THMB") + 4
        now = int.from_bytes(data[at:at + 2], "little")
        data[at:at + 2] = (now + 1).to_bytes(2, "little")
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "newer.pte"
            path.write_bytes(data)
            for on in ("host", "eval", "qemu"):
                self.check_refused(path, folder / "hello_sin_4.npy",
                                   f"newer.pte: its program has version {now + 1}, this release runs versions 1 to {now}", on)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
