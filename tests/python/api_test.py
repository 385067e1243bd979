# SPDX-License-Identifier: Apache-2.0
"""The package thimble_ml: results, errors, options and pickles.

usage: api_test.py THIMBLE SOURCE_FOLDER [-v] [TEST]
"""

import dataclasses
import inspect as python_inspect
import json
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import unittest

import numpy
import thimble_ml as thimble
from thimble_ml import _thimble

PROGRAM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
MODELS = SOURCE / "models"
DIGITS = MODELS / "digits_cnn"
EXPORT, SAMPLES, TEST = DIGITS / "digits_cnn.pt2", DIGITS / "calibrate.npz", DIGITS / "test.npz"


def program(*arguments):
    """Returns the JSON output of the program."""
    done = subprocess.run([PROGRAM, *map(str, arguments), "--json"], capture_output=True, text=True)
    return json.loads(done.stdout)


class CompileTest(unittest.TestCase):
    def setUp(self):
        self.compiled = thimble.compile(EXPORT, target="corstone-300", calibration=SAMPLES)

    def test_memory_and_ops_are_those_of_the_report(self):
        report = self.compiled.report()
        self.assertEqual([row["name"] for row in report["memories"]], list(self.compiled.memory))
        for row in report["memories"]:
            memory = self.compiled.memory[row["name"]]
            self.assertEqual(dataclasses.asdict(memory), {**row, "bytes_size": memory.bytes_size})
        for op, row in zip(self.compiled.ops, report["ops"], strict=True):
            for name, value in dataclasses.asdict(op).items():
                self.assertEqual(row[name], value)

    def test_data_in_every_form_gives_the_same_bytes(self):
        x = numpy.load(SAMPLES)["x"]
        forms = {
            "path": str(SAMPLES),
            "array": x,
            "float64": x.astype(numpy.float64),
            "dict": {"x": x},
            "tuple": (x,),
            "list of samples": list(x),
            "list of samples with the batch axis": [each[None] for each in x],
            "batches": [x[:10], x[10:]],
            "batches with labels": [(each[None], numpy.array([3])) for each in x],
            "generator of dicts": ({"x": each} for each in x),
            "not contiguous": x[..., ::-1][..., ::-1],
            "big-endian": x.astype(">f4"),
            "lists": x.tolist(),
        }
        for name, data in forms.items():
            with self.subTest(name):
                if name == "lists":
                    data = numpy.asarray(data)
                other = thimble.compile(EXPORT, target="corstone-300", calibration=data)
                self.assertEqual(bytes(other), bytes(self.compiled))

    def test_labels_of_the_data_are_used(self):
        x = numpy.load(SAMPLES)["x"]
        labels = numpy.zeros(len(x), numpy.int64)
        goal = {"accuracy": "top1>=0.0"}
        thimble.compile(EXPORT, target="cortex-m55", calibration=(x, labels), **goal)
        with self.assertRaisesRegex(thimble.BadInput, "labels"):
            thimble.compile(EXPORT, target="cortex-m55", calibration=x, **goal)
        labels[2] = 10
        with self.assertRaisesRegex(thimble.BadInput, "labels: element 2 is 10, expected 0 to 9"):
            thimble.compile(EXPORT, target="cortex-m55", calibration=(x, labels), **goal)

    def test_run_equals_the_program(self):
        x = numpy.load(TEST)["x"][:1]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.compiled.save(folder / "net.pte")
            numpy.save(folder / "x.npy", x)
            program("run", folder / "net.pte", "--input", folder / "x.npy", "--output", folder)
            expected = numpy.load(folder / "output_0.npy")
        y = self.compiled.run(x)
        numpy.testing.assert_array_equal(y, expected)
        numpy.testing.assert_array_equal(self.compiled.run({"x": x}), y)

    def test_boards_compute_the_same(self):
        x = numpy.load(TEST)["x"][:3]
        host = self.compiled.run(x)
        try:
            board = self.compiled.run(x, on="qemu")
        except thimble.BadInput as error:
            self.skipTest(str(error))
        numpy.testing.assert_array_equal(host, board)
        profile = self.compiled.profile()
        self.assertGreater(profile["instructions"], 0)

    def test_compare_equals_the_program(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "net.pte"
            self.compiled.save(path)
            expected = program("compare", EXPORT, path, "--data", TEST)
        for data in (TEST, dict(numpy.load(TEST))):
            result = self.compiled.compare(data)
            self.assertEqual(result.sqnr_db, expected["sqnr_db"])
            self.assertEqual(result.accuracy, expected["accuracy"])
            self.assertEqual(result.calls, expected["calls"])

    def test_pickles(self):
        other = pickle.loads(pickle.dumps(self.compiled))
        self.assertEqual(bytes(other), bytes(self.compiled))
        self.assertEqual(other.report(), self.compiled.report())
        self.assertEqual(other.ops, self.compiled.ops)
        x = numpy.load(TEST)["x"][:1]
        numpy.testing.assert_array_equal(other.run(x), self.compiled.run(x))
        self.assertEqual(other.compare(TEST), self.compiled.compare(TEST))
        with tempfile.TemporaryDirectory() as name:
            other.save(pathlib.Path(name) / "a.pte")
            self.assertEqual((pathlib.Path(name) / "a.pte").read_bytes(), bytes(self.compiled))
        self.assertIn("<html", other._repr_html_().replace("&lt;", "<"))

    def test_report_files(self):
        with tempfile.TemporaryDirectory() as name:
            for file, start in (("r.html", "<!doctype html"), ("r.json", "{"), ("r.txt", "digits_cnn")):
                path = pathlib.Path(name) / file
                self.compiled.report(path)
                self.assertTrue(path.read_text().lower().startswith(start), file)

    def test_c_equals_the_program(self):
        compiled = thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES)
        sources = compiled.to_c()
        with tempfile.TemporaryDirectory() as name:
            program("compile", EXPORT, "--target", "cortex-m4", "--calibrate", SAMPLES, "--emit",
                    "c", "--out-dir", name)
            written = {path.name: path.read_text() for path in pathlib.Path(name).iterdir()}
        self.assertEqual(sources, written)
        with self.assertRaises(thimble.Unsupported):
            self.compiled.to_c()

    def test_save_writes_what_the_options_request(self):
        options = {"emit": ["pte", "tflite"], "kernels": None}
        compiled = thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES, **options)
        with tempfile.TemporaryDirectory() as name:
            compiled.save(pathlib.Path(name) / "net.pte")
            names = sorted(path.name for path in pathlib.Path(name).iterdir())
        self.assertEqual(names, ["net.pte", "net.tflite"])

    def test_progress(self):
        seen = []
        thimble.compile(EXPORT, target="cortex-m55", calibration=SAMPLES,
                        progress=lambda *each: seen.append(each))
        self.assertTrue(seen)
        for phase, done, total in seen:
            self.assertIsInstance(phase, str)
            self.assertTrue(0 <= done <= max(done, total))

        def refuse(*_):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            thimble.compile(EXPORT, target="cortex-m55", calibration=SAMPLES, progress=refuse)


