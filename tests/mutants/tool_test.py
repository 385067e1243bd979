#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tool that makes mutants, on sample.cpp: its sites, the rewritten program, the tests that reach a mutant, and the
mutants that they kill. `tool_test.py FOLDER sites` needs libclang, exit code 77 without it."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run  # noqa: E402
import transform  # noqa: E402

# Columns: the text of the operator, its replacement, how the test of the whole program ends, and
# whether the short test reaches the mutant.
EXPECTED = [
    ('a < b', '<=', None, True),
    ('a < b', '>=', 'exit code 1', True),
    ('x > 1', '<=', 'time limit', False),
    ('x / 2', '*', 'exit code 2', False),
    ('count += 1', '-=', 'signal 6', False),
    ('!(x < low)', '', 'exit code 3', False),
    ('x < low', '<=', 'exit code 3', False),
    ('!(x < low) && x < high', '||', 'exit code 3', False),
    ('-x', '', 'not reached', False),
]


def expect(found, expected, what):
    if found != expected:
        sys.exit(f'{what}: {found}, expected {expected}')


def check_sites():
    try:
        import sites
        parser = sites.Parser(HERE, HERE)
    except (ImportError, FileNotFoundError) as missing:
        print(f'skipped: {missing}')
        return 77
    found = sites.find_sites(parser, 'sample.cpp')
    written = json.loads((HERE / 'sample_sites.json').read_text())
    expect([site for site in found if site['line'] < 37], written, 'sites of sample.cpp')
    data = (HERE / 'sample.cpp').read_bytes()
    # Errors of the compiler are found.
    site = next(site for site in found if site['operator'] == '/')
    for replacement, refused in (('*', False), ('.', True)):
        text = transform.rewrite(data, [dict(site, id=1, replacement=replacement)]).decode()
        text = text.replace('#include "tests/mutants/mutant.h"', '').replace('thimble_mutant(1)', 'false')
        expect(bool(parser.parse('sample.cpp', text)[1]), refused, f'errors of {replacement}')
    return 0


def check_runs(folder):
    folder.mkdir(parents=True, exist_ok=True)
    data = (HERE / 'sample.cpp').read_bytes()
    written = json.loads((HERE / 'sample_sites.json').read_text())
    mutants = []
    for text, replacement, _, _ in EXPECTED:
        site = next(site for site in written if data[site['begin']:site['end']].decode() == text)
        mutants.append(dict(site, id=len(mutants) + 1, replacement=replacement))
    # Two mutants of one operator need two copies of the file.
    twice = [mutants[1]]
    once = [mutant for mutant in mutants if mutant not in twice]
    library = folder / 'libthimble_mutant.so'
    tree = HERE.parents[1]
    subprocess.run(['g++', '-std=c++20', '-shared', '-fPIC', f'-I{tree}', HERE / 'mutant_host.cpp', '-o', library],
                   check=True)
    results = {}
    for name, some in (('once', once), ('twice', twice)):
        (folder / f'{name}.cpp').write_bytes(transform.rewrite(data, some))
        program = folder / name
        subprocess.run(['g++', '-std=c++20', f'-I{tree}', folder / f'{name}.cpp', library, '-o', program], check=True)
        common = {'folder': str(folder), 'environment': [], 'skip': None, 'fails_if': []}
        tests = [dict(common, name='short', command=[str(program), 'short']),
                 dict(common, name='whole', command=[str(program)])]
        runner = run.Runner(folder, tests)
        runner.time_limit = lambda usual: 2.0
        record = {test['name']: runner.record(test['name']) for test in tests}
        for test in tests:
            expect(record[test['name']]['failure'], None, f'{test["name"]} without a mutant')
        for mutant in some:
            _, _, _, short = EXPECTED[mutant['id'] - 1]
            expect(mutant['id'] in record['short']['reached'], short, f'mutant {mutant["id"]} reached by the short test')
        file = folder / f'{name}.jsonl'
        file.unlink(missing_ok=True)
        run.run_all(runner, some[:1], record, file, 1, lambda text: None)
        results.update(run.run_all(runner, some, record, file, 2, lambda text: None))
        expect(len(run.load(file)), len(some), 'results after a resumed run')
    for mutant in mutants:
        text, replacement, how, _ = EXPECTED[mutant['id'] - 1]
        result = results[mutant['id']]
        found = result.get('how') if result['outcome'] != 'not reached' else 'not reached'
        expect(found, how, f'{text} with {replacement or "the operator removed"}')


def main():
    if sys.argv[2:] == ['sites']:
        return check_sites()
    check_runs(pathlib.Path(sys.argv[1]))
    print(f'{len(EXPECTED)} mutants end as expected')
    return 0


if __name__ == '__main__':
    sys.exit(main())
