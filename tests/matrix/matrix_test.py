# SPDX-License-Identifier: Apache-2.0
"""matrix.py on ledgers written by this test: filled cells, empty cells, errors."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Matrix(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def run_on(self, *ledgers, ops=None):
        for index, rows in enumerate(ledgers):
            text = "".join("\t".join(map(str, row)) + "\n" for row in rows)
            (self.path / f"test-{index}.tsv").write_text(text)
        command = [sys.executable, str(HERE / "matrix.py"), str(self.path)]
        if ops is not None:
            tables = self.path / "ops"
            tables.mkdir()
            for index, name in enumerate(ops):
                (tables / f"{index}.def").write_text(f'THIMBLE_NATIVE_OP(id, 0x0401, "{name}", kI8, 0, kPlain, "To", NoParams)\n')
            command += ["--ops", str(tables)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def test_ledgers_add_up_and_what_did_not_run_stays_empty(self):
        code, text, _ = self.run_on(
            [("thimble::add.out", "i8", "cortex-m55", "alone", 3, 0),
             ("thimble::add.out", "i8", "host", "alone", 2, 0)],
            [("thimble::add.out", "i8", "host", "alone", 1000, 0),
             ("thimble::add.out", "i8", "host", "graph", 7, 0),
             ("thimble::add.out", "i16", "cortex-m4", "graph", 1, 0)])
        self.assertEqual(code, 0)
        self.assertIn("| operator | types | host | cortex-m4 | cortex-m55 |", text)
        self.assertIn("| thimble::add | i8 | 1,002 +7 |  | 3 |", text)
        self.assertIn("| thimble::add | i16 |  | +1 |  |", text)

    def test_a_difference_is_shown_and_fails(self):
        code, text, _ = self.run_on([("thimble::add.out", "i8", "host", "alone", 5, 1)])
        self.assertEqual(code, 1)
        self.assertIn("**1 differ**", text)

    def test_operators_of_the_table_that_nobody_compared(self):
        code, text, _ = self.run_on([("thimble::b.out", "i8", "host", "alone", 1, 0),
                                     ("thimble::a.out", "i8", "host", "alone", 1, 0)],
                                    ops=["thimble::b.out", "thimble::a.out", "thimble::c.out"])
        self.assertEqual(code, 0)
        self.assertLess(text.index("thimble::b"), text.index("thimble::a"))
        self.assertIn("Never compared: thimble::c.out.", text)

    def test_no_comparisons_or_a_broken_ledger_are_errors(self):
        self.assertNotEqual(self.run_on()[0], 0)
        code, _, error = self.run_on([("thimble::add.out", "i8", "host")])
        self.assertNotEqual(code, 0)
        self.assertIn("test-0.tsv:1", error)


if __name__ == "__main__":
    unittest.main()
