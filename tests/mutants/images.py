# SPDX-License-Identifier: Apache-2.0
"""Sets the active mutant of an image for a board: the constant thimble_active_mutant in its ELF file."""
import struct


def file_offset(data, symbol):
    """The offset of the symbol in the bytes of a 32-bit little-endian ELF file, or None."""
    if data[:6] != b'\x7fELF\x01\x01':
        raise ValueError('not a 32-bit little-endian ELF file')
    at, = struct.unpack_from('<I', data, 0x20)
    size, count = struct.unpack_from('<HH', data, 0x2E)
    # name, type, flags, address, offset, size, link, info, alignment, size of an entry
    sections = [struct.unpack_from('<10I', data, at + i * size) for i in range(count)]
    for section in sections:
        if section[1] != 2:  # SHT_SYMTAB
            continue
        names = sections[section[6]][4]
        for entry in range(section[4], section[4] + section[5], 16):
            name, address, _, _, _, index = struct.unpack_from('<IIIBBH', data, entry)
            end = data.index(b'\0', names + name)
            if data[names + name:end] == symbol and 0 < index < count:
                return sections[index][4] + address - sections[index][3]
    return None


def set_active(path, mutant):
    """Returns False if no mutant is in the image."""
    with open(path, 'r+b') as file:
        offset = file_offset(file.read(), b'thimble_active_mutant')
        if offset is None:
            return False
        file.seek(offset)
        file.write(struct.pack('<i', mutant))
    return True