class ShareArenaTest(unittest.TestCase):
    def setUp(self):
        self.models = [thimble.compile(MODELS / name / f"{name}.pt2", target="cortex-m4",
                                       calibration=MODELS / name / "calibrate.npz")
                       for name in ("digits_cnn", "hello_sin")]

    def test_equals_the_program(self):
        shared = thimble.share_arena(self.models)
        with tempfile.TemporaryDirectory() as name:
            subprocess.run([PROGRAM, "compile", EXPORT, MODELS / "hello_sin" / "hello_sin.pt2",
                            "--share-arena", "--target", "cortex-m4", "--out-dir", name,
                            "--calibrate", SAMPLES,
                            "--calibrate", MODELS / "hello_sin" / "calibrate.npz"],
                           check=True, capture_output=True)
            for model in shared:
                self.assertEqual(bytes(model), (pathlib.Path(name) / model.name).read_bytes())
        x = numpy.load(TEST)["x"][:2]
        numpy.testing.assert_array_equal(shared[0].run(x), self.models[0].run(x))
        again = pickle.loads(pickle.dumps(shared[0]))
        self.assertEqual(bytes(again), bytes(shared[0]))

    def test_errors(self):
        with self.assertRaises(thimble.BadInput):
            thimble.share_arena(self.models[:1])
        small = [thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES,
                                 memory={"sram": "4200"}) for _ in range(2)]
        with self.assertRaises(thimble.DoesNotFit) as caught:
            thimble.share_arena(small, exclusive=False)
        self.assertEqual((caught.exception.memory, caught.exception.available), ("sram", 4200))


