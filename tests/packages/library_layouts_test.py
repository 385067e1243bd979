# SPDX-License-Identifier: Apache-2.0
"""`thimble export-sources --layout arduino` and `cmsis`: a library for Arduino and PlatformIO, and a CMSIS pack. Each compiles
with the flags of boards, and its own example links.

usage: library_layouts_test.py SOURCE_DIR BUILD_DIR [Layouts.TEST...]

With the environment variable CMSIS_PACK_SCHEMA, a path of PACK.xsd of the Open-CMSIS-Pack specification, and xmllint or Python's
lxml, the pack is also validated.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

SOURCE, BUILD = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
PROGRAM = BUILD / "thimble"
# Flags of the Arduino cores for Nano 33 BLE and UNO R4, and of the core of an M0+ board with the standard that the library asks for.
BOARDS = {"cortex-m4": ["-mcpu=cortex-m4", "-mfloat-abi=softfp", "-mfpu=fpv4-sp-d16", "-mthumb", "-Os", "-std=gnu++17"],
          "cortex-m0plus": ["-mcpu=cortex-m0plus", "-mthumb", "-Os", "-std=gnu++17"]}
ARDUINO = """#pragma once
#include <stddef.h>
#include <stdint.h>
struct Port {
  void begin(long) {}
  void print(int) {}
  void print(char) {}
  void println(const char*) {}
  void println() {}
};
static Port Serial;
static void delay(int) {}
void setup();
void loop();
"""
# The categories that the Arduino library specification allows.
CATEGORIES = {"Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage",
              "Data Processing", "Other"}


def run(*command, code=0):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


class Layouts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def export(self, name, core, layout):
        model = SOURCE / "models" / name
        pte = self.path / f"{name}.pte"
        run(PROGRAM, "compile", model / f"{name}.pt2", "--target", core, "--calibrate", model / "calibrate.npz", "-o", pte)
        folder = self.path / name
        run(PROGRAM, "export-sources", "--core", core, "--model", pte, "--layout", layout, folder)
        for file in folder.rglob("*"):
            if file.suffix in (".cpp", ".h", ".hpp", ".def", ".c", ".ino", ".yml", ".pdsc"):
                self.assertIn("SPDX-License-Identifier: Apache-2.0", file.read_text()[:2000], file)
        self.assertIn("Apache License", (folder / "LICENSE").read_text())
        return folder

    def link(self, flags, include, sources, program):
        """Compiles all sources in one process, links them with `program`, and returns the image."""
        launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
        objects = []
        for source in [*sources, program]:
            compiler = "arm-none-eabi-gcc" if source.suffix == ".c" else "arm-none-eabi-g++"
            options = [flag for flag in flags if source.suffix != ".c" or not flag.startswith("-std=")]
            if source.suffix != ".c":
                options += ["-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"]
            objects.append(self.path / (re.sub(r"\W", "_", str(source.relative_to(self.path))) + ".o"))
            run(*launcher, compiler, *options, "-ffunction-sections", "-fdata-sections", f"-I{include}", "-c", source, "-o", objects[-1])
        image = self.path / "image.elf"
        run("arm-none-eabi-g++", *flags, *objects, "-Wl,--gc-sections", "--specs=nosys.specs", "--specs=nano.specs", "-Wl,-w", "-o", image)
        return image

    def check_arduino(self, name, core):
        folder = self.export(name, core, "arduino")
        properties = dict(line.split("=", 1) for line in (folder / "library.properties").read_text().splitlines())
        self.assertEqual(set(properties), {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
                                           "architectures", "includes", "license"})
        self.assertRegex(properties["name"], r"^[A-Za-z0-9][A-Za-z0-9_. -]{0,62}$")
        self.assertRegex(properties["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn(properties["category"], CATEGORIES)
        self.assertRegex(properties["url"], r"^https://")
        self.assertTrue(all(properties.values()), properties)
        self.assertTrue((folder / "src" / properties["includes"]).is_file())
        self.assertEqual(folder.name, properties["name"])
        # Rules LD001, LD002, LS005 to LS007, SS001 and SS003 of arduino-lint.
        self.assertIn(f"# {name}\n", (folder / "README.md").read_text())
        self.assertTrue((folder / "LICENSE").is_file())
        for path in folder.rglob("*"):
            self.assertFalse(path.is_symlink() or path.suffix == ".exe" or path.name == ".development", path)
        self.assertLessEqual(len(name), 63)

        library = json.loads((folder / "library.json").read_text())
        self.assertEqual((library["name"], library["version"]), (properties["name"], properties["version"]))
        self.assertTrue((folder / "src" / library["headers"]).is_file())
        self.assertIn("-std=gnu++17", library["build"]["flags"])

        sketch = folder / f"examples/{name}/{name}.ino"
        program = self.path / "sketch.cpp"
        program.write_text(f"{ARDUINO}{sketch.read_text()}\nint main() {{\n  setup();\n  for (;;) loop();\n}}\n")
        image = self.link(BOARDS[core], folder / "src", sorted((folder / "src").rglob("*.cpp")), program)
        symbols = run("arm-none-eabi-nm", "-C", image).stdout
        self.assertIn(f"{name}_pte", symbols)
        self.assertIn("thimble_run", symbols)

    def test_arduino_digits(self):
        self.check_arduino("digits_cnn", "cortex-m4")
        # Without flags of the project, floats are not contracted.
        dump = run("arm-none-eabi-objdump", "-d", self.path / "image.elf").stdout
        self.assertIn("vmul.f32", dump)
        self.assertNotRegex(dump, r"\bvfn?m[as]\.f32")

    def test_arduino_keywords_without_dsp(self):
        self.check_arduino("dscnn_kws", "cortex-m0plus")

    def test_cmsis_pack(self):
        folder = self.export("digits_cnn", "cortex-m4", "cmsis")
        pdsc = folder / "Thimble.digits_cnn.pdsc"
        package = ElementTree.parse(pdsc).getroot()
        self.assertEqual(pdsc.name, f"{package.findtext('vendor')}.{package.findtext('name')}.pdsc")
        self.assertTrue((folder / package.findtext("license")).is_file())
        self.assertRegex(package.findtext("url"), r"^https://")
        conditions = {condition.get("id") for condition in package.iter("condition")}
        components = {component.get("Csub"): component for component in package.iter("component")}
        self.assertEqual(set(components), {"Runtime", "Kernels", "digits_cnn"})
        self.assertEqual([each.get("Dcore") for each in package.iter("require") if each.get("Dcore")], ["Cortex-M4"])
        required = {each.get("Csub") for each in package.iter("require") if each.get("Csub")}
        self.assertEqual(required, {"Runtime", "Kernels"})
        listed = []
        for component in components.values():
            self.assertIn(component.get("condition"), conditions)
            self.assertTrue(component.get("Cversion"))
            listed += [file.get("name") for file in component.iter("file") if file.get("category") != "include"]
        there = sorted(str(path.relative_to(folder)) for path in (folder / "src").rglob("*") if path.is_file())
        self.assertEqual(sorted(listed), there, "each file belongs to one component")
        example = package.find("examples/example")
        project = folder / example.get("folder")
        self.assertTrue((project / example.get("doc")).is_file())
        solution = (project / example.find("project/environment").get("load")).read_text()
        self.assertTrue((project / re.search(r"project: (\S+)", solution)[1]).is_file())
        named = re.findall(r"component: Machine Learning:Thimble:(\S+)", (project / "digits_cnn.cproject.yml").read_text())
        self.assertEqual(set(named), set(components))

        sources = [path for path in sorted((folder / "src").rglob("*.cpp"))]
        image = self.link([*BOARDS["cortex-m4"], "-DTHIMBLE_TRACE=0"], folder / "src", sources, project / "main.c")
        self.assertIn("thimble_run", run("arm-none-eabi-nm", image).stdout)

    def test_the_schema_of_packs(self):
        schema = os.environ.get("CMSIS_PACK_SCHEMA")
        if not schema:
            self.skipTest("CMSIS_PACK_SCHEMA is not set: a path of PACK.xsd")
        pdsc = self.export("digits_cnn", "cortex-m0plus", "cmsis") / "Thimble.digits_cnn.pdsc"
        run("xmllint", "--noout", "--schema", schema, pdsc) if shutil.which("xmllint") else self.validate(schema, pdsc)

    def validate(self, schema, pdsc):
        try:
            from lxml import etree
        except ImportError:
            self.skipTest("xmllint and Python's lxml are missing")
        etree.XMLSchema(etree.parse(schema)).assertValid(etree.parse(str(pdsc)))

    def test_an_npu_is_a_component(self):
        model = SOURCE / "models/digits_cnn"
        pte = self.path / "digits.pte"
        run(PROGRAM, "compile", model / "digits_cnn.pt2", "--target", "corstone-300", "--npu-small", "--calibrate",
            model / "calibrate.npz", "-o", pte)
        run(PROGRAM, "export-sources", "--core", "corstone-300", "--model", pte, "--layout", "cmsis", self.path / "out")
        package = ElementTree.parse(self.path / "out/Thimble.digits.pdsc").getroot()
        self.assertIn("Delegate ethos_u", {component.get("Csub") for component in package.iter("component")})
        self.assertIn("Cortex-M55", {each.get("Dcore") for each in package.iter("require")})

    def test_an_unknown_layout(self):
        run(PROGRAM, "export-sources", "--core", "cortex-m4", "--model", self.path / "x.pte", "--layout", "keil", self.path / "out",
            code=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
