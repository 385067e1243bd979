# SPDX-License-Identifier: Apache-2.0
"""Names the reasons for which the cycle models of src/cycles and LLVM's scheduling models differ on purpose.

Each cause is a rule of a manual, or of the text of LLVM's own model, that the rows of LLVM's model do not
have. A cause states the cycles by which the rule changes one iteration of a block. They are computed from the
block's instructions and from the pairs that llvm-mca issues, not from the cycles of src/cycles.
"""

import dataclasses
import re


@dataclasses.dataclass
class Block:
    lines: list  # text and width of each instruction; True is 32 bits
    cycles: float  # of one iteration, by llvm-mca
    issued: list  # cycle in which llvm-mca issues each instruction of the first iterations

    def pairs(self):
        """Returns the pairs of instructions that are issued in one cycle, and the number of iterations."""
        count = len(self.lines)
        found = [(at % count, (at + 1) % count) for at in range(count, len(self.issued) - 1)
                 if self.issued[at] == self.issued[at + 1]]
        return found, max(1, len(self.issued) // count - 1)


def registers(text):
    """Number of registers in a list."""
    count = 0
    for first, last in re.findall(r"[rsdq](\d+)(?:\s*-\s*[rsdq](\d+))?|(?<=[{ ])(?:lr|pc|sp)", text):
        count += int(last) - int(first) + 1 if last else 1
    return count


def list_cycles(block):
    """A list of registers takes one cycle for each two registers."""
    sizes = [registers(text[text.index("{"):]) for text, _ in block.lines
             if re.match(r"v?(ldm|stm|push|pop)", text)]
    return sum(max(1, (size + 1) // 2) - 1 for size in sizes)


SECOND = r"(nop|it\w*|b|b(eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)|uxt[bh]|sxt[bh])\s"
SECOND_CONSTANT = r"(add|sub)s?\w*\s.*#\d+|movs?\w*\s.*#\d+|mov\w*\s+r\d+, (r\d+|lr|sp)$"
ALONE = r"v|ldm|stm|push|pop|bl\s|blx|mul"
CONDITION = r"b(eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)\s|\w+(eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt)\s"


def depends(first, second):
    """Returns true if the second instruction reads or writes a result of the first one."""
    writes_flags = re.match(r"(cmp|cmn|tst|(add|sub|mov|mvn|ls[lr]|asr|ror|and|orr|eor|bic|rsb|adc|sbc)s)\s", first)
    if writes_flags and re.match(CONDITION, second):
        return True
    found = re.match(r"(?!st|cmp|cmn|tst|b)\w+\s+(\w+)", first)
    return found is not None and re.search(rf"\b{found[1]}\b", second) is not None


def can_pair(first, second):
    if first[1] or second[1] or re.match(ALONE, first[0]) or re.match(ALONE, second[0]):
        return False
    is_second = any(re.match(pattern, each[0]) for each in (first, second) for pattern in (SECOND, SECOND_CONSTANT))
    return is_second and not re.match(r"b", first[0]) and not depends(first[0], second[0])


def narrow_pairs(block):
    """Two instructions are issued together only if both have 16 bits and one is of a certain group."""
    found, iterations = block.pairs()
    allowed = at = 0
    while at + 1 < len(block.lines):
        pair = can_pair(block.lines[at], block.lines[at + 1])
        allowed += pair
        at += 2 if pair else 1
    return round(len(found) / iterations - allowed)


def gather_cycles(block):
    """A gather load or a scatter store takes one cycle for each element."""
    cycles = 0
    for text, _ in block.lines:
        found = re.match(r"v(?:ldr|str)[bhwd]\.[suf]?(\d+)\s+q\d, \[(?:(?:r\w+|lr|sp), )?q\d", text)
        if found:
            cycles += 128 // int(found[1]) - 2
    return cycles


def divisions(block):
    """A division takes 7 cycles."""
    return 6 * sum(bool(re.match(r"[su]div", text)) for text, _ in block.lines)


FLAGS = r"(add|sub|mov|mvn|ls[lr]|asr|and|orr|eor|bic|rsb)s\s"


def write_order(block):
    """llvm-mca writes results in program order. It takes the flags of a 16-bit instruction as written at once, so
    that the instruction waits for a load of two cycles before it; and nothing is issued together with a branch
    before it."""
    found, _ = block.pairs()
    paired = {at for pair in found for at in pair}
    last = len(block.lines) - 1
    waits = sum(bool(re.match(r"ldrs?[bh]", before)) and not wide and bool(re.match(FLAGS, text))
                for (before, _), (text, wide) in zip(block.lines, block.lines[1:]))
    branch = block.lines[last][0].startswith("b") and last not in paired and 0 not in paired
    return -waits - branch


@dataclasses.dataclass(frozen=True)
class Cause:
    name: str
    cores: tuple
    cycles: object  # function of a Block
    rule: str
    section: str


DUAL_ISSUE = 'LLVM 19, ARMScheduleM55.td, "Dual Issue"'
CAUSES = (
    Cause("pairs", ("cortex-m55",), narrow_pairs, "only 16-bit instructions pair, one of them a NOP, IT, B, ADD or SUB "
          "of a constant, MOV, UXT or SXT; LLVM's rows also pair 32-bit ones, and no branch", DUAL_ISSUE),
    Cause("list", ("cortex-m7",), list_cycles, "a list of registers takes a cycle for each two registers: "
          "the interfaces have 64 bits", "Cortex-M7 TRM DDI 0489F, 1.2"),
    Cause("list", ("cortex-m55",), list_cycles, "a list of registers takes a cycle for each two registers: "
          "the interfaces have 64 bits", "Cortex-M55 TRM 101051, A1.1"),
    Cause("order", ("cortex-m7", "cortex-m85"), write_order, "the flags of a 16-bit instruction and a branch do not "
          "wait for the results before them", "llvm-mca command guide, In-order Issue and Execute"),
    Cause("division", ("cortex-m55",), divisions, "7 of 2 to 12 cycles", "docs/cycles.md, From instructions to cycles"),
    Cause("gather", ("cortex-m55", "cortex-m85"), gather_cycles, "a cycle for each element, as in the data cache, which looks up "
          "one address per cycle; LLVM has two cycles for any gather, and the D-TCM two elements per cycle",
          'Arm, github.com/Arm-Examples/Helium-Optimization, processor_specific.md, "Scatter gather instructions"'),
)


def causes_of(block, core):
    """Returns the causes that change the block, with their cycles."""
    return [(cause, cycles) for cause in CAUSES if core in cause.cores and (cycles := cause.cycles(block)) != 0]