class ErrorTest(unittest.TestCase):
    def test_does_not_fit(self):
        with self.assertRaises(thimble.DoesNotFit) as caught:
            thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES,
                            memory={"sram": 1000, "flash": "1M"})
        error = caught.exception
        self.assertEqual((error.memory, error.available, error.unit), ("sram", 1000, "B"))
        self.assertGreater(error.needed, 1000)
        self.assertIn(f"{error.needed:,} B", str(error))
        self.assertEqual(vars(pickle.loads(pickle.dumps(error))), vars(error))

    def test_does_not_fit_suggests(self):
        with self.assertRaises(thimble.DoesNotFit) as caught:
            thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES, memory={"sram": "2K"})
        self.assertTrue(caught.exception.suggestions)
        for text in caught.exception.suggestions:
            self.assertIn(re.split(" {2,}|: ", text)[0], str(caught.exception))

    def test_unsupported_ops_have_source_lines(self):
        refused = SOURCE / "tests" / "data" / "pt2"
        found = 0
        for path in sorted(refused.glob("*.pt2")):
            try:
                thimble.compile(path, target="cortex-m4", calibration="random")
            except thimble.Unsupported as error:
                for op in error.ops:
                    self.assertTrue(op.op and op.reason, str(error))
                    self.assertIn(op.reason, str(error))
                    found += op.source != ""
            except thimble.ThimbleError:
                pass
        self.assertGreater(found, 0)

    def test_messages_are_those_of_the_program(self):
        cases = [("nowhere.pt2", "cortex-m4", {}), (str(EXPORT), "cortex-m99", {}),
                 (str(EXPORT), "cortex-m4", {"io": "int4"})]
        for model, target, options in cases:
            with self.assertRaises(thimble.BadInput) as caught:
                thimble.compile(model, target=target, calibration=SAMPLES, **options)
            self.assertTrue(str(caught.exception))
            self.assertIsInstance(caught.exception, ValueError)


class OptionTest(unittest.TestCase):
    # Options of the program that are something else here.
    ELSEWHERE = {
        "compile": {"target": "target", "calibrate": "calibration", "output": "Compiled.save",
                    "out_dir": "Compiled.save", "json": "Compiled.report",
                    "share_arena": "share_arena", "exclusive": "share_arena"},
    }

    PROGRAM_ONLY = {"method"}  # files with several methods are compiled by the program

    def test_every_option_of_the_program_is_an_option_here(self):
        for command in ("compile", "fit", "compare", "run", "diff"):
            done = subprocess.run([PROGRAM, command, "--help"], capture_output=True, text=True)
            heads = re.findall(r"^ +(-\S+)", done.stdout, re.M)  # "-o,--output", "--tune,--no-tune{false}"
            names = {each.split("{")[0].lstrip("-") for head in heads for each in head.split(",")}
            names = {name for name in names if len(name) > 1}
            known = set()
            for name, _, negative, _, _ in _thimble.options(command, True):
                known |= {name, negative}
            self.assertEqual({name.replace("-", "_") for name in names} - known - {"help"}, set())

    def test_code_of_kernels_in_ram(self):
        report = thimble.compile(EXPORT, target="stm32f746", calibration=SAMPLES, kernel_code="itcm").report()
        self.assertEqual(report["kernel_code"]["memory"], "itcm")
        with self.assertRaisesRegex(thimble.BadInput, "expected itcm or sram or flash of stm32f746"):
            thimble.compile(EXPORT, target="stm32f746", calibration=SAMPLES, kernel_code="dtcm")

    def test_every_option_is_accepted(self):
        values = {
            "emit": ["pte"], "c_layout": None, "io": "int8", "activations": "int16",
            "accuracy": "sqnr>=1", "compat": "none", "io_layout": "nhwc", "quant": {"aten.conv2d.default": "int8"},
            "engine_off": ["aten.conv2d.default"], "shape": None, "memory": {"sram": "256K"},
            "report": None, "axon": "layers", "axon_sdk": None, "axon_dir": None,
            "neutron": "model", "neutron_sdk": None, "neutron_flags": None,
            "neutron_time_limit": 100, "neutron_kernels": False, "neutron_prefetch": False,
            "observer": "min-max", "equalize": True, "pareto": False, "npu_small": True,
            "npu_weights": "named", "inputs": "arena", "optimize": "size", "tune": False,
            "kernel_code": None, "kernels": None, "kernels_dir": None, "names": True, "fail_if": "sqnr<1dB",
            "save_stages": None, "skip_passes": ["remove_noops"], "float": False, "soft_float": False, "effort": 0,
            "weights": "int4",
            "input_mean": None, "input_std": None, "preprocess": None,
        }
        names = {option.name for option in thimble.options("compile")}
        self.assertEqual(names, set(values) | {"target", "calibration"})
        everything = {row[0] for row in _thimble.options("compile", True)}
        self.assertEqual(everything, set(values) | set(self.ELSEWHERE["compile"]) | self.PROGRAM_ONLY)
        for name, value in values.items():
            with self.subTest(name):
                thimble.compile(EXPORT, target="cortex-m55", calibration=SAMPLES, **{name: value})
        for name, where in self.ELSEWHERE["compile"].items():
            owner = thimble
            for part in where.split("."):
                if where in ("target", "calibration"):
                    self.assertIn(where, python_inspect.signature(thimble.compile).parameters)
                    break
                owner = getattr(owner, part)

    def test_lists_only_what_can_be_passed(self):
        for option in thimble.options("run"):
            self.assertIn(option.name, python_inspect.signature(thimble.Interpreter).parameters)
        self.assertIn("time_limit", {option.name for option in thimble.options("run")})
        self.assertIn("require", {option.name for option in thimble.options("fit")})
        with self.assertRaisesRegex(thimble.BadInput, "found 'compil', expected one of compile, fit"):
            thimble.options("compil")

    def test_unknown_names_and_wrong_values(self):
        def compile(**options):
            return thimble.compile(EXPORT, target="cortex-m55", calibration=SAMPLES, **options)

        with self.assertRaisesRegex(thimble.BadInput, "activation: .*similar names: activations"):
            compile(activation="int16")
        with self.assertRaisesRegex(thimble.BadInput, "expected one of float, int8, uint8, int16"):
            compile(io="int4")
        with self.assertRaisesRegex(thimble.BadInput, "True or False"):
            compile(names="yes")
        with self.assertRaisesRegex(thimble.BadInput, "program"):
            compile(json=True)


