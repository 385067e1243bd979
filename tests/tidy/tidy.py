"""The house rules that a script can check. Run by ctest; `python3 tests/tidy/tidy.py` from anywhere.

`tidy.py FOLDER` does the same for a folder of THIMBLE_EXTRA_TARGETS, which has the tree's layout.
Prints one line per violation, `file:line: what is wrong`, and exits 1 if there are any.
"""

import re
import subprocess
import sys
from pathlib import Path

OUTSIDE = __name__ == "__main__" and len(sys.argv) > 1  # headers.py imports this file with arguments of its own
ROOT = Path(sys.argv[1] if OUTSIDE else Path(__file__).parents[2]).resolve()

# Who may include whom. A folder may always include itself; what is not listed is forbidden.
# `name/file.h` allows that one file. ARCHITECTURE.md says why.
MAY_INCLUDE = {
    "abi": [],
    "numerics": ["abi"],
    "kernels": ["abi", "numerics"],
    "npu/isa": ["abi"],
    "npu/model": ["abi", "npu/isa"],
    "npu/sim": ["abi", "npu/isa"],
    "npu/text": ["base", "npu/isa"],
    "runtime": ["abi", "kernels/kernels.h", "npu/isa", "engines/axon/model/functions.h"],
    "firmware": ["abi", "runtime", "kernels", "npu/isa", "npu/model", "npu/sim"],
    "base": [],
    "formats": ["base", "abi"],
    "ir": ["base", "numerics"],
    "eval": ["ir", "base"],
    "import": ["ir", "formats", "base", "numerics"],
    "passes": ["ir", "eval", "base", "numerics"],
    "quant": ["ir", "passes", "eval", "base", "numerics"],
    "plan": ["ir", "base", "numerics"],
    "target": ["ir", "passes", "plan", "interchange", "base", "numerics", "abi", "npu/isa",
               "engines/axon/formats/compiled_header.h", "engines/axon/formats/ir_file.h", "engines/axon/formats/program.h",
               "engines/ethos_u/formats/payload.h", "engines/neutron/formats/payload.h",
               "formats/tflite/read.h"],
    "partition": ["ir", "base", "target/target.h"],
    "emit": ["ir", "plan", "formats", "abi", "base", "target/target.h", "target/views.h",
             "kernels/kernels.h"],
    "driver": ["abi", "base", "numerics", "formats", "ir", "eval", "import", "passes", "quant",
               "plan", "target/accesses.h", "target/part.h", "target/strips.h", "target/target.h", "partition", "emit",
               "interchange"],
    "interchange": ["ir", "formats", "base", "numerics"],
    "hostrun": ["runtime", "kernels", "abi", "base", "formats", "ir", "npu/isa", "npu/model",
                "npu/sim"],
    "tools": ["driver", "hostrun", "interchange/tflite.h", "interchange/tosa.h", "base", "formats", "ir", "eval", "emit/c/model.h",
              "emit/layers.h", "emit/decompile.h", "emit/linker_file.h", "import/import.h", "npu/isa", "npu/text",
              "engines/axon/container/marker.h", "engines/axon/compiler/vendor/subgraph_text.h",
              "engines/neutron/compiler/vendor/sdk.h",
              "partition/partition.h", "target/part.h", "passes/pipeline.h", "quant/fast_float.h",
              "quant/simulate.h", "target/target.h"],
}
ANYTHING = {"tests", "benchmarks"}
HOST_FOLDERS = {"base", "formats", "ir", "eval", "import", "passes", "quant", "plan", "target",
                "partition", "emit", "driver", "hostrun", "interchange", "npu/text"}
DEVICE_FOLDERS = {"abi", "numerics", "npu/isa", "npu/model", "npu/sim", "kernels", "runtime",
                  "firmware"}
PUBLIC_HEADERS = {"thimble.h", "thimble_axon.h", "thimble_axon_vendor.h",
                  "thimble_ethos_u.h", "thimble_neutron.h", "thimble_trace.h"}  # of runtime/include, included by bare name
GENERATED_HEADERS = {"program_generated.h": "formats", "tflite_generated.h": "formats",
                     "tosa_generated.h": "formats"}
FUNCTIONS_FROM_HERE = {"kernels/kernels.def": "hostrun"}  # a table, read for its names only

LINES_MAX = 1000
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 100
BLOB_BYTES_MAX = 256 * 1024

