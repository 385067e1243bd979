#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the flash and the stack of the runtime and of each kernel on each core, as a linker and a core see them.

usage: sections.py [--firmware build/firmware] [--cxx arm-none-eabi-g++] [--check] [CORE...]

A linker with --gc-sections keeps the sections that relocations reach from the application. The script reads the archives
of the firmware's build and of the C library, and follows these relocations from each *root*: the runtime's functions,
each kernel, each delegate. Sections that the same set of roots reaches form a *group*. The code that a set of roots links
is the sum of all groups that one of them needs, so that shared code counts once. Each section counts with its padding.

The stack of a root is the deepest path of calls. A function's frame is the sum of all instructions that lower the stack
pointer. A call through a pointer is resolved by the table INDIRECT in the runtime, and in a kernel by all functions whose
address the kernel's sections contain. A new call through a pointer in the runtime, a frame without a constant size, and a
recursion are errors.

Writes engines/cortex_m/compiler/linked/CORE.def, which engines/cortex_m/compiler/linked_size.cpp reads. --check compares
instead; exit 77 if the compiler is not the one that the tables name.
"""

import argparse
import collections
import functools
import pathlib
import re
import subprocess
import sys

from elf import LOCAL, NOBITS, WRITE, Archive, stack_use

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLES = ROOT / "engines/cortex_m/compiler/linked"
SKIPPED = 77

RUNTIME = ["thimble_size", "thimble_init", "thimble_input", "thimble_set_input", "thimble_run", "thimble_output",
           "thimble_reset"]
STATES = ["thimble_save", "thimble_restore"]
# Namespaces of the delegates' functions, by the id in the file (engines/*/delegate*/backend.h).
DELEGATES = {
    "AxonBackend": "axon_vendor6marker", "EthosUBackend": "ethos_u", "NeutronBackend": "neutron",
    "ThimbleAxonModel": "axon", "ThimbleAxonProgram": "axon_vendor7program", "ThimbleNeutronModel": "neutron"}
# Delegates that drive their NPU without a driver of the vendor.
NO_DRIVER = {"EthosUBackend"}
DELEGATE_FUNCTIONS = ["open", "check", "run", "call_scratch", "persistent_bytes"]
# Members of an executor and of a kernel by offset (runtime/exec/executor.h, kernels/kernels.h).
EXECUTOR = {0: "load", 4: "count", 8: "graph_tensor", 12: "run", 16: "instruction_op"}
KERNEL = {12: "check", 16: "run", 20: "normalize", 24: "bare"}
# Members of BackgroundCalls by offset (runtime/exec/delegates.h).
BACKGROUND = {0: "start", 4: "wait", 8: "overlap", 12: "run_or_start"}
# Functions that a function of the runtime calls through pointers: "E" of the executor, "K" of a kernel, "D" of a delegate.
INDIRECT = {
    "load_model": ["E load"],
    "load_regions": ["E load"],
    "mark_inputs_unset": ["E count", "E graph_tensor"],
    "view_of": ["E count", "E graph_tensor"],
    "count_of": ["E count"],
    "thimble_set_input": ["E count", "E graph_tensor"],
    "thimble_run": ["E count", "E run"],
    "run_calls": ["K bare"],
    "run_decoded": ["K run"],
    "check_call": ["K check"],
    "flatbuffer_executor.o run": ["K run", "K normalize", "D wait_for_it"],
    "normalize_multi_type_args": ["K normalize"],
    "run_delegate": ["D run", "D run_or_start", "D wait_for_it"],
    "start_delegate": ["D run", "D start", "D overlap"],
    "wait_for_delegate": ["D wait"],
    "load_flatbuffer": ["D measure", "K check", "D check_call", "K normalize"],
    "check_all_calls": ["K check", "D check_call", "K normalize"],
    "open_row": ["D open"],
    "measure_delegates": ["D open", "D persistent_bytes", "D call_scratch"],
    "check_delegate_call": ["D open", "D check", "D call_scratch"],
    "check_with_memory": ["D check"],
    "add_call_scratch": ["D call_scratch"],
    # The driver of the vendor or of the application, which is not counted.
    "open": [],
    "read": [],
    "run_words": [],
    "write": [],
    "persistent_bytes_max": ["D persistent_bytes"],
}
# A function that may call itself through others once, with an argument that ends the recursion.
TWICE = {"decode_argument"}
FEW_ARGUMENTS = 6  # kFewArguments of runtime/exec: calls with at most so many use the functions <6ul>, others <20ul>


def base_name(section):
    """Returns the last name of a mangled function: "run_calls" for .text._ZN7thimble...9run_callsILb0E..."""
    name = section.name.removeprefix(".text.").removeprefix("unlikely.")
    if not name.startswith("_ZN"):
        return name
    at, last = 3, name
    if name[at] == "K":
        at += 1
    while at < len(name) and name[at].isdigit():
        length = re.match(r"\d+", name[at:])[0]
        at += len(length)
        last = name[at:at + int(length)]
        at += int(length)
    return last


def operators():
    """Returns the argument letters of each operator."""
    found = {}
    for path in sorted((ROOT / "abi/ops").glob("*.def")):
        for name, letters in re.findall(r'^THIMBLE_(?:PTE|NATIVE)_OP\((\w+), .*?"\S+", .*?"(\w*)"', path.read_text(), re.M):
            found[name] = letters
    return found


def cores():
    """Returns flags and instruction sets of the cores with objects of their own."""
    found = {}
    rows = (ROOT / "engines/cortex_m/compiler/cores.def").read_text()
    thumb1 = re.findall(r'^THIMBLE_CORE\("(\S+)", ".*?", kThumb1,', rows, re.M)
    for name, flags, isa in re.findall(r"^thimble_core\((\S+) \S+ FLAGS (.*?)(?: ISA (.*?))?\)$",
                                       (ROOT / "firmware/cores.cmake").read_text(), re.M):
        found[name] = (flags.split(), [*reversed(isa.split()), "v6m" if name in thumb1 else "v7m", "portable"])
    return found


class Image:
    """The archives of one core, and what is reached from their symbols."""

    def __init__(self, firmware, core, cxx):
        flags, self.variants = cores()[core]
        files = [firmware / core / "libruntime_product.a", firmware / core / "libkernels.a"]
        for name in ("libm.a", "libc.a", "libgcc.a"):
            said = subprocess.run([cxx, *flags, "-mthumb", f"-print-file-name={name}"], check=True, capture_output=True,
                                  text=True).stdout.strip()
            files.append(pathlib.Path(said))
        self.archives = [Archive(path) for path in files]
        self.resolve = functools.lru_cache(maxsize=None)(self._resolve)
        self.target = functools.lru_cache(maxsize=None)(self._target)
        self.frame = functools.lru_cache(maxsize=None)(stack_use)

    def _resolve(self, name):
        for archive in self.archives:
            symbol = archive.find(name)
            if symbol is not None:
                return symbol.section
        return None

    def _target(self, symbol):
        """Returns the section of a symbol; None for a symbol that the application defines, or of a weak reference."""
        if symbol.binding != LOCAL:
            found = self.resolve(symbol.name)
            if found is not None:
                return found
        return symbol.section

    def named(self, pattern):
        """Returns the sections of our archives' symbols that match."""
        return [self.resolve(name) for archive in self.archives[:2] for name in archive.member_of
                if re.fullmatch(pattern, name)]

    def reached(self, roots):
        seen, todo = {}, list(roots)
        while todo:
            section = todo.pop()
            if section is None or section in seen:
                continue
            seen[section] = True
            todo += [self.target(symbol) for symbol, _, _ in section.needs]
        return list(seen)

    def fields(self, section, names):
        """Returns the functions to which a table of function pointers refers, by name."""
        return {names[at]: self.target(symbol) for symbol, _, at in section.needs if at in names}