class QueryTest(unittest.TestCase):
    def test_targets(self):
        self.assertEqual(thimble.targets("cortex-m55"), [program("targets", "cortex-m55")])
        self.assertEqual(thimble.targets(), program("targets")["targets"])
        with self.assertRaisesRegex(thimble.BadInput, "cortex-m55"):
            thimble.targets("cortex-m555")

    def test_inspect_and_diff(self):
        a = thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES)
        b = thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES, optimize="flash")
        self.assertEqual(thimble.inspect(a)["target"], "cortex-m4")
        with tempfile.TemporaryDirectory() as name:
            paths = [pathlib.Path(name) / each for each in ("a.pte", "b.pte")]
            a.save(paths[0])
            b.save(paths[1])
            self.assertEqual(thimble.inspect(paths[0]), program("inspect", paths[0]))
            self.assertEqual(thimble.diff(*paths), program("diff", *paths))
            self.assertEqual(thimble.diff(*paths)["totals"], thimble.diff(a, b)["totals"])

    def test_fit(self):
        expected = program("fit", EXPORT, "--part", "stm32*", "--calibrate", SAMPLES)["models"][0]
        for data in (SAMPLES, dict(numpy.load(SAMPLES))):
            rows = thimble.fit(EXPORT, part="stm32*", calibration=data)
            self.assertEqual([row.part for row in rows], [row["part"] for row in expected["parts"]])
            for row, other in zip(rows, expected["parts"]):
                self.assertEqual(dataclasses.asdict(row), {"model": "digits_cnn.pt2", **other})
        several = thimble.fit([EXPORT, MODELS / "hello_sin" / "hello_sin.pt2"], part=["stm32*"],
                              calibration=[SAMPLES, MODELS / "hello_sin" / "calibrate.npz"])
        self.assertEqual({row.model for row in several}, {"digits_cnn.pt2", "hello_sin.pt2"})
        self.assertIn("<table>", several._repr_html_())
        # One data object is for every model, in each form.
        x = numpy.load(SAMPLES)["x"]
        (alone,) = thimble.fit(EXPORT, part="cortex-m4", calibration=SAMPLES)
        for data in (SAMPLES, str(SAMPLES), x, {"x": x}, (x,), (each for each in x), [x, {"x": x}]):
            rows = thimble.fit([EXPORT, EXPORT], part="cortex-m4", calibration=data)
            self.assertEqual([row.sqnr_db for row in rows], [alone.sqnr_db] * 2, type(data))
        for data in ("random", None, ["random", None]):
            rows = thimble.fit([EXPORT, EXPORT], part="cortex-m4", calibration=data)
            self.assertEqual([row.sqnr_db for row in rows], [None, None])
        for data in ([x], [x, x, x]):
            with self.assertRaisesRegex(thimble.BadInput, rf"calibration: found a list of {len(data)} for 2 models"):
                thimble.fit([EXPORT, EXPORT], part="cortex-m4", calibration=data)
        with self.assertRaisesRegex(thimble.BadInput, "args: found a list of 1 for 2 models"):
            thimble.fit([EXPORT, EXPORT], [None], part="cortex-m4")
        for models in ((EXPORT, EXPORT), {"a": EXPORT}, iter([EXPORT])):
            with self.assertRaisesRegex(thimble.BadInput, "models: found .*expected a model or a list"):
                thimble.fit(models, part="cortex-m4")
        try:
            import pandas
        except ImportError:
            return
        self.assertEqual(len(several.to_pandas()), len(several))
        del pandas