# Pipelines and tables read better in one piece: (file, function).
LONG_FUNCTIONS = {("tests/unit/formats_pte_malformed_test.cpp", "TEST")}
# Tables and prose are as long as their content.
COLUMN_LIMIT_IN = (".h", ".cpp", ".c")

BANNED_IN_DEVICE_CODE = {
    r"\bmalloc\s*\(": "malloc: the caller gives memory",
    r"\bfree\s*\(": "free: the caller gives memory",
    r"\bnew\s+(?!\()[A-Za-z_:]+\s*[\[({;]": "new: the caller gives memory",
    r"\bthrow\b": "throw: answer a status",
    r"\bprintf\s*\(": "printf: answer a status, or use firmware/common",
    r"#\s*include\s*<(iostream|string|vector|functional|map)>": "a hosted header",
}
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME)\b")
GENERATED = re.compile(r"(_generated\.h|\.o|\.a|\.so|\.elf|\.pyc|CMakeCache\.txt|cmake_install\.cmake"
                       r"|compile_commands\.json|/CMakeFiles/.*)$")

problems = []


def problem(path, line, message):
    problems.append(f"{path}:{line}: {message}")


def tracked_files():
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True)
    if OUTSIDE or listed.returncode != 0:  # or an archive without its history
        skip = re.compile(r"(^|/)(\.git|build[^/]*|\.cache|__pycache__)(/|$)")
        names = (str(p.relative_to(ROOT)) for p in ROOT.rglob("*") if p.is_file())
        return sorted(name for name in names if not skip.search(name))
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def folder_of(path):
    parts = path.split("/")
    if parts[0] == "npu" and len(parts) > 3:  # engines/ethos_u/sim/...: who may include whom is by part
        return f"npu/{parts[2]}"
    if parts[0] == "npu" and len(parts) == 3:  # engines/axon/container/layers.h: a format, as an isa is
        return "npu/isa"
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


# --- C++ as text -------------------------------------------------------------------------------

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'", re.S)


def blank(match):
    """Spaces of the same shape, so that line numbers stay."""
    text = match.group(0)
    return re.sub(r"[^\n]", " ", text)


def without_comments_and_strings(text):
    return TOKEN.sub(blank, text)


PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def function_lengths(text):
    """(first line, lines, name) of each function body, by counting braces."""
    code = PREPROCESSOR.sub(blank, without_comments_and_strings(text))
    stack = []  # (is a scope that holds functions, start line, head)
    head_start, line, found = 0, 1, []
    for at, letter in enumerate(code):
        if letter == "\n":
            line += 1
        elif letter == ";":
            head_start = at + 1
        elif letter == "{":
            head = code[head_start:at].strip()
            in_scope = all(kind == "scope" for kind, _, _ in stack)
            if re.match(r"(inline\s+)?namespace\b|extern\b\s*$|(template\s*<.*>\s*)?"
                        r"(class|struct|union|enum)\b(?!.*\))", head, re.S):
                kind = "scope"
            elif in_scope and "(" in head and not head.endswith(("=", ",", "(")):
                kind = "function"
            else:
                kind = "block"
            stack.append((kind, line, head))
            head_start = at + 1
        elif letter == "}":
            if stack:
                kind, start, head = stack.pop()
                if kind == "function":
                    name = re.search(r"([~\w:]+)\s*\(", head)
                    found.append((start, line - start + 1, name.group(1) if name else "?"))
            head_start = at + 1
    return found


# --- rules -------------------------------------------------------------------------------------

def may_include(path, target):
    folder = folder_of(path)
    if folder in ANYTHING or folder not in MAY_INCLUDE:
        return True
    if target in FUNCTIONS_FROM_HERE:
        return folder in (FUNCTIONS_FROM_HERE[target], "kernels", "firmware", "runtime")
    if "/" not in target:
        if target in GENERATED_HEADERS:
            return folder == GENERATED_HEADERS[target]
        return target in PUBLIC_HEADERS and folder in ("hostrun", "runtime", "firmware",
                                                     "npu/model")
    first = folder_of(target) if target.startswith("npu/") else target.split("/")[0]
    if first == folder:
        return inside_target(path, target)
    return first in MAY_INCLUDE[folder] or target in MAY_INCLUDE[folder]


def inside_target(path, target):
    """One target knows nothing of another; only the registry names them."""
    here, there = path.split("/"), target.split("/")
    if here[:2] != ["src", "target"] or len(there) < 3:
        return True
    return (len(here) > 3 and here[2] == there[1]) or path == "src/target/registry.cpp"