class Depths:
    """Stack of the paths that begin at a function, for one executor, one kernel and one delegate."""

    def __init__(self, image, executor, kernel=None, arguments=0, delegate=None, pointers=()):
        self.image, self.pointers = image, list(pointers)
        self.runtime = image.archives[0]
        self.of = {"E": image.fields(executor, EXECUTOR) if executor else {},
                   "K": image.fields(kernel, KERNEL) if kernel else {}, "D": delegate or {}}
        # The record executor calls run() only if the kernel has no run_bare() (runtime/exec/record_executor.cpp).
        self.excluded = ["ILm20E" if arguments <= FEW_ARGUMENTS else "ILm6E"]
        if "bare" in self.of["K"]:
            self.excluded.append("11run_decodedI")
        self.known, self.path = {}, []

    def indirect(self, section):
        if section.archive is not self.runtime:
            assert self.pointers, f"{section.name}: a call through a pointer, but no function's address is known"
            return self.pointers
        name = base_name(section)
        if name == "run":  # of the flatbuffer executor: that of the records has no such call
            name = "flatbuffer_executor.o run"
        if name not in INDIRECT:
            raise SystemExit(f"{section.name} calls through a pointer: add it to INDIRECT of {__file__}")
        found = [self.of[word[0]].get(word[2:]) for word in INDIRECT[name]]
        return [target for target in found if target is not None]

    def __call__(self, section):
        if section in self.known:
            return self.known[section]
        used, indirect = self.image.frame(section)
        called = [self.image.target(symbol) for symbol, branch, _ in section.needs if branch]
        if section in self.path and base_name(section) in TWICE:
            called = [target for target in called if target not in self.path]
        elif section in self.path:
            names = " > ".join(base_name(each) for each in [*self.path[self.path.index(section):], section])
            raise SystemExit(f"recursion: {names}")
        self.path.append(section)
        if indirect:
            called += self.indirect(section)
        depth = 0
        for target in called:
            if target is None or not target.is_text or target is section:
                continue
            if target.archive is self.runtime and any(word in target.name for word in self.excluded):
                continue
            depth = max(depth, self(target))
        self.path.pop()
        self.known[section] = used + depth
        return used + depth


