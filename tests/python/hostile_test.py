# SPDX-License-Identifier: Apache-2.0
"""Wrong uses of the package raise an exception that says what is wrong. None ends the process.

usage: hostile_test.py THIMBLE SOURCE_FOLDER [-v] [TEST]
"""

import collections
import concurrent.futures
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import numpy
import thimble_ml as thimble

SOURCE = pathlib.Path(sys.argv[2])
DIGITS = SOURCE / "models" / "digits_cnn"
EXPORT, SAMPLES = DIGITS / "digits_cnn.pt2", DIGITS / "calibrate.npz"
# A network whose compilation takes several seconds.
SLOW = SOURCE / "models" / "mobilenet_v1_vww"
X = numpy.load(SAMPLES)["x"]


def compile(calibration=X, target="cortex-m55", **options):
    return thimble.compile(EXPORT, target=target, calibration=calibration, **options)


def run_script(text, **options):
    """Runs a Python program with the package. Returns the completed process."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True,
                          text=True, timeout=120, **options)


def square_in_child(queue, path):
    try:
        interpreter = thimble.Interpreter(path)
        queue.put(interpreter.run(X[:1]).tolist())
    except BaseException as error:
        queue.put(repr(error))


class HostileTest(unittest.TestCase):
    def test_wrong_dtype(self):
        for data in (X.astype(numpy.complex64), X.astype(numpy.uint64), X.astype("U4"),
                     X.astype(object), numpy.zeros(3, "datetime64[s]")):
            with self.subTest(data.dtype), self.assertRaises(thimble.BadInput) as caught:
                compile(data)
            self.assertIn("calibration", str(caught.exception))
        interpreter = thimble.Interpreter(compile())
        for data in (X[:1].astype(numpy.int32), X[:1].astype(numpy.float16), X[:1].astype("S1")):
            with self.subTest(data.dtype), self.assertRaises(thimble.BadInput):
                interpreter.run(data)

    def test_wrong_shape(self):
        for data in (X[:, :, :7], X[0, 0, 0], numpy.zeros((0, 1, 8, 8), numpy.float32),
                     numpy.float32(1), [X[0], X[1, :, :4]], [(X[:1], X[:1], X[:1])], []):
            with self.assertRaises(thimble.BadInput):
                compile(data)
        interpreter = thimble.Interpreter(compile())
        for inputs in ((X[:1, :, :7],), (), (X[:1], X[:1])):
            with self.assertRaises(thimble.BadInput) as caught:
                interpreter.run(*inputs)
            self.assertIn("expected", str(caught.exception))

    def test_not_contiguous(self):
        compiled = compile()
        interpreter = thimble.Interpreter(compiled)
        for data in (X[:1, :, ::-1], X[:1].transpose(0, 1, 3, 2), numpy.asfortranarray(X[:1]),
                     X[:1].astype(">f4")):
            numpy.testing.assert_array_equal(interpreter.run(data),
                                             interpreter.run(numpy.array(data, "<f4", order="C")))
        raw = numpy.zeros(X[:1].nbytes + 1, numpy.uint8)
        misaligned = raw[1:].view(numpy.uint8).data.cast("B")
        data = numpy.frombuffer(misaligned, numpy.float32).reshape(X[:1].shape)
        numpy.testing.assert_array_equal(interpreter.run(data), interpreter.run(data.copy()))

    def test_nan_calibration(self):
        for value in (numpy.nan, numpy.inf, -numpy.inf):
            data = X.copy()
            data[3, 0, 1, 2] = value
            with self.assertRaisesRegex(thimble.BadInput, "element"):
                compile(data)

    def test_interrupted(self):
        script = f"""
            import time
            import thimble_ml as thimble
            print("started", flush=True)
            try:
                while True:
                    thimble.compile({str(SLOW / 'mobilenet_v1_vww.pt2')!r}, target="corstone-300",
                                    calibration={str(SLOW / "calibrate.npz")!r}, tune=True)
            except KeyboardInterrupt:
                print("interrupted", time.time(), flush=True)
        """
        for delay in (0.3, 1.0, 2.0):
            child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)],
                                     stdout=subprocess.PIPE, text=True)
            self.assertEqual(child.stdout.readline(), "started\n")
            time.sleep(delay)
            sent = time.time()
            child.send_signal(signal.SIGINT)
            word, when = child.stdout.readline().split()
            self.assertEqual(word, "interrupted")
            self.assertLess(float(when) - sent, 1.0)
            self.assertEqual(child.wait(60), 0)
            child.stdout.close()

    def test_interrupted_board(self):
        script = f"""
            import time
            import numpy
            import thimble_ml as thimble
            m = thimble.compile({str(EXPORT)!r}, target="cortex-m55", calibration={str(SAMPLES)!r})
            x = numpy.zeros((20000, 1, 8, 8), numpy.float32)
            print("started", flush=True)
            try:
                m.run(x, on="qemu")
            except KeyboardInterrupt:
                print("interrupted", time.time(), flush=True)
        """
        if shutil.which("qemu-system-arm") is None:
            self.skipTest("no qemu-system-arm")
        child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)],
                                 stdout=subprocess.PIPE, text=True)
        self.assertEqual(child.stdout.readline(), "started\n")
        time.sleep(1)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        words = child.stdout.readline().split()
        self.assertEqual(words[:1], ["interrupted"])
        self.assertLess(float(words[1]) - sent, 1.0)
        child.wait(60)
        child.stdout.close()

    def test_threads(self):
        compiled = compile()
        expected = compiled.run(X[:4])
        interpreter = thimble.Interpreter(compiled)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            with self.assertRaisesRegex(thimble.WrongThread, "each thread"):
                pool.submit(interpreter.run, X[:1]).result()
            runs = [pool.submit(lambda: thimble.Interpreter(compiled).run(X[:4])) for _ in range(16)]
            for run in runs:
                numpy.testing.assert_array_equal(run.result(), expected)
            compilations = [pool.submit(compile) for _ in range(4)]
            for each in compilations:
                self.assertEqual(bytes(each.result()), bytes(compiled))
        numpy.testing.assert_array_equal(interpreter.run(X[:4]), expected)

    def test_other_threads_run_during_a_compilation(self):
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        ticker = threading.Thread(target=tick)
        ticker.start()
        begin = time.monotonic()
        for _ in range(3):
            compile(tune=True)
        end = time.monotonic()
        stop.set()
        ticker.join()
        inside = [each for each in ticks if begin < each < end]
        self.assertGreater(len(inside), (end - begin) * 20)

    def test_fork(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "net.pte"
            compiled = compile()
            compiled.save(path)
            interpreter = thimble.Interpreter(path)
            expected = interpreter.run(X[:1]).tolist()
            context = multiprocessing.get_context("fork")
            queue = context.Queue()
            children = [context.Process(target=square_in_child, args=(queue, path)) for _ in range(3)]
            # The interpreter of the parent works in a child too: it is a copy.
            children.append(context.Process(
                target=lambda: queue.put(interpreter.run(X[:1]).tolist())))
            for child in children:
                child.start()
            for _ in children:
                self.assertEqual(queue.get(timeout=60), expected)
            for child in children:
                child.join(60)
                self.assertEqual(child.exitcode, 0)
            # A compilation in a child, with its threads.
            with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
                for each in pool.map(compile, [X, X]):
                    self.assertEqual(bytes(each), bytes(compiled))

    def test_closed_stdout(self):
        done = run_script(f"""
            import os
            os.close(0); os.close(1); os.close(2)
            import thimble_ml as thimble
            m = thimble.compile({str(EXPORT)!r}, target="cortex-m55", calibration={str(SAMPLES)!r})
            import numpy
            m.run(numpy.zeros((1, 1, 8, 8), numpy.float32))
            try:
                m.run(numpy.zeros((1, 1, 8, 8), numpy.float32), on="qemu")
            except thimble.BadInput:
                pass
            try:
                thimble.compile("nowhere.pt2", target="cortex-m55")
            except thimble.BadInput:
                os._exit(7)
        """)
        self.assertEqual(done.returncode, 7)

    def test_unwritable_files(self):
        compiled = compile()
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "file"
            file.write_bytes(b"")
            for path in (file / "net.pte", pathlib.Path("/proc/net.pte"), name, "/dev/full"):
                with self.subTest(str(path)), self.assertRaises(thimble.BadInput) as caught:
                    compiled.save(path)
                self.assertIn(str(path), str(caught.exception))
            with self.assertRaises(thimble.BadInput):
                compiled.report(file / "x.html")
            for cache in (file, file / "cache", "/proc/cache"):
                with self.assertRaises(OSError) as refused:
                    list(thimble.sweep([EXPORT], "cortex-m4", cache=cache))
                self.assertIn(str(cache), str(refused.exception))
        # Without a folder for temporary files, a model given as bytes cannot be read.
        done = run_script(f"""
            import os
            os.environ["TMPDIR"] = "/nowhere"
            import thimble_ml as thimble
            model = open({str(EXPORT)!r}, "rb").read()
            try:
                thimble.compile(model, target="cortex-m55", calibration={str(SAMPLES)!r})
            except thimble.BadInput as error:
                print(error)
        """)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("temporary", done.stdout)

    def test_two_versions_installed(self):
        # A package whose Python files and extension module have different versions.
        with tempfile.TemporaryDirectory() as name:
            package = pathlib.Path(thimble.__file__).parent
            copy = pathlib.Path(name) / "thimble_ml"
            shutil.copytree(package, copy, symlinks=False, ignore=shutil.ignore_patterns("firmware"))
            module = next(path for path in copy.iterdir() if path.name.startswith("_thimble.")
                          and path.suffix in (".so", ".pyd"))
            module.unlink()
            (copy / "_thimble.py").write_text('__version__ = "0.0.1"\n')
            done = run_script("import thimble_ml", env={**os.environ, "PYTHONPATH": name})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("ImportError", done.stderr)
            self.assertIn("0.0.1", done.stderr)

    def test_pickle_of_another_version(self):
        compiled = compile()
        function, (state,) = compiled.__reduce__()
        other = function((*state[:-1], "0.0.1"))
        self.assertEqual(bytes(other), bytes(compiled))  # results need no compiler
        with self.assertRaisesRegex(thimble.BadInput, "0.0.1"):
            other.report("/tmp/never.html")

    def test_damaged_files(self):
        program = bytes(compile())
        model = EXPORT.read_bytes()
        generator = numpy.random.default_rng(1)
        for content, use in ((program, thimble.Interpreter), (model, lambda data: thimble.compile(
                data, target="cortex-m55", calibration=X))):
            for _ in range(40):
                damaged = bytearray(content)
                for at in generator.integers(0, len(damaged), 20):
                    damaged[at] = generator.integers(0, 256)
                for data in (bytes(damaged), content[: generator.integers(0, len(content))]):
                    try:
                        use(data)
                    except thimble.ThimbleError as error:
                        self.assertTrue(str(error))

    def test_no_samples(self):
        none = numpy.zeros((0, 1, 8, 8), numpy.float32)
        compiled = compile()
        npu = compile(target="corstone-300")
        for use in (lambda: compiled.run(none), lambda: compiled.run(none, on="eval"),
                    lambda: thimble.Interpreter(compiled).run(none[:, None], steps=True),
                    lambda: npu.profile(none, on="host")):
            with self.assertRaisesRegex(thimble.BadInput, "no samples"):
                use()

    def test_a_compiled_model_has_copies_of_its_files(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copy(EXPORT, folder / "net.pt2")
            shutil.copy(SAMPLES, folder / "data.npz")
            compiled = thimble.compile(folder / "net.pt2", target="cortex-m4",
                                       calibration=folder / "data.npz", io="int8")
            expected = compiled.to_c(), compiled.compare(X).sqnr_db
            for change in ("other", "deleted"):
                for path, other in (("net.pt2", "hello_sin/hello_sin.pt2"), ("data.npz", "hello_sin/calibrate.npz")):
                    if change == "other":
                        shutil.copy(SOURCE / "models" / other, folder / path)
                    else:
                        (folder / path).unlink()
                restored = pickle.loads(pickle.dumps(compiled))
                for each in (compiled, restored):
                    self.assertEqual((each.to_c(), each.compare(X).sqnr_db), expected)
                restored.save(folder / "net.pte")
                self.assertEqual((folder / "net.pte").read_bytes(), bytes(compiled))
                self.assertEqual(restored.report()["parameters"], compiled.report()["parameters"])

    def test_bytes_that_are_no_utf8(self):
        with self.assertRaisesRegex(thimble.BadInput, "UTF-8"):
            thimble.Interpreter(os.fsdecode(b"caf\xe9.pte"))
        with self.assertRaisesRegex(thimble.BadInput, "UTF-8"):
            thimble.compile(os.fsdecode(b"caf\xe9.pt2"), target="cortex-m4", calibration="random")
        program = bytes(compile(target="corstone-300"))
        generator = numpy.random.default_rng(2)
        for _ in range(300):
            damaged = bytearray(program)
            for at in generator.integers(0, len(damaged), 3):
                damaged[at] = generator.integers(128, 256)
            try:
                thimble.Interpreter(bytes(damaged))
            except thimble.ThimbleError as error:
                self.assertTrue(str(error))

    def test_arguments_that_are_not_used(self):
        compiled = compile()
        for use in (lambda: compile(calibrate="nowhere.npz"),
                    lambda: thimble.compile(EXPORT, (1, 2), target="cortex-m55", calibration=X),
                    lambda: compiled.run({"input_0": X[:1], "z": X[:1]}),
                    lambda: compiled.run(numpy.ma.array(X[:1], mask=X[:1] > 0)),
                    lambda: compiled.to_c("other"), lambda: compile(X.astype(numpy.longdouble))):
            with self.assertRaises(thimble.BadInput):
                use()
        for use in (lambda: thimble.Interpreter(compiled, steps=True),
                    lambda: compiled.profile(output="/tmp/never")):
            with self.assertRaises(TypeError):
                use()
        with self.assertRaisesRegex(thimble.BadInput, "time_limit: found 0.001, expected a whole"):
            thimble.Interpreter(compiled, on="qemu", time_limit=0.001)

    def test_wrong_names(self):
        compiled = compile()
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "net.pte"
            compiled.save(path)  # without names
            opened = thimble.Interpreter(path)
        numpy.testing.assert_array_equal(compiled.run({"x": X[:1]}), opened.run({"input_0": X[:1]}))
        wrong = {"wrong_name": X[:1]}
        for use, expected in ((lambda: compiled.run(wrong), "x float32[1,1,8,8]"),
                              (lambda: compiled.run({"x": X[:1], "wrong_name": X[:1]}), "x float32[1,1,8,8]"),
                              (lambda: compiled.run({"input_0": X[:1], "wrong_name": X[:1]}), "x float32"),
                              (lambda: compiled.run(wrong, on="eval"), "x float32[1,1,8,8]"),
                              (lambda: thimble.Interpreter(compiled).run(wrong), "x float32[1,1,8,8]"),
                              (lambda: thimble.simulate(compiled, wrong), "x float32[1,1,8,8]"),
                              (lambda: opened.run(wrong), "input_0 float32[1,1,8,8]"),
                              (lambda: compiled.profile(wrong), "x float32[1,1,8,8]"),
                              (lambda: compiled.compare(wrong), "each input: x"),
                              (lambda: compiled.compare({**wrong, "labels": [1]}), "each input: x"),
                              (lambda: compile(wrong), "each input: x"),
                              (lambda: compile([{"x": X[0]}, wrong]), "item 1: found wrong_name"),
                              (lambda: compile({"x": X, "wrong_name": X}), "each input: x"),
                              (lambda: thimble.fit(EXPORT, calibration=wrong, part="cortex-m4"), "each input: x")):
            with self.assertRaises(thimble.BadInput) as caught:
                use()
            self.assertIn("wrong_name", str(caught.exception))
            self.assertIn(expected, str(caught.exception))
        with self.assertRaisesRegex(thimble.BadInput, "0 inputs given, expected 1: x"):
            compiled.run({})

    def test_names_give_the_order(self):
        folder = SOURCE / "models" / "rnn_step"
        data = dict(numpy.load(folder / "calibrate.npz"))
        compiled = thimble.compile(folder / "rnn_step.pt2", target="cortex-m4", calibration=data)
        one = {port.name: numpy.zeros(port.shape, port.dtype) for port in thimble.Interpreter(compiled).inputs}
        self.assertGreater(len(one), 1)
        reverse = dict(reversed(one.items()))
        self.assertEqual(str(compiled.run(one)), str(compiled.run(reverse)))
        if shutil.which("qemu-system-arm") is not None:
            self.assertEqual(compiled.profile(one)["instructions"], compiled.profile(reverse)["instructions"])

    def test_messages_name_no_temporary_file(self):
        model, data = EXPORT.read_bytes(), dict(numpy.load(SAMPLES))
        compiled = thimble.compile(model, target="cortex-m55", calibration=data)
        program = bytes(compiled)
        unsupported = (SOURCE / "tests/data/pt2/lstm_projection.pt2").read_bytes()
        exported, of_compiled = "the exported model", "the compiled model"
        for use, expected in (
                (lambda: thimble.compile(model[:500], target="cortex-m4", calibration=data), exported),
                (lambda: thimble.compile(b"", target="cortex-m4", calibration=data), exported),
                (lambda: thimble.compile(program, target="cortex-m4", calibration=data), exported),
                (lambda: thimble.compile(model, target="cortex-m4"), exported),
                (lambda: thimble.compile(model, target="cortex-m4", calibration=data, memory={"sram": "1K"}), exported),
                (lambda: thimble.compile(unsupported, target="cortex-m4", calibration="random"), "make_cases.py:"),
                (lambda: thimble.annotate(model[:500], target="cortex-m4"), exported),
                (lambda: thimble.fit(model[:500], part="cortex-m4"), exported),
                (lambda: thimble.inspect(program[:100]), of_compiled),
                (lambda: thimble.diff(program, program[:100]), of_compiled),
                (lambda: thimble.diff(program[:100], compiled), of_compiled),
                (lambda: compiled.profile(X[:1], X[:1]), of_compiled),
                (lambda: compiled.compare(data, per_layer=True), of_compiled),
                (lambda: thimble.Interpreter(program[:100]), of_compiled)):
            with self.assertRaises(thimble.ThimbleError) as caught:
                use()
            message = str(caught.exception)
            self.assertIn(expected, message)
            self.assertNotRegex(message, r"thimble-model|^model\.pt[2e]")
            self.assertNotIn(tempfile.gettempdir(), message)

    def test_calibration_of_several_models(self):
        with_array = thimble.fit([EXPORT, EXPORT], part="cortex-m4", calibration=[X, SAMPLES])
        with_paths = thimble.fit([EXPORT, EXPORT], part="cortex-m4", calibration=[SAMPLES, SAMPLES])
        self.assertEqual([row.sqnr_db for row in with_array], [row.sqnr_db for row in with_paths])
        self.assertTrue(thimble.fit([EXPORT, EXPORT], part="cortex-m4", calibration=[None, SAMPLES]))

    def test_wrong_objects(self):
        for model in (None, 3, [EXPORT], object(), {}):
            with self.assertRaises(thimble.BadInput):
                thimble.compile(model, target="cortex-m55", calibration=X)
        for target in (3, None, b"cortex-m4", pathlib.Path):
            with self.assertRaisesRegex(thimble.BadInput, "target: found .*, expected the name of a part"):
                thimble.compile(EXPORT, target=target, calibration=X)
        compiled = compile()
        for path in (b"/nowhere/net.pte", None, 3):
            with self.assertRaisesRegex(thimble.BadInput, "path: found .*, expected str or os.PathLike"):
                compiled.save(path)
        with self.assertRaisesRegex(thimble.BadInput, "path: found bytes"):
            compiled.report(b"/nowhere/net.html")
        with self.assertRaisesRegex(thimble.BadInput, "found str, expected a model of compile"):
            thimble.Compiled("net.pte")
        with self.assertRaisesRegex(thimble.BadInput, r"found the class dict, expected an object: dict\(\)"):
            thimble.compile(dict, (X,), target="cortex-m55")
        with self.assertRaisesRegex(thimble.BadInput, "OrderedDict: a torch.nn.Module"):
            thimble.compile(collections.OrderedDict(), (X,), target="cortex-m55")
        for data in (None, "random"):
            with self.assertRaisesRegex(thimble.BadInput, f"data: found {data!r}, expected samples"):
                compiled.compare(data)
        with self.assertRaisesRegex(thimble.BadInput, "calibration: found 'randm', expected \"random\""):
            compile("randm")
        for options in ({"data": X, "model": EXPORT}, {"data": SAMPLES, "model": compiled}):
            with self.assertRaisesRegex(thimble.BadInput, "(data|model): found .*, expected str or os.PathLike"):
                thimble.diff(compiled, compiled, **options)
        with self.assertRaisesRegex(thimble.BadInput, r"`thimble.targets\(\)` lists"):
            compile(target="cortex-m44")
        for data in (3j, object(), lambda: 0):
            with self.assertRaises(thimble.BadInput):
                compile(data)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
