# SPDX-License-Identifier: Apache-2.0
"""Sections of ELF32 objects in archives: sizes, relocations, and the stack that their instructions use."""

import struct

PROGBITS, SYMTAB, NOBITS, REL, GROUP = 1, 2, 8, 9, 17
WRITE, ALLOC, EXEC, LINK_ORDER = 1, 2, 4, 0x80
UNDEFINED, COMMON = 0, 0xFFF2
LOCAL, GLOBAL, WEAK = 0, 1, 2
BRANCHES = {10, 30, 51, 102, 103}  # R_ARM_THM_CALL, _JUMP24, _JUMP19, _JUMP11, _JUMP8: see "ELF for the Arm Architecture"


class Section:
    """A section that a linker keeps or removes as a whole."""

    def __init__(self, name, size, align, flags, kind, data):
        self.name, self.size, self.align, self.flags, self.kind, self.data = name, size, align, flags, kind, data
        self.needs = []  # (symbol, is a branch, offset of the reference)
        self.code_ranges = []  # of instructions, without literal pools
        self.archive = None

    @property
    def is_text(self):
        return bool(self.flags & EXEC)

    @property
    def padded(self):
        """Bytes with the padding before it, if every section before it ends at a multiple of 4."""
        return (self.size + 3) // 4 * 4 + max(0, self.align - 4)


class Symbol:
    def __init__(self, name, section, binding, value=0):
        self.name, self.section, self.binding, self.value = name, section, binding, value


def text_at(data, at):
    return data[at:data.index(b"\0", at)].decode()


def read_object(data):
    """Returns the allocated sections, and the global symbols that the object defines."""
    assert data[:6] == b"\x7fELF\x01\x01", "not a little-endian ELF32 object"
    table, = struct.unpack_from("<I", data, 32)
    size, count, names = struct.unpack_from("<HHH", data, 46)
    headers = [struct.unpack_from("<10I", data, table + i * size) for i in range(count)]
    names_at = headers[names][4]
    sections = {}
    for i, (name, kind, flags, _, at, bytes_, _, _, align, _) in enumerate(headers):
        if flags & ALLOC:
            content = b"" if kind == NOBITS else data[at:at + bytes_]
            sections[i] = Section(text_at(data, names_at + name), bytes_, max(align, 1), flags, kind, content)
    symbols, exported = [], {}
    for header in headers:
        if header[1] != SYMTAB:
            continue
        strings = headers[header[6]][4]
        for at in range(header[4], header[4] + header[5], 16):
            name, value, bytes_, info, _, index = struct.unpack_from("<IIIBBH", data, at)
            word, binding = text_at(data, strings + name), info >> 4
            section = sections.get(index)
            if index == COMMON:
                section = Section("COMMON", bytes_, value, ALLOC | WRITE, NOBITS, b"")
            symbols.append(Symbol(word, section, binding, value))
            if binding != LOCAL and section is not None:
                exported[word] = symbols[-1]
    for header in headers:
        if header[1] == REL and header[7] in sections:
            section = sections[header[7]]
            for at in range(header[4], header[4] + header[5], 8):
                place, info = struct.unpack_from("<II", data, at)
                section.needs.append((symbols[info >> 8], info & 255 in BRANCHES, place))
    for i, header in enumerate(headers):
        if i in sections and header[2] & LINK_ORDER and header[6] in sections:
            sections[header[6]].needs.append((Symbol("", sections[i], LOCAL), False, -1))
    mark_code(sections.values(), symbols)
    return list(sections.values()), exported


def mark_code(sections, symbols):
    """Separates instructions from data by the mapping symbols $t and $d."""
    marks = {}
    for symbol in symbols:
        if symbol.section is not None and symbol.name[:2] in ("$t", "$d"):
            marks.setdefault(id(symbol.section), []).append((symbol.value, symbol.name[1] == "t"))
    for section in sections:
        if section.is_text:
            found = sorted(marks.get(id(section), [])) + [(section.size, False)]
            section.code_ranges = [(at, end) for (at, code), (end, _) in zip(found, found[1:]) if code and end > at]