def check_includes(path, text):
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M):
        target = match.group(1)
        line = text.count("\n", 0, match.start()) + 1
        if not may_include(path, target):
            problem(path, line, f"{folder_of(path)} may not include {target}")


def check_cpp(path, text):
    check_includes(path, text)
    guarded = "#pragma once" in text or "#ifndef" in text
    if path.endswith(".h") and not guarded and folder_of(path) != "examples":
        problem(path, 1, "a header without #pragma once")
    for start, lines, name in function_lengths(text):
        if lines > FUNCTION_LINES_MAX and (path, name) not in LONG_FUNCTIONS:
            problem(path, start, f"{name}: {lines} lines, {FUNCTION_LINES_MAX} allowed")
    if folder_of(path) in DEVICE_FOLDERS and not path.startswith("firmware/qemu_plugin/"):
        code = without_comments_and_strings(text)
        for pattern, message in BANNED_IN_DEVICE_CODE.items():
            for match in re.finditer(pattern, code):
                problem(path, code.count("\n", 0, match.start()) + 1, message)


def check_lines(path, text):
    lines = text.split("\n")
    if len(lines) > LINES_MAX and not path.endswith((".def", ".json", ".csv", ".fbs")):
        problem(path, 1, f"{len(lines)} lines, {LINES_MAX} allowed")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX and path.endswith(COLUMN_LIMIT_IN):
            problem(path, number, f"{len(line)} columns, {COLUMNS_MAX} allowed")
        if UNFINISHED.search(line):
            problem(path, number, "unfinished work belongs into an issue")
        if line != line.rstrip() and not path.endswith((".md", ".ir", ".json")):
            problem(path, number, "white space at the end of the line")


def sort_key(row, within):
    """What rows are ordered by: the first argument, or with `within a variant` the second."""
    words = re.findall(r'"[^"]*"|[\w:.]+', row)
    if within == "variant":
        return words[1:3]
    return words[1:2] if re.match(r"\s*\w+\(", row) else words[:1]


def check_sorted(path, text):
    """Rows behind a `keep-sorted` comment, in pieces between blank lines and comments; to the end
    of a table, or of the file."""
    lines = text.split("\n")
    for start, line in enumerate(lines):
        found = re.search(r"(?://|#).*\bkeep-sorted\b(?: within a (\w+))?", line)
        if not found or path.startswith("tests/tidy/"):
            continue
        within, previous = found.group(1), None
        for number, row in enumerate(lines[start + 1:], start + 2):
            if row.startswith(("};", ")")):
                break
            if not row.strip() or row.lstrip().startswith(("//", "#")):
                previous = None
                continue
            for piece in re.findall(r'\{("[^"]*")', row) or [row]:
                if not re.match(r'\s*(\w+\(|"|\{)', piece):
                    continue
                key = sort_key(piece, within)
                same = previous and (within != "variant" or key[0] == previous[0])
                if same and key < previous:
                    problem(path, number, f"not sorted: {' '.join(key)} behind {' '.join(previous)}")
                previous = key


def check_page(path, text):
    titles, fenced = 0, False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        titles += not fenced and bool(re.match(r"# ", line))
    if titles != 1:
        problem(path, 1, f"{titles} titles (`# `), one expected")


def check_file(path):
    if GENERATED.search(path):
        problem(path, 1, "generated files are not kept")
    data = (ROOT / path).read_bytes()
    if len(data) > BLOB_BYTES_MAX and not path.startswith("models/"):
        problem(path, 1, f"{len(data)} bytes, {BLOB_BYTES_MAX} allowed outside models/")
    if b"\0" in data[:4096] or path == "LICENSE":
        return
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return
    check_lines(path, text)
    check_sorted(path, text)
    if path.endswith((".h", ".cpp", ".c", ".def")):
        check_cpp(path, text)
    if path.endswith(".md"):
        check_page(path, text)


def main():
    unknown = {folder_of(p) for p in tracked_files() if p.startswith("src/") and p.count("/") > 1}
    for folder in sorted(unknown - HOST_FOLDERS):
        problem(f"src/{folder}", 1, "no row in MAY_INCLUDE of tests/tidy/tidy.py")
    for path in tracked_files():
        check_file(path)
    if OUTSIDE and not any(p.startswith("src/target/") for p in tracked_files()):
        problem(str(ROOT), 1, "no src/target/ in this folder")
    for line in problems:
        print(line)
    print(f"tidy: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
