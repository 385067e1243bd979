#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes results.json and the tables of README.md.

    python3 tests/mutants/report.py --check     fails if README.md is not what results.json gives
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = '<!-- results -->\n', '<!-- end results -->\n'


def change(mutant):
    """The mutant in one line, as the tables and equivalent.json name it."""
    return f'{mutant["text"]} : {mutant["operator"]} -> {mutant["replacement"] or "removed"}'


def key(mutant):
    return mutant['file'], mutant['line'], change(mutant)


def write(folder, chosen, record, results, scope):
    """Writes the outcomes of a run to results.json, and README.md."""
    commit = subprocess.run(['git', '-C', str(folder), 'rev-parse', '--short=12', 'HEAD'], capture_output=True,
                            text=True, check=True).stdout.strip()
    rows = []
    for mutant in chosen['mutants']:
        result = results.get(mutant['id'], {'outcome': 'not run'})
        row = {name: mutant[name] for name in ('id', 'group', 'file', 'line', 'operator', 'replacement')}
        row['text'] = mutant['text'][:100]
        row['outcome'] = result['outcome']
        if result['outcome'] == 'killed':
            row.update(test=result['test'], how=result['how'])
        row['tests_run'] = result.get('tests_run', 0)
        rows.append(row)
    data = {'seed': scope['seed'], 'commit': commit, 'operators': chosen['sites'],
            'tests': sum(1 for entry in record.values() if not entry['failure']),
            'seconds': round(sum(result['seconds'] for result in results.values())), 'mutants': rows}
    (folder / 'results.json').write_text(json.dumps(data, indent=1) + '\n')
    readme = folder / 'README.md'
    readme.write_text(with_tables(readme.read_text(), tables(folder)))


KILLED_MIN = 0.95  # of the mutants that are not equivalent


def share(killed, count):
    return f'{100 * killed / count:.1f} %' if count else ''


def missed_goal(folder):
    """Returns why the goal is not reached: a mutant was not run, or too few are killed; else an empty text."""
    mutants = json.loads((folder / 'results.json').read_text())['mutants']
    known = json.loads((folder / 'equivalent.json').read_text())
    equivalent = {(row['file'], row['line'], row['change']) for row in known}
    waiting = sum(m['outcome'] == 'not run' for m in mutants)
    if waiting:
        return f'{waiting} mutants were not run'
    killed = sum(m['outcome'] == 'killed' for m in mutants)
    decided = killed + sum(m['outcome'] != 'killed' and key(m) not in equivalent for m in mutants)
    if killed < KILLED_MIN * decided:
        return f'{killed} of {decided} mutants are killed, {100 * KILLED_MIN:.0f} % expected'
    return ''


def tables(folder):
    """The text between the markers of README.md."""
    data = json.loads((folder / 'results.json').read_text())
    known = json.loads((folder / 'equivalent.json').read_text())
    reasons = {(row['file'], row['line'], row['change']): row['reason'] for row in known}
    mutants = data['mutants']
    # A test that kills a mutant proves that it is not equivalent.
    equivalent = [m for m in mutants if key(m) in reasons and m['outcome'] not in ('killed', 'not run')]
    open_ones = [m for m in mutants if m['outcome'] not in ('killed', 'not run') and m not in equivalent]
    lines = [f'Seed {data["seed"]}, {len(mutants)} mutants, {data["tests"]} tests, '
             f'{data["seconds"]:,} s of tests; commit {data["commit"]}.', '',
             '| group | operators | mutants | not run | killed | equivalent | not killed | killed of those not equivalent |',
             '|---|--:|--:|--:|--:|--:|--:|--:|']
    rows = [(group, count, [m for m in mutants if m['group'] == group]) for group, count in data['operators'].items()]
    rows.append(('all', sum(data['operators'].values()), mutants))
    for group, count, of in rows:
        killed = sum(m['outcome'] == 'killed' for m in of)
        same = sum(m in equivalent and m['outcome'] != 'not run' for m in of)
        waiting = sum(m['outcome'] == 'not run' for m in of)
        decided = len(of) - same - waiting
        lines.append(f'| {group} | {count:,} | {len(of)} | {waiting} | {killed} | {same} | {decided - killed} | '
                     f'{share(killed, decided)} |')
    for title, of in (('Not killed', open_ones), ('Equivalent', equivalent)):
        lines += ['', f'{title}:', '']
        if not of:
            lines.append('none')
            continue
        lines += ['| mutant | place | change | ' + ('reason |' if of is equivalent else 'outcome |'), '|--:|---|---|---|']
        for m in of:
            text = change(m).replace('|', '\\|')
            lines.append(f'| {m["id"]} | {m["file"]}:{m["line"]} | `{text}` | '
                         f'{reasons[key(m)] if of is equivalent else m["outcome"]} |')
    return '\n'.join(lines) + '\n'


def with_tables(text, new):
    before, rest = text.split(BEGIN)
    return before + BEGIN + new + END + rest.split(END)[1]


def main():
    readme = HERE / 'README.md'
    text = readme.read_text()
    expected = with_tables(text, tables(HERE))
    if sys.argv[1:] == ['--check']:
        if text != expected:
            print('tests/mutants/README.md differs from results.json and equivalent.json; run report.py')
            return 1
        return 0
    readme.write_text(expected)
    return 0


if __name__ == '__main__':
    sys.exit(main())