class Roots:
    """All roots of a core: what each of them links, and its stack."""

    def __init__(self, image):
        self.image = image
        self.sections, self.stacks = {}, {}
        letters = operators()
        self.records = image.resolve("_ZN7thimble7runtime15record_executorE")
        self.flatbuffer = image.resolve("_ZN7thimble7runtime19flatbuffer_executorE")
        runtime = [image.resolve(name) for name in RUNTIME]
        self.add("runtime", runtime, [max(map(Depths(image, executor), runtime))
                                      for executor in (self.records, self.flatbuffer)])
        states = [image.resolve(name) for name in STATES]
        self.add("states", states, [max(map(Depths(image, executor), states))
                                    for executor in (self.records, self.flatbuffer)])
        self.add("flatbuffer", [self.flatbuffer], [0, 0])
        for name in ("memcpy", "memset"):
            function = image.resolve(name)
            self.add(name, [function], [Depths(image, None)(function), 0])
        for name, namespace in DELEGATES.items():
            self.add_delegate(name, namespace, runtime)
        for name in sorted(letters):
            self.add_kernel(name, len(letters[name]), runtime)

    def add(self, name, roots, stacks):
        self.sections[name] = self.image.reached(roots)
        self.stacks[name] = stacks

    def add_delegate(self, name, namespace, runtime):
        image = self.image
        words = "".join(f"{len(word)}{word}" for word in re.split(r"\d", namespace))
        functions = {}
        for function in DELEGATE_FUNCTIONS:
            found = image.named(f"_ZN7thimble7runtime{words}{len(function)}{function}E.*")
            assert len(found) <= 1, (name, function)
            if found:
                functions[function] = found[0]
        assert "run" in functions, name
        background = image.resolve(f"_ZN7thimble7runtime{words}10backgroundE")
        if background is not None:
            functions |= image.fields(background, BACKGROUND)
            functions["wait_for_it"], = image.named(".*17wait_for_delegate.*")
        functions["measure"], = image.named("_ZN7thimble7runtime17measure_delegates.*")
        functions["check_call"], = image.named("_ZN7thimble7runtime19check_delegate_call.*")
        depth = Depths(image, self.flatbuffer, delegate=functions)
        self.add(name, [*functions.values(), self.flatbuffer], [0, max(map(depth, runtime))])

    def add_kernel(self, name, arguments, runtime):
        image = self.image
        for variant in image.variants:
            symbol = f"{variant}_{name}"
            kernel = image.resolve(f"_ZN7thimble7kernels{len(symbol)}{symbol}E")
            if kernel is not None:
                break
        assert kernel is not None, name
        taken = self.taken(kernel)
        stacks = []
        for executor in (self.records, self.flatbuffer):
            depth = Depths(image, executor, kernel, arguments, pointers=taken + self.list_items(executor))
            stacks.append(max(map(depth, runtime)))
        self.add(name, [kernel], stacks)
        bare = image.resolve(f"thimble_run_{symbol}")
        call = bare or image.resolve(f"thimble_call_{symbol}")
        depth = Depths(image, None, kernel, arguments, pointers=taken + image.named(".*14list_item_of_c.*"))
        self.add(("run " if bare else "call ") + name, [call], [depth(call), 0])

    def taken(self, kernel):
        """Returns the functions whose address a section of the kernel holds, except those of its own table."""
        found = {}
        for section in self.image.reached([kernel]):
            if section is kernel:
                continue
            for symbol, branch, _ in section.needs:
                target = self.image.target(symbol)
                if not branch and target is not None and target.is_text and target is not section:
                    found[target] = True
        return list(found)

    def list_items(self, executor):
        """Returns the functions with which a kernel reads the tensors of a list argument."""
        return [section for section in self.image.reached([executor]) if section.is_text and "list_item" in section.name]


