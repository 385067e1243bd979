# SPDX-License-Identifier: Apache-2.0
"""Uses the wheel as a user does: installed in a virtual environment without compilers and without a network.

usage: wheel_test.py SOURCE_DIR BUILD_DIR CLASS

CLASS is Wheel, Notebook, or Sdist: the wheel built from the source distribution, in another folder and without compiler cache,
has the same bytes. build.py has built what each of them reads. Exits with 77 if there is no wheel.
"""

import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

import build

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
FOLDER = BUILD / "wheel"
WHEEL = next((FOLDER / "dist").glob("*.whl"), None)
TOOLS, NUMPY = FOLDER / "tools", FOLDER / "numpy"
SKIPPED = 77
MODEL = SOURCE / "models/digits_cnn"
NOTEBOOK = "which_chip"  # needs no package beyond the wheel's
BYTES_MAX = 8_000_000
# The benchmark prints the times; the limits here are for a loaded machine.
SECONDS_MAX = {"install": 60, "import": 2, "host": 15, "qemu": 25}

sys.path.insert(0, str(SOURCE / "benchmarks/wheel"))
import wheel as benchmark  # noqa: E402


def new_venv(name):
    shutil.rmtree(FOLDER / name, ignore_errors=True)
    return benchmark.Venv(FOLDER / name, ["qemu-system-arm"])


