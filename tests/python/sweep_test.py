#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sweep(): results equal those of compile(), dead workers, resumed sweeps, and other executors.

    sweep_test.py MODELS_FOLDER
"""

import functools
import os
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import sweep_models
import thimble_ml as thimble

MODELS = Path(sys.argv[1] if len(sys.argv) > 1 else "models")
NAMES = ["dscnn_kws", "resnet8", "hello_sin"]
TARGETS = ["cortex-m4", "ethos-u55-128"]


def path(name):
    return MODELS / name / f"{name}.pt2"


class SweepTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cache = self.folder / "cache"

    def sweep(self, models, targets=("cortex-m4",), **options):
        options.setdefault("cache", self.cache)
        return list(thimble.sweep(models, targets, **options))


class Results(SweepTest):
    def test_programs_equal_those_of_compile(self):
        models = {name: path(name) for name in NAMES}
        results = self.sweep(models, TARGETS, keep_programs=True)
        self.assertEqual(
            {(result.model, result.target) for result in results},
            {(name, target) for name in NAMES for target in TARGETS},
        )
        for result in results:
            self.assertEqual(result.status, "ok", result.error)
            alone = thimble.compile(
                path(result.model), target=result.target, calibration="random"
            )
            self.assertEqual(result.program, bytes(alone), result.model)
            self.assertEqual(result.row()["cycles"], alone.report()["cycles"])

    def test_refusals_are_results(self):
        results = self.sweep(
            [path("resnet8"), b"not an archive"], options={"memory": {"sram": "10K"}}
        )
        found = {result.model: result for result in results}
        self.assertEqual(found["resnet8"].status, "does_not_fit")
        self.assertIn("sram", found["resnet8"].error)
        self.assertEqual(found["model_1"].status, "bad_input")

    def test_function_that_raises(self):
        model = functools.partial(sweep_models.raises, "nothing")
        (result,) = self.sweep({"raises": model})
        self.assertEqual(result.status, "error")
        self.assertEqual(result.error, "RuntimeError: no model is made of nothing")

    def test_functions_that_cannot_be_pickled(self):
        def local():
            return path("hello_sin")

        for function in (lambda: path("hello_sin"), local):
            with self.assertRaisesRegex(thimble.BadInput, "models: f: .*function.*cannot be pickled"):
                self.sweep({"f": function}, cache=False)
            with ThreadPoolExecutor(1) as executor:
                (result,) = self.sweep({"f": function}, executor=executor)
            self.assertEqual(result.status, "ok", result.error)

    def test_grid_is_every_combination(self):
        options = thimble.grid(activations=["int8", "int16"], optimize=["speed", "flash"])
        results = self.sweep([path("hello_sin")], options=options)
        self.assertEqual(len({result.key for result in results}), 4)
        self.assertEqual({result.options["activations"] for result in results}, {"int8", "int16"})

    def test_models_are_read_as_results_arrive(self):
        read = []

        def models():
            for number in range(100):
                read.append(number)
                yield f"copy_{number}", path("hello_sin")

        with ThreadPoolExecutor(1) as executor:
            results = thimble.sweep(
                models(), "cortex-m4", executor=executor, in_flight=3, cache=False
            )
            next(results)
            results.close()
        self.assertLess(len(read), 8)


class DeadWorkers(SweepTest):
    def test_an_item_that_kills_its_worker_is_lost_alone(self):
        models = {name: path(name) for name in NAMES}
        models["deadly"] = functools.partial(sweep_models.kills_its_worker, "x")
        results = {result.model: result for result in self.sweep(models)}
        self.assertEqual(results["deadly"].status, "crashed")
        self.assertEqual(results["deadly"].attempt, 3)
        for name in NAMES:
            self.assertEqual(results[name].status, "ok", results[name].error)

    def test_an_item_is_tried_again(self):
        once = functools.partial(
            sweep_models.kills_its_worker_once, path("hello_sin"), self.folder / "marker"
        )
        (result,) = self.sweep({"once": once})
        self.assertEqual((result.status, result.attempt), ("ok", 2))

    def test_workers_that_die_on_every_item_end_the_sweep(self):
        models = [functools.partial(sweep_models.kills_its_worker, n) for n in range(10)]
        with self.assertRaisesRegex(BrokenExecutor, "die on every item"):
            self.sweep(models, retries=1)

    def test_an_executor_that_was_passed_in_is_not_replaced(self):
        model = functools.partial(sweep_models.kills_its_worker, "x")
        with ProcessPoolExecutor(1) as executor:
            with self.assertRaisesRegex(BrokenExecutor, "call sweep.. again"):
                self.sweep([model], executor=executor)

    def test_a_script_without_a_main_guard_is_named(self):
        script = self.folder / "script.py"
        script.write_text(
            "import thimble_ml as thimble\n"
            f"list(thimble.sweep([{str(path('hello_sin'))!r}], 'cortex-m4', cache=False))\n"
        )
        ended = subprocess.run([sys.executable, script], capture_output=True, text=True)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn('if __name__ == "__main__":', ended.stderr)


class Cache(SweepTest):
    def test_a_stopped_sweep_continues(self):
        models = {name: path(name) for name in NAMES}
        results = thimble.sweep(models, TARGETS, cache=self.cache, in_flight=1)
        first = [next(results), next(results)]
        results.close()
        again = self.sweep(models, TARGETS)
        self.assertEqual(sum(result.cached for result in again), len(first))
        self.assertEqual(len(again), 6)
        third = self.sweep(models, TARGETS)
        self.assertTrue(all(result.cached for result in third))
        self.assertEqual(
            {result.key: result.report for result in third},
            {result.key: result.report for result in again},
        )

    def test_functions_are_stored_by_the_model_that_they_return(self):
        model = functools.partial(sweep_models.model, path("hello_sin"))
        self.assertFalse(self.sweep([model])[0].cached)
        self.assertTrue(self.sweep([model])[0].cached)
        self.assertTrue(self.sweep([path("hello_sin")])[0].cached)

    def test_a_damaged_file_is_compiled_again(self):
        self.sweep([path("hello_sin")])
        (file,) = self.cache.glob("*.result")
        file.write_text("{")
        self.assertFalse(self.sweep([path("hello_sin")])[0].cached)
        self.assertTrue(self.sweep([path("hello_sin")])[0].cached)

    def test_other_data_options_and_targets_are_other_results(self):
        samples = MODELS / "dscnn_kws" / "calibrate.npz"
        model = [path("dscnn_kws")]
        self.sweep(model)
        self.assertFalse(self.sweep(model, calibration=samples)[0].cached)
        self.assertFalse(self.sweep(model, options={"activations": "int16"})[0].cached)
        self.assertFalse(self.sweep(model, targets="cortex-m7")[0].cached)
        self.assertTrue(self.sweep(model, calibration=samples)[0].cached)

    def test_a_target_file_that_changes(self):
        part = Path(self.folder) / "part.toml"
        text = 'summary = "part"\ncpu = "cortex-m4"\nclock_mhz = {}\n'
        times = []
        for clock in (200, 10, 200):
            part.write_text(text.format(clock))
            (result,) = self.sweep([path("hello_sin")], targets=str(part))
            self.assertIsNone(result.error)
            times.append((result.time_ms, result.cached))
        self.assertAlmostEqual(times[1][0], 20 * times[0][0], delta=times[0][0])
        self.assertEqual([cached for _, cached in times], [False, False, True])

    def test_values_of_numpy_and_empty_items(self):
        options = {"memory": {"sram": np.int64(90000)}}
        (result,) = self.sweep(Path(path("hello_sin")), options=options)
        self.assertIsNone(result.error)
        for data in ([()], {}):
            with self.assertRaises(thimble.BadInput):
                self.sweep([path("hello_sin")], calibration=data)

    def test_calibration_is_an_array(self):
        samples = np.linspace(-3, 3, 16, dtype=np.float32).reshape(16, 1)
        (result,) = self.sweep([path("hello_sin")], calibration=samples)
        self.assertIsNone(result.error)

    def test_wrong_arguments(self):
        for options, expected in (
            ({"cache": None}, "cache: found NoneType, expected True, False or the path"),
            ({"cache": b"folder"}, "cache: found bytes, expected"),
            ({"targets": None}, "targets: found NoneType, expected"),
            ({"targets": [4]}, "target: found int, expected the name of a part"),
            ({"executor": 4}, "executor: found int, expected an executor"),
            ({"options": 4}, "options: found int, expected"),
            ({"options": ["io"]}, "options: found str, expected a dict"),
            ({"retries": 0}, "retries is 0, at least 1"),
            ({"models": 4}, "models: found int, expected"),
        ):
            with self.assertRaisesRegex(thimble.BadInput, expected):
                self.sweep(**{"models": [path("hello_sin")], **options})
        with self.assertRaisesRegex(thimble.BadInput, "activations: found str, expected a list"):
            thimble.grid(activations="int8")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_cannot_be_written(self):
        self.cache.mkdir(mode=0o555)
        with self.assertRaises(PermissionError):
            thimble.sweep([path("hello_sin")], "cortex-m4", cache=self.cache)

    def test_a_file_in_place_of_the_folder(self):
        self.cache.touch()
        with self.assertRaises(FileExistsError):
            thimble.sweep([path("hello_sin")], "cortex-m4", cache=self.cache)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