def table(core, image, compiler):
    roots = Roots(image)
    reached_by = collections.defaultdict(list)
    for name, sections in roots.sections.items():
        for section in sections:
            reached_by[section].append(name)
    flash, ram = collections.Counter(), collections.Counter()
    for section, names in reached_by.items():
        key = tuple(names)
        flash[key] += 0 if section.kind == NOBITS else section.padded
        ram[key] += section.padded if section.flags & WRITE else 0
    shared = sorted(key for key in set(flash) | set(ram) if len(key) > 1)
    number = {key: i for i, key in enumerate(shared)}
    lines = [f"// Sizes of linked code for {core}, written by benchmarks/sizes/sections.py; do not edit.",
             f'THIMBLE_LINK_CORE("{core}", "{compiler}")']
    lines += [f"THIMBLE_LINK_GROUP({flash[key]}, {ram[key]})  // {number[key]}" for key in shared]
    for name in roots.sections:
        own = (name,)
        needs = " ".join(str(number[key]) for key in shared if name in key)
        stacks = roots.stacks[name]
        label, form = name, "THIMBLE_LINK_PART"
        if name in operators():
            label, form = name, "THIMBLE_LINK_KERNEL"
        elif " " in name:
            kind, label = name.split()
            form = "THIMBLE_LINK_C_RUN" if kind == "run" else "THIMBLE_LINK_C_CALL"
        else:
            label = f'"{name}"'
            if name in DELEGATES.keys() - NO_DRIVER:
                form = "THIMBLE_LINK_DRIVER_PART"
        lines.append(f'{form}({label}, {flash[own]}, {ram[own]}, {stacks[0]}, {stacks[1]}, "{needs}")')
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--firmware", type=pathlib.Path, default=ROOT / "build/firmware")
    parser.add_argument("--cxx", default="arm-none-eabi-g++")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("cores", nargs="*", default=list(cores()))
    arguments = parser.parse_args()
    compiler = subprocess.run([arguments.cxx, "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()
    wrong = []
    TABLES.mkdir(exist_ok=True)
    for core in arguments.cores:
        path = TABLES / f"{core.replace('-', '_')}.def"
        if arguments.check:
            recorded = re.search(r'THIMBLE_LINK_CORE\("\S+", "gcc (\S+)"\)', path.read_text())[1]
            if recorded != compiler:
                print(f"skipped: {path.name} holds for gcc {recorded}, this is {compiler}")
                return SKIPPED
        text = "// SPDX-License-Identifier: Apache-2.0\n" + table(core, Image(arguments.firmware, core, arguments.cxx), f"gcc {compiler}")
        if not arguments.check:
            path.write_text(text)
        elif path.read_text() != text:
            wrong.append(core)
    for core in wrong:
        print(f"{core}: the table is not that of the archives; to update it: {pathlib.Path(__file__).relative_to(ROOT)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