class WheelTest(unittest.TestCase):
    wheel = WHEEL

    def tool(self, name, *arguments):
        done = subprocess.run([TOOLS / "bin" / name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, env=build.environment(TOOLS))
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def members(self, wheel=WHEEL):
        with zipfile.ZipFile(wheel) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


class Wheel(WheelTest):
    @classmethod
    def setUpClass(cls):
        cls.venv = new_venv("venv")
        cls.values = benchmark.measure(cls.venv, cls.wheel, NUMPY, ["host", "qemu"], repetitions=1)

    def thimble(self, *arguments):
        return self.venv.run("thimble", *map(str, arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_checkers_accept_it(self):
        shown = self.tool("auditwheel", "show", self.wheel)
        print(self.wheel.name, self.wheel.stat().st_size, "bytes:", " ".join(shown.split()))
        tag = re.search(r"(manylinux_\d+_\d+_\w+)\.whl$", self.wheel.name)
        self.assertTrue(tag and tag[1] in shown, shown)
        self.tool("twine", "check", "--strict", self.wheel)
        self.tool("check-wheel-contents", "--config", SOURCE / "pyproject.toml", self.wheel)

    def test_contents(self):
        members = self.members()
        self.assertLess(self.wheel.stat().st_size, BYTES_MAX)
        folder = "thimble_ml/lib/thimble/firmware/"
        images = {name.removeprefix(folder)[:-4]: data for name, data in members.items()
                  if name.startswith(folder) and name.endswith(".elf")}
        self.assertEqual(len(set(images.values())), len(images))
        equal = dict(line.split() for line in members[folder + "equal_images.txt"].decode().splitlines())
        self.assertLessEqual(set(equal.values()), set(images))
        self.assertEqual(equal.keys() | images.keys(), {path.stem for path in (BUILD / "firmware").glob("runner*.elf")})
        for image in images.values():
            self.assertNotIn(b".symtab", image)
        for name in ("thimble_ml/bin/thimble", "thimble_ml/libthimble_core.so", "thimble_ml/include/thimble.h",
                     "thimble_ml/share/thimble/cmake/thimble-config.cmake",
                     "thimble_ml/share/thimble/device/kernels/kernels.def", "thimble_ml/share/thimble/targets/stm32h743.toml",
                     "thimble_ml/share/thimble/licenses/libeigen3-dev.txt", "thimble_ml/share/thimble/licenses/nanobind.txt",
                     "thimble_ml/share/thimble/device/thimble.cdx.json"):
            self.assertIn(name, members)
        sbom = json.loads(members["thimble_ml/share/thimble/thimble.cdx.json"])
        self.assertLessEqual({"Eigen", "fmt", "nanobind", "newlib", "robin-map"}, {each["name"] for each in sbom["components"]})
        metadata = next(data for name, data in members.items() if name.endswith(".dist-info/METADATA")).decode()
        required = re.findall(r"^Requires-Dist: (.*)$", metadata, re.M)
        self.assertEqual([each for each in required if "extra ==" not in each], ["numpy"])
        # The page of PyPI is not next to the files of the source tree.
        self.assertIn("pip install thimble-ml", metadata)
        self.assertEqual(re.findall(r"\]\((?!https?://)[^)]*\)", metadata), [])
        for name, data in members.items():
            for folder in (SOURCE, BUILD, pathlib.Path.home()):
                at = data.find(f"{folder}/".encode())
                self.assertEqual(at, -1, f"{name} has a path of this machine: {data[at:at + 200]}")

    def test_no_library_is_needed_beyond_the_system(self):
        own = {"bin/thimble": {"libthimble_core"}, "bin/thimble-axon-sdk": set(), "libthimble_core.so": set()}
        for name in own:
            installed = self.venv.python(f"import thimble_ml as t; print(t.__path__[0] + '/{name}')").strip()
            needed = subprocess.run(["readelf", "-d", installed], check=True, stdout=subprocess.PIPE, text=True).stdout
            libraries = set(re.findall(r"NEEDED.*\[(.*?)\.so", needed))
            self.assertLessEqual(libraries - own[name], {"libc", "libgcc_s", "libm", "libstdc++", "libz", "ld-linux-x86-64",
                                                         "ld-linux-aarch64"})

    def test_the_program_compiles_runs_and_profiles(self):
        pte = FOLDER / "digits.pte"
        done = self.thimble("compile", MODEL / "digits_cnn.pt2", "--target", "cortex-m55", "--calibrate",
                            MODEL / "calibrate.npz", "-o", pte)
        self.assertEqual(done.returncode, 0, done.stdout)
        results = {}
        for program in (self.venv.folder / "bin/thimble", BUILD / "thimble"):
            done = subprocess.run([program, "run", pte, "--on", "qemu", "--profile", "--json"], check=True,
                                  stdout=subprocess.PIPE, env=self.venv.environment)
            results[program] = json.loads(done.stdout)
        first, second = results.values()
        self.assertGreater(len(first["ops"]), 5)
        self.assertTrue(all(op["instructions"] > 0 for op in first["ops"]), first)
        self.assertEqual(first["ops"], second["ops"], "an image without symbols gives another profile")

    def test_the_program_has_the_sources_for_firmware(self):
        done = self.thimble("compile", MODEL / "digits_cnn.pt2", "--target", "cortex-m4", "--calibrate", "random", "--emit",
                            "c", "--out-dir", FOLDER / "c")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(list((FOLDER / "c").rglob("*.c")))

    def test_without_the_emulator_the_message_names_its_package(self):
        pte = FOLDER / "small.pte"
        self.thimble("compile", SOURCE / "models/hello_sin/hello_sin.pt2", "--target", "cortex-m4", "--calibrate", "random",
                     "-o", pte)
        path = {**self.venv.environment, "PATH": f"{self.venv.folder}/bin"}
        done = subprocess.run([self.venv.folder / "bin/thimble", "run", pte, "--on", "qemu", "--profile"], env=path,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("the package qemu-system-arm", done.stdout)

    def test_main_job_and_its_times(self):
        print(json.dumps(self.values))
        for name, limit in SECONDS_MAX.items():
            self.assertLess(self.values[name], limit, name)


class Notebook(WheelTest):
    def test_a_notebook(self):
        venv = new_venv("notebook")
        venv.install(self.wheel, folders=[NUMPY])
        # The packages that execute notebooks are those of the tools, so that none is installed a second time.
        packages, own = (next(folder.glob("lib/python*/site-packages")) for folder in (TOOLS, venv.folder))
        (own / "tools.pth").write_text(f"{packages}\n")
        done = venv.run("python", SOURCE / "tests/docs/notebooks_test.py", SOURCE, BUILD, venv.folder / "bin/python", NOTEBOOK,
                        "--installed", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        print(done.stdout.splitlines()[0])


class Sdist(WheelTest):
    def test_the_source_distribution_gives_the_same_wheel(self):
        sdist, = (FOLDER / "sdist").glob("*.tar.gz")
        wheel, = (FOLDER / "from_sdist").glob("*.whl")
        self.tool("twine", "check", "--strict", sdist)
        self.assertEqual(wheel.name, self.wheel.name)
        own, other = self.members(), self.members(wheel)
        self.assertEqual(sorted(own), sorted(other))
        self.assertEqual([name for name in own if own[name] != other[name]], [])
        digests = [hashlib.sha256(each.read_bytes()).hexdigest() for each in (wheel, self.wheel)]
        self.assertEqual(*digests)


def main():
    if WHEEL is None:
        print(f"skipped: no wheel in {FOLDER / 'dist'}: build.py makes it")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)


if __name__ == "__main__":
    main()
