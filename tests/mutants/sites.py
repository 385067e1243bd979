# SPDX-License-Identifier: Apache-2.0
"""Finds the operators of a C++ file that a mutant can change, with libclang.

A site is an operator with the byte ranges of its operands. Excluded are operators in the text of a macro,
in an assert, and where the compiler needs a constant: a mutant there would not be an error at run time.
"""
import ctypes
import pathlib
import subprocess
import sys

try:
    from clang import cindex
except ImportError:
    sys.path.append('/usr/lib/python3/dist-packages')  # of Debian's python3-clang-19
    from clang import cindex

# Replacements of each binary operator. One of them is chosen by seed.
BINARY = {
    '<': ['<=', '>='], '<=': ['<', '>'], '>': ['>=', '<='], '>=': ['>', '<'], '==': ['!='], '!=': ['=='],
    '+': ['-'], '-': ['+'], '*': ['+'], '/': ['*'], '%': ['+'], '<<': ['>>'], '>>': ['<<'],
    '&': ['|'], '|': ['&'], '^': ['|'], '&&': ['||'], '||': ['&&'],
    '+=': ['-='], '-=': ['+='], '*=': ['+='], '/=': ['*='], '<<=': ['>>='], '>>=': ['<<='], '&=': ['|='],
    '|=': ['&='], '^=': ['|='],
}
# A unary operator is removed. `++` and `--` are excluded: without them most loops do not end.
UNARY = {'-', '~', '!'}

KIND = cindex.CursorKind
CONSTANT_KINDS = {KIND.STATIC_ASSERT, KIND.ENUM_CONSTANT_DECL, KIND.TEMPLATE_NON_TYPE_PARAMETER,
                  KIND.ALIGNED_ATTR, KIND.TYPE_ALIAS_DECL, KIND.TYPEDEF_DECL, KIND.CONCEPT_DECL}


class Parser:
    """Parses files of `tree`; the compiler's own files are those of the installed clang and GCC."""

    def __init__(self, tree, generated):
        self.tree = pathlib.Path(tree)
        includes = [self.tree, self.tree / 'src', self.tree / 'runtime/include']
        includes += sorted(self.tree.glob('engines/*/delegate/include'))
        includes += sorted(path for path in pathlib.Path(generated).glob('*') if path.is_dir())
        resources = subprocess.run(['clang-19', '-print-resource-dir'], capture_output=True, text=True,
                                   check=True).stdout.strip()
        self.includes = [f'-I{path}' for path in includes] + [f'-resource-dir={resources}']
        self.index = cindex.Index.create()
        self.arm_includes = None

    def arguments(self, name):
        """The options for the file; kernels of an instruction set are parsed for a core that has it."""
        parts = name.split('/')
        device = {'mve': 'cortex-m55', 'dsp': 'cortex-m33', 'v7m': 'cortex-m3', 'v6m': 'cortex-m0plus'}
        arguments = ['-x', 'c++', '-w', '-ferror-limit=0', *self.includes]
        if parts[0] != 'kernels' or parts[1] not in device:
            return arguments + ['-std=c++20']
        if self.arm_includes is None:
            listed = subprocess.run(['arm-none-eabi-g++', '-E', '-v', '-x', 'c++', '/dev/null'],
                                    capture_output=True, text=True, check=True).stderr
            listed = listed.split('search starts here:\n')[-1].split('End of search')[0].split()
            folders = [str(pathlib.Path(path).resolve()) for path in listed]
            # The headers of intrinsics are those of clang.
            self.arm_includes = [f'-isystem{path}' for path in folders if '/lib/gcc/' not in path]
        core = device[parts[1]]
        hard = ['-mfloat-abi=hard'] if core in ('cortex-m55', 'cortex-m33') else ['-mfloat-abi=soft']
        return arguments + ['-std=c++17', '--target=arm-none-eabi', f'-mcpu={core}', *hard, '-mthumb',
                            *self.arm_includes]

    def parse(self, name, text=None):
        """Returns the translation unit of the file, or of `text` in its place, and its errors."""
        path = str(self.tree / name)
        unsaved = [(path, text)] if text is not None else None
        unit = self.index.parse(path, self.arguments(name), unsaved)
        errors = [diagnostic for diagnostic in unit.diagnostics if diagnostic.severity >= 3]
        return unit, errors


