# SPDX-License-Identifier: Apache-2.0
"""The rules of CONTRIBUTING.md that a script can check. ctest runs it; `python3 tests/tidy/tidy.py` runs anywhere.

`tidy.py FOLDER` checks a folder of THIMBLE_EXTRA_TARGETS, which has the tree's layout. `tidy.py --bless`
writes the table of include rules in ARCHITECTURE.md. Prints one line per violation, `file:line: what is
wrong`, and exits 1 if there are any. The data is in include_rules.txt and words.txt.
"""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLESS = "--bless" in sys.argv[1:]
FOLDERS = [word for word in sys.argv[1:] if not word.startswith("--")] if __name__ == "__main__" else []
OUTSIDE = bool(FOLDERS)
ROOT = Path(FOLDERS[0] if OUTSIDE else HERE.parents[1]).resolve()


def read_rules():
    """{folder: (allowed, ...)} of include_rules.txt."""
    rules = {}
    for line in (HERE / "include_rules.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            folder, *allowed = line.split()
            rules[folder] = tuple(allowed)
    return rules


def read_words():
    """[(regular expression, what to write)] of words.txt."""
    rows = []
    for line in (HERE / "words.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, _, instead = line.partition("\t")
            rows.append((re.compile(pattern), instead))
    return rows


INCLUDE_RULES = read_rules()
WORDS = read_words()
UNCHECKED_INCLUDES = {"tests", "benchmarks", "examples", "models"}
DEVICE_FOLDERS = {"abi", "numerics", "kernels", "runtime", "firmware", "engines/*/container", "engines/*/model",
                  "engines/*/delegate", "engines/*/vendor_driver", "engines/*/vendor_driver_model", "engines/*/firmware",
                  "executorch", "engines/*/executorch"}
# Headers included by bare name: those of the public interface, and those that the build writes.
PUBLIC_HEADERS = re.compile(r"(thimble(_\w+)?|ethosu_(driver|types))\.h$")
GENERATED_HEADERS = {f"{name}_generated.h": "src/formats"
                     for name in ("bundle", "etdump", "program", "ptd", "tflite", "tosa")}
# Folders that must not name an engine, and the form in which they may name ExecuTorch's operators.
NEUTRAL_FOLDERS = ("abi/", "src/", "runtime/", "tools/", "firmware/", "cmake/", "zephyr/")
ENGINE_NAMES = re.compile(r"ethos|axon|neutron", re.I)
CORTEX_M = re.compile(r"cortex_?m(?:(?:::|_)(\w+))?", re.I)
CORTEX_M_ALLOWED = {"abi/ops/stock.def"}  # the table of ExecuTorch's operators
CORTEX_M_OPS = set(re.findall(r"\bcortex_m_(\w+)", (HERE.parents[1] / "abi/ops/stock.def").read_text()))

LINES_MAX = 1000
COLUMNS_MAX = 100
BLOB_BYTES_MAX = 256 * 1024

COLUMN_LIMIT_IN = (".h", ".cpp", ".c")

BANNED_IN_DEVICE_CODE = {
    r"\bmalloc\s*\(": "malloc: the caller gives memory",
    r"\bfree\s*\(": "free: the caller gives memory",
    r"\bnew\s+(?!\()[A-Za-z_:]+\s*[\[({;]": "new: the caller gives memory",
    r"\bthrow\b": "throw: answer a status",
    r"\bprintf\s*\(": "printf: answer a status, or use firmware/common",
    r"#\s*include\s*<(iostream|string|vector|functional|map)>": "a hosted header",
}
BANNED_IN_HOST_CODE = {
    r"\bstd::getline\b": "std::getline: it catches std::bad_alloc; use base/lines.h",
    r"\bstd::istringstream\b": "std::istringstream: its operators catch std::bad_alloc; use base/lines.h",
    r"\bthrow\b\s*(?!std::bad_alloc|nb::python_error|;)\S": "throw: return a Result",
}
TOML_READER = "src/engine/toml_value.cpp"  # the TOML library reads a stream
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
    """Row of INCLUDE_RULES that a path belongs to."""
    parts = path.split("/")
    if parts[0] == "engines" and len(parts) > 3:
        kind = {"isa": "container", "sim": "model"}.get(parts[2], parts[2])
        return f"engines/*/{'delegate' if kind.startswith('delegate') else kind}"
    return "/".join(parts[:2]) if parts[0] in ("src", "python") else parts[0]


# --- C++ as text -------------------------------------------------------------------------------

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"'
                   r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'", re.S)


def blank(match):
    """Spaces of the same shape, so that line numbers stay."""
    text = match.group(0)
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    return TOKEN.sub(lambda match: blank(match) if match.group(0).startswith(("//", "/*")) else match.group(0), text)


def without_comments_and_strings(text):
    return TOKEN.sub(blank, text)


# --- rules -------------------------------------------------------------------------------------

def may_include(path, name):
    folder = folder_of(path)
    if folder in UNCHECKED_INCLUDES:
        return True
    if folder not in INCLUDE_RULES:
        return False
    if "/" not in name:
        if name in GENERATED_HEADERS:
            return folder == GENERATED_HEADERS[name]
        return bool(PUBLIC_HEADERS.match(name)) and folder in ("src/hostrun", "runtime", "firmware", "executorch", "zephyr") + tuple(
            f"engines/*/{kind}" for kind in ("model", "delegate", "vendor_driver_model", "linux_driver", "hostrun", "zephyr", "executorch"))
    first = name.split("/")[0]
    outside = ("engines", "abi", "numerics", "kernels", "runtime", "executorch", "firmware", "tools", "python")
    path_of_name = name if first in outside else f"src/{name}"
    there = folder_of(path_of_name)
    if there == folder and (not folder.startswith("engines/") or same_engine(path, name)):
        return True
    for allowed in INCLUDE_RULES[folder]:
        if allowed.startswith("engines/./"):
            if there == allowed.replace("/./", "/*/") and same_engine(path, name):
                return True
        elif allowed in (there, path_of_name):
            return True
    return False


def same_engine(path, name):
    return path.split("/")[:2] == name.split("/")[:2]


def check_includes(path, text):
    for match in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.M):
        name = match.group(1)
        if path.startswith("engines/") and "/zephyr/" in path:
            continue  # a file of the application, with the vendor's headers
        if not may_include(path, name):
            problem(path, text.count("\n", 0, match.start()) + 1, f"{folder_of(path)} may not include {name}")


def check_engine_names(path, text):
    """Only engines/ names an engine."""
    if OUTSIDE or not path.startswith(NEUTRAL_FOLDERS):
        return
    if ENGINE_NAMES.search(path):
        problem(path, 1, "the file's name names an engine")
    if CORTEX_M.search(path):
        problem(path, 1, "the file's name names cortex_m")
    for number, line in enumerate(text.split("\n"), 1):
        found = ENGINE_NAMES.search(line)
        if not found and path not in CORTEX_M_ALLOWED:
            found = next((each for each in CORTEX_M.finditer(line) if each.group(1) not in CORTEX_M_OPS), None)
        if found:
            problem(path, number, f"{found.group(0)}: code outside of engines/ does not name an engine")


def check_cpp(path, text):
    check_includes(path, text)
    guarded = "#pragma once" in text or "#ifndef" in text
    if path.endswith(".h") and not guarded and folder_of(path) != "examples":
        problem(path, 1, "a header without #pragma once")
    is_device_code = folder_of(path) in DEVICE_FOLDERS and not path.startswith("firmware/qemu_plugin/")
    banned = {}
    if is_device_code:
        banned = BANNED_IN_DEVICE_CODE
    elif folder_of(path) not in UNCHECKED_INCLUDES and path != TOML_READER:
        banned = BANNED_IN_HOST_CODE
    code = without_comments_and_strings(text) if banned else ""
    for pattern, message in banned.items():
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


def prose(path, text):
    """(line number, text) of what people read: comments of sources, text of documents outside of code."""
    if path.endswith((".h", ".cpp", ".c", ".def")):
        for match in TOKEN.finditer(text):
            if match.group(0).startswith(("//", "/*")):
                first = text.count("\n", 0, match.start()) + 1
                for k, line in enumerate(match.group(0).split("\n")):
                    yield first + k, re.sub(r"^[/* !<]+", "", line)
    elif path.endswith((".cmake", ".py", "CMakeLists.txt", ".sh", "Kconfig")):
        for number, line in enumerate(text.split("\n"), 1):
            if line.lstrip().startswith("#"):
                yield number, line.lstrip("# ")
    elif path.endswith(".md"):
        fenced = False
        for number, line in enumerate(text.split("\n"), 1):
            fenced ^= line.lstrip().startswith("```")
            if not fenced and not line.startswith("    "):
                yield number, re.sub(r"`[^`]*`", "", line)


def check_words(path, text):
    if path.startswith(("tests/tidy/", "tests/data/")):
        return
    previous, last = "", 0
    for number, line in prose(path, text):
        if number != last + 1:
            previous = ""  # another comment begins
        last = number
        for pattern, instead in WORDS:
            found = pattern.search(line)
            # An opening counts only where a comment begins: a line after another may continue its sentence.
            opening = pattern.pattern.startswith("^")
            if found and not (opening and (path.endswith(".md") or previous[-1:] not in ("", ".", ":", "-"))):
                problem(path, number, f"'{found.group(0)}': write {instead}")
        previous = line.rstrip()


def rules_table():
    rows = [f"| `{folder}` | {' '.join(f'`{name}`' for name in allowed) or 'nothing'} |"
            for folder, allowed in INCLUDE_RULES.items()]
    return "\n".join(["| folder | may include |", "|---|---|"] + rows)


def check_architecture():
    """ARCHITECTURE.md quotes the include rules."""
    path = ROOT / "ARCHITECTURE.md"
    begin, end = "<!-- include rules -->\n", "\n<!-- end include rules -->"
    text = path.read_text()
    before, _, rest = text.partition(begin)
    table, _, after = rest.partition(end)
    if BLESS:
        path.write_text(before + begin + rules_table() + end + after)
    elif table != rules_table():
        problem("ARCHITECTURE.md", before.count("\n") + 1,
                "the table differs from tests/tidy/include_rules.txt: tests/tidy/tidy.py --bless writes it")


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
    check_engine_names(path, text)
    check_words(path, text)
    if path.endswith((".h", ".cpp", ".c", ".def")):
        check_cpp(path, text)
    if path.endswith(".md"):
        check_page(path, text)


def main():
    files = tracked_files()
    for path in files:
        check_file(path)
    if not OUTSIDE:
        check_architecture()
    elif not any(p.startswith("engines/") for p in files):
        problem(str(ROOT), 1, "no engines/ in this folder")
    for line in problems:
        print(line)
    print(f"tidy: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