class Archive:
    """An archive whose members are read when a symbol of them is needed."""

    def __init__(self, path):
        self.path, self.data, self.members = path, path.read_bytes(), {}
        assert self.data[:8] == b"!<arch>\n", path
        count, = struct.unpack_from(">I", self.data, 68)
        offsets = struct.unpack_from(f">{count}I", self.data, 72)
        names = self.data[72 + 4 * count:].split(b"\0", count)[:count]
        self.member_of = {}
        for name, offset in zip(names, offsets):
            self.member_of.setdefault(name.decode(), offset)

    def find(self, name):
        if name not in self.member_of:
            return None
        offset = self.member_of[name]
        if offset not in self.members:
            bytes_ = int(self.data[offset + 48:offset + 58])
            self.members[offset] = read_object(self.data[offset + 60:offset + 60 + bytes_])
            for section in self.members[offset][0]:
                section.archive = self
        return self.members[offset][1].get(name)


def instructions(section):
    """Yields (address, first halfword, second halfword or None)."""
    for at, end in section.code_ranges:
        while at + 2 <= end:
            first, = struct.unpack_from("<H", section.data, at)
            if first >> 11 in (0b11101, 0b11110, 0b11111) and at + 4 <= end:
                second, = struct.unpack_from("<H", section.data, at + 2)
                yield at, first, second
                at += 4
            else:
                yield at, first, None
                at += 2


def immediate(first, second):
    """ThumbExpandImm (Arm v7-M ARM, A5.3.2) of a data-processing instruction."""
    twelve = (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 255
    if twelve >> 10 == 0:
        byte = twelve & 255
        return [byte, byte << 16 | byte, byte << 24 | byte << 8, byte * 0x01010101][twelve >> 8 & 3]
    rotation, value = twelve >> 7, 0x80 | twelve & 127
    return (value >> rotation | value << (32 - rotation)) & 0xFFFFFFFF


def stack_use(section):
    """Returns the bytes by which the section's instructions lower the stack pointer, added up, and the number of indirect
    calls. The sum is an upper bound of the frame, because no instruction of a compiled function lowers it twice in a run.
    Encodings: Arm v7-M ARM, chapter A7."""
    used, indirect, literals = 0, 0, {}
    for at, first, second in instructions(section):
        if second is None:
            if first >> 9 == 0b1011010:  # PUSH
                used += 4 * bin(first & 0x1FF).count("1")
            elif first >> 7 == 0b101100001:  # SUB SP, #imm7
                used += 4 * (first & 127)
            elif first >> 11 == 0b01001:  # LDR Rt, literal
                place = (at + 4) // 4 * 4 + 4 * (first & 255)
                literals[first >> 8 & 7] = struct.unpack_from("<i", section.data, place)[0]
            elif first >> 11 == 0b00100:  # MOVS Rd, #imm8
                literals[first >> 8 & 7] = first & 255
            elif first >> 11 == 0 and first >> 3 & 7 in literals:  # LSLS Rd, Rm, #imm5
                literals[first & 7] = literals[first >> 3 & 7] << (first >> 6 & 31)
            elif first & 0xFF87 == 0x4485:  # ADD SP, Rm
                register = first >> 3 & 15
                assert register in literals, f"{section.name}: the size of a frame is not constant"
                used += max(0, -literals[register])
            elif first & 0xFF87 == 0x4780 or (first & 0xFF87 == 0x4700 and first >> 3 & 15 != 14):  # BLX Rm, BX Rm
                indirect += 1
        elif first & 0xFBF0 == 0xF240 and second & 0x8000 == 0:  # MOVW Rd, #imm16
            literals[second >> 8 & 15] = 0  # positive: releases a frame
        elif first == 0xE92D:  # PUSH.W
            used += 4 * bin(second).count("1")
        elif first & 0xFBFF == 0xF1AD and second & 0x8F00 == 0x0D00:  # SUB.W SP, SP, #const
            used += immediate(first, second)
        elif first & 0xFBFF == 0xF2AD and second & 0x8F00 == 0x0D00:  # SUBW SP, SP, #imm12
            used += (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 255
        elif first == 0xF84D and second & 0x0F00 == 0x0D00:  # STR Rt, [SP, #-imm8]!
            used += second & 255
        elif first & 0xFFFF == 0xE96D:  # STRD Rt, Rt2, [SP, #-imm8]!
            used += 4 * (second & 255)
        elif first & 0xFFBF == 0xED2D and second >> 9 & 7 == 0b101:  # VPUSH
            used += 4 * (second & 255)
        elif first & 0xFFEF == 0xEBAD and second & 0x0F00 == 0x0D00:  # SUB.W SP, SP, Rm
            raise AssertionError(f"{section.name}: the size of a frame is not constant")
    return used, indirect