class InterpreterTest(unittest.TestCase):
    def test_state_is_kept_and_reset(self):
        folder = MODELS / "streaming_conv_buffer"
        compiled = thimble.compile(folder / "streaming_conv_buffer.pt2", target="cortex-m4",
                                   calibration=folder / "calibrate.npz")
        interpreter = thimble.Interpreter(compiled)
        self.assertTrue(interpreter.has_state)
        port = interpreter.inputs[0]
        generator = numpy.random.default_rng(1)
        series = generator.standard_normal((4, *port.shape)).astype(port.dtype)
        first = [interpreter.run(x) for x in series]
        interpreter.reset()
        again = [interpreter.run(x) for x in series]
        numpy.testing.assert_array_equal(first, again)
        interpreter.reset()
        at_once = interpreter.run(series, steps=True)
        numpy.testing.assert_array_equal(numpy.stack(first), at_once)
        self.assertFalse(numpy.array_equal(first[0], compiled.run(series[1])))
        try:
            board = thimble.Interpreter(compiled, on="qemu")
        except thimble.BadInput as error:
            self.skipTest(str(error))
        numpy.testing.assert_array_equal(first[:2], [board.run(x) for x in series[:2]])

    def test_ports_and_several_samples(self):
        compiled = thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES, names=True,
                                   io="int8")
        interpreter = thimble.Interpreter(bytes(compiled))
        self.assertEqual(interpreter.inputs[0].dtype, "int8")
        self.assertIsNotNone(interpreter.inputs[0].scale)
        x = numpy.zeros((5, 1, 8, 8), numpy.int8)
        y = interpreter.run(x)
        self.assertEqual(y.shape, (5, 10))
        self.assertEqual(thimble.simulate(bytes(compiled), x).tolist(), y.tolist())

    def test_arrays_are_copies_unless_requested(self):
        compiled = thimble.compile(EXPORT, target="cortex-m4", calibration=SAMPLES)
        x = numpy.load(TEST)["x"]
        interpreter = thimble.Interpreter(compiled)
        first = interpreter.run(x[:1])
        kept = first.copy()
        interpreter.run(x[1:2])
        numpy.testing.assert_array_equal(first, kept)
        view = interpreter.run(x[:1], copy=False)
        numpy.testing.assert_array_equal(view, kept)
        self.assertFalse(view.flags.writeable)
        other = interpreter.run(x[1:2], copy=False)
        numpy.testing.assert_array_equal(view, other)  # the same memory
        del interpreter
        self.assertEqual(view.shape, (1, 10))  # it is still mapped


class DocumentTest(unittest.TestCase):
    def test_every_public_name_is_documented(self):
        for name in thimble.__all__:
            value = getattr(thimble, name)
            self.assertTrue(value.__doc__, name)
            for attribute, member in vars(value).items() if python_inspect.isclass(value) else ():
                if attribute.startswith("_") or not (callable(member) or isinstance(member, property)):
                    continue
                self.assertTrue(getattr(member, "__doc__", None), f"{name}.{attribute}")

    def test_parameters_results_and_errors_are_documented(self):
        callables = {name: getattr(thimble, name) for name in thimble.__all__}
        for name, value in list(callables.items()):
            if python_inspect.isclass(value):
                callables |= {f"{name}.{key}": member for key, member in vars(value).items()
                              if not key.startswith("_") and python_inspect.isfunction(member)}
        found = 0
        for name, value in callables.items():
            if not python_inspect.isfunction(value):
                continue
            signature = python_inspect.signature(value)
            names = [each for each in signature.parameters if each != "self"]
            if not names:
                continue
            for each in names:
                self.assertRegex(value.__doc__, rf"(?m)^ *[\w, *]*\b{each}\b", f"{name}: {each}")
            if signature.return_annotation not in (None, "None"):
                self.assertIn("Returns\n", value.__doc__, name)
            found += "Raises\n" in value.__doc__
        self.assertGreater(found, 10)

    def test_version_is_that_of_the_program(self):
        done = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True)
        self.assertEqual(done.stdout.split()[1], thimble.__version__)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
