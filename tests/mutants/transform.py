# SPDX-License-Identifier: Apache-2.0
"""Rewrites the operators of mutants in the text of a file."""

# A changed operator may cause a warning, which is an error in the build.
WARNINGS = ['bool-compare', 'bool-operation', 'conversion', 'div-by-zero', 'double-promotion', 'extra', 'int-in-bool-context',
            'logical-op', 'parentheses', 'shift-count-negative', 'shift-count-overflow', 'shift-overflow',
            'sign-compare', 'tautological-compare', 'type-limits', 'unused-value']
PROLOGUE = b'#include "tests/mutants/mutant.h"\n' + b''.join(
    b'#pragma GCC diagnostic ignored "-W%b"\n' % name.encode() for name in WARNINGS)


def replaced(site, operands, replacement):
    if len(operands) == 1:
        # Twice negated: `!x` and `x` then have the same type.
        return (b'!!(%b)' if site['operator'] == '!' else b'(%b)') % operands[0]
    return b'(%b %b %b)' % (operands[0], replacement.encode(), operands[1])


def render(data, mutants, begin, end):
    """The bytes of the range with the mutants in it, which may be nested."""
    inside = [m for m in mutants if begin <= m['begin'] and m['end'] <= end]
    outer = [m for m in inside
             if not any(o is not m and o['begin'] <= m['begin'] and m['end'] <= o['end'] for o in inside)]
    out, at = [], begin
    for mutant in sorted(outer, key=lambda m: m['begin']):
        others = [m for m in inside if m is not mutant]
        out.append(data[at:mutant['begin']])
        operands = [render(data, others, *operand) for operand in mutant['operands']]
        original = render(data, others, mutant['begin'], mutant['end'])
        changed = replaced(mutant, operands, mutant['replacement'])
        out.append(b'(thimble_mutant(%d) ? %b : (%b))' % (mutant['id'], changed, original))
        at = mutant['end']
    out.append(data[at:end])
    return b''.join(out)


def rewrite(data, mutants):
    """The text of the file with all mutants behind their switches."""
    return PROLOGUE + render(data, mutants, 0, len(data))
