#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: do the tests notice a changed operator?

    python3 tests/mutants/mutants.py FOLDER [STEP...] [--mutants N] [--jobs N]

FOLDER keeps the copy of the tree, its build, and the results of each step; a step that was stopped continues
at its next mutant. Without STEP all run: choose, build, record, run, report. `again ID...` removes the results
of mutants, and `changed TEST...` the record of tests that were changed (then: build record run report).
"""
import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import report  # noqa: E402
import run  # noqa: E402
import tree  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
STEPS = ['choose', 'build', 'record', 'run', 'report']


def log(text):
    print(time.strftime('%H:%M:%S'), text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('steps', nargs='*', default=STEPS)
    parser.add_argument('--generated', type=pathlib.Path, default=SOURCE / 'build/generated',
                        help='sources that the build writes')
    parser.add_argument('--mutants', type=int, help='mutants per group (default: scope.json)')
    parser.add_argument('--jobs', type=int, default=2)
    arguments = parser.parse_intermixed_args()
    scope = json.loads((tree.HERE / 'scope.json').read_text())
    folder = arguments.folder.resolve()
    # The build folder is in the tree, as that of a developer: ccache then finds unchanged objects.
    copy, build = folder / 'tree', folder / 'tree/build'
    chosen_file, tests_file = folder / 'mutants.json', folder / 'tests.json'
    record_file, results_file = folder / 'record.json', folder / 'results.jsonl'
    folder.mkdir(parents=True, exist_ok=True)
    steps = arguments.steps

    if steps[0] == 'again':
        results = run.load(results_file)
        for number in steps[1:]:
            results.pop(int(number), None)
        results_file.write_text(''.join(json.dumps(result) + '\n' for result in results.values()))
        return
    if steps[0] == 'changed':
        if not record_file.exists():
            sys.exit(f'{record_file} does not exist: run the step record first')
        record = json.loads(record_file.read_text())
        unknown = [name for name in steps[1:] if name not in record]
        if unknown:
            sys.exit(f'no record of {", ".join(unknown)}; the tests are {", ".join(record)}')
        record_file.write_text(json.dumps({name: entry for name, entry in record.items() if name not in steps[1:]}))
        return
    if 'choose' in steps:
        chosen, totals = tree.choose(SOURCE, arguments.generated, scope, arguments.mutants or scope['mutants_per_group'],
                                     log)
        chosen_file.write_text(json.dumps({'sites': totals, 'mutants': chosen}, indent=1))
    chosen = json.loads(chosen_file.read_text())
    mutants = chosen['mutants']
    if steps == ['choose']:
        return
    if 'build' in steps:
        tree.copy_tree(SOURCE, copy, mutants, build / 'reached_on_board.bin')
        tree.configure(copy, build)
        images = tree.image_tests(copy, build, scope)
        log('build')
        tree.build_tests(copy, build, tree.list_tests(build, scope) + images, arguments.jobs)
        tests_file.write_text(json.dumps(tree.list_tests(build, scope) + images, indent=1))
    tests = json.loads(tests_file.read_text())
    runner = run.Runner(build, tests)
    record = json.loads(record_file.read_text()) if record_file.exists() else {}
    if 'record' in steps:
        for name in runner.tests:
            if name in record:
                continue
            record[name] = entry = runner.record(name)
            log(f'{name}: {len(entry["reached"])} mutants, {entry["seconds"]} s {entry["failure"] or ""}')
            record_file.write_text(json.dumps(record))
        failing = [name for name, entry in record.items() if entry['failure']]
        if failing:
            sys.exit(f'these tests fail without a mutant: {", ".join(failing)}')
    if 'run' in steps:
        run.run_all(runner, mutants, record, results_file, arguments.jobs, log)
    if 'report' in steps:
        report.write(tree.HERE, chosen, record, run.load(results_file), scope)
        missed = report.missed_goal(tree.HERE)
        if missed:
            sys.exit(missed)


if __name__ == '__main__':
    main()