def offset(location, function):
    file, line, column, at = ctypes.c_void_p(), ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    getattr(cindex.conf.lib, function)(location, ctypes.byref(file), ctypes.byref(line), ctypes.byref(column),
                                       ctypes.byref(at))
    return at.value, file.value


def written_range(cursor):
    """The byte range of the cursor in the file, or None if a part of it is in the text of a macro."""
    ends = []
    for location in (cursor.extent.start, cursor.extent.end):
        in_file = offset(location, 'clang_getFileLocation')
        if in_file != offset(location, 'clang_getSpellingLocation'):
            return None
        ends.append(in_file[0])
    return ends


def without_comments(text):
    while b'/*' in text:
        begin, end = text.index(b'/*'), text.index(b'*/') + 2
        text = text[:begin] + text[end:]
    return b'\n'.join(line.split(b'//')[0] for line in text.split(b'\n')).strip().decode(errors='replace')


def is_constant(cursor, data):
    """True if the operators below the cursor are evaluated by the compiler."""
    if cursor.kind in CONSTANT_KINDS:
        return True
    begin, end = cursor.extent.start.offset, cursor.extent.end.offset
    if cursor.kind in (KIND.VAR_DECL, KIND.FIELD_DECL):
        return b'constexpr' in data[begin:end].split(b'=')[0].split(b'{')[0] or cursor.is_bitfield()
    return False


def constant_children(cursor, data):
    """The children of a statement that the compiler evaluates."""
    children = list(cursor.get_children())
    if cursor.kind == KIND.CASE_STMT:
        return children[:1]
    if cursor.kind == KIND.IF_STMT:
        begin = cursor.extent.start.offset
        if data[begin:begin + 40].split(b'(')[0].split() == [b'if', b'constexpr']:
            return children[:1]
    return []


def find_asserts(data):
    """Byte ranges of the arguments of assert()."""
    ranges, at = [], 0
    while (at := data.find(b'assert(', at)) >= 0:
        depth, end = 0, at + 6
        while end < len(data):
            depth += {b'(': 1, b')': -1}.get(data[end:end + 1], 0)
            end += 1
            if depth == 0:
                break
        ranges.append((at, end))
        at = end
    return ranges


def find_sites(parser, name):
    """Returns the sites of the file: operator, byte range and line, and the byte ranges of the operands."""
    data = (parser.tree / name).read_bytes()
    unit, errors = parser.parse(name)
    if errors:
        raise RuntimeError(f'{name}: {errors[0].spelling} ({errors[0].location})')
    asserts = find_asserts(data)
    sites = {}

    def add(cursor):
        children = list(cursor.get_children())
        ranges = [written_range(item) for item in (cursor, *children)]
        if None in ranges or any(begin <= ranges[0][0] < end for begin, end in asserts):
            return
        begin, end = ranges[0]
        if len(children) == 2:
            left, right = ranges[1:]
            operator = without_comments(data[left[1]:right[0]])
            if operator not in BINARY or left[0] != begin or right[1] != end:
                return
            operands = [left, right]
        elif len(children) == 1:
            operator = data[begin:ranges[1][0]].strip().decode(errors='replace')
            if operator not in UNARY or ranges[1][1] != end:
                return
            operands = [ranges[1]]
        else:
            return
        sites[begin, end] = {'file': name, 'line': data.count(b'\n', 0, operands[-1][0]) + 1, 'begin': begin,
                             'end': end, 'operator': operator, 'operands': operands}

    def visit(cursor):
        if is_constant(cursor, data):
            return
        if cursor.kind in (KIND.BINARY_OPERATOR, KIND.COMPOUND_ASSIGNMENT_OPERATOR, KIND.UNARY_OPERATOR):
            add(cursor)
        constant = constant_children(cursor, data)
        for child in cursor.get_children():
            if not any(child == item for item in constant):
                visit(child)

    for cursor in unit.cursor.get_children():
        if cursor.location.file is not None and cursor.location.file.name == str(parser.tree / name):
            visit(cursor)
    return [sites[key] for key in sorted(sites)]
