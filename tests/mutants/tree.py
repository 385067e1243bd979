# SPDX-License-Identifier: Apache-2.0
"""The copy of the tree with all mutants, its build, and the list of its tests."""
import json
import os
import pathlib
import random
import re
import subprocess

import transform

HERE = pathlib.Path(__file__).resolve().parent
MUTANTS_MAX = int(re.search(r'kMutantsMax = (\d+)', (HERE / 'mutant.h').read_text())[1])


def run(command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def write(path, data):
    """Writes the file unless it has these bytes, so that the build compiles only what differs."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def group_files(source, patterns):
    files = set()
    for pattern in patterns:
        files.update(path for path in source.glob(pattern) if path.suffix in ('.cpp', '.h'))
    return sorted(str(path.relative_to(source)) for path in files)


def choose(source, generated, scope, count, log):
    """Returns `count` mutants of each group in the order of the seed, and the number of sites of each group.
    A mutant that is refused by the compiler is replaced by the next one."""
    import sites  # needs libclang
    parser = sites.Parser(source, generated)
    chosen, totals = [], {}
    for group, patterns in scope['groups'].items():
        found = [site for name in group_files(source, patterns) for site in sites.find_sites(parser, name)]
        totals[group] = len(found)
        order = random.Random(f'{scope["seed"]} {group}')
        order.shuffle(found)
        taken = 0
        for site in found:
            if taken == count:
                break
            # The switch is not active in a function that only the compiler evaluates.
            if [site['file'], site['line']] in scope['compile_time']:
                log(f'evaluated by the compiler: {site["file"]}:{site["line"]} {site["operator"]}')
                continue
            choices = sites.BINARY.get(site['operator'], []) if len(site['operands']) == 2 else ['']
            mutant = dict(site, group=group, id=len(chosen) + 1, replacement=order.choice(choices))
            data = (source / site['file']).read_bytes()
            parsed = transform.rewrite(data, [mutant]).decode()
            if parser.parse(site['file'], parsed)[1]:
                log(f'the compiler refuses {site["file"]}:{site["line"]} {site["operator"]} '
                    f'as {mutant["replacement"]}')
                continue
            mutant['text'] = ' '.join(data[site['begin']:site['end']].decode().split())
            chosen.append(mutant)
            taken += 1
        assert len(chosen) < MUTANTS_MAX
        log(f'{group}: {len(found)} operators, {taken} mutants')
    return chosen, totals


def copy_tree(source, tree, mutants, reached_file):
    """Writes the files of the working tree to `tree`, with the mutants."""
    listed = run(['git', '-C', source, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
                 capture_output=True).stdout
    names = {name for name in listed.split('\0') if name and (source / name).is_file()}
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant['file'], []).append(mutant)
    for name in names:
        data = (source / name).read_bytes()
        if name in by_file:
            data = transform.rewrite(data, by_file[name])
        elif name == 'tests/mutants/mutant.h':
            data = data.replace(b'@REACHED_FILE@', str(reached_file).encode())
        elif name == 'firmware/device.cmake':
            data = data.replace(b' -Werror', b'')  # a mutant of a kernel may cause a warning
        path = tree / name
        write(path, data)
        path.chmod((source / name).stat().st_mode)
    for folder, folders, files in os.walk(tree):
        if pathlib.Path(folder) == tree and 'build' in folders:
            folders.remove('build')
        for file in files:
            path = pathlib.Path(folder) / file
            if str(path.relative_to(tree)) not in names:
                path.unlink()


def configure(tree, build):
    """Builds the library of the switch and configures the build folder."""
    build.mkdir(parents=True, exist_ok=True)
    library = build / 'libthimble_mutant.so'
    run(['g++', '-std=c++20', '-O2', '-shared', '-fPIC', f'-I{tree}', tree / 'tests/mutants/mutant_host.cpp',
         '-o', library])
    if not (build / 'build.ninja').exists():
        run(['cmake', '-S', tree, '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', '-DTHIMBLE_UNITY=ON',
             f'-DCMAKE_CXX_STANDARD_LIBRARIES={library}', f'-DCMAKE_C_STANDARD_LIBRARIES={library}',
             '--log-level=WARNING'])
    else:
        run(['cmake', '-S', tree, '-B', build, '--log-level=WARNING'])


def list_tests(build, scope):
    """The tests of the scope: command, environment, folder and how to read the exit code."""
    ctest = re.search(r'^CMAKE_CTEST_COMMAND:INTERNAL=(.*)$', (build / 'CMakeCache.txt').read_text(), re.M)[1]
    listed = json.loads(run([ctest, '--test-dir', build, '--show-only=json-v1'], capture_output=True).stdout)
    tests = []
    for test in listed['tests']:
        of = {entry['name']: entry['value'] for entry in test.get('properties', [])}
        named = any(re.fullmatch(pattern, test['name']) for pattern in scope['more_tests'])
        if not named and not set(of.get('LABELS', [])) & set(scope['test_labels']):
            continue
        if test['name'].startswith('mutant_'):  # these run this tool
            continue
        # ctest gives no command for a program that is not built; the target has the name of the test.
        tests.append({'name': test['name'], 'command': test.get('command', [str(build / test['name'])]), 'folder': of['WORKING_DIRECTORY'],
                      'environment': of.get('ENVIRONMENT', []),
                      'skip': of.get('SKIP_RETURN_CODE'), 'fails_if': of.get('FAIL_REGULAR_EXPRESSION', [])})
    return tests


def image_tests(tree, build, scope):
    """One test for each core with kernels of its own: its image that compares all kernel variants."""
    rows = re.findall(r'^thimble_core\((\S+) (\S+) FLAGS', (tree / 'firmware/cores.cmake').read_text(), re.M)
    tests = []
    for core, machine in rows:
        image = build / f'firmware/{scope["image"]}-{core}.elf'
        tests.append({'name': image.stem, 'image': str(image), 'folder': str(build), 'environment': [],
                      'skip': None, 'fails_if': [],
                      'command': ['qemu-system-arm', '-M', machine, '-nodefaults', '-display', 'none', '-monitor', 'none',
                                  '-serial', 'stdio', '-kernel', str(image), '-semihosting-config',
                                  f'enable=on,target=native,arg={scope["image"]},arg=all']})
    return tests


def build_tests(tree, build, tests, jobs):
    """Builds the programs of the tests, the program and the images. ccache finds unchanged objects."""
    targets = {'thimble'}
    for test in tests:
        for word in test['command']:
            if word.startswith(str(build)) and not word.endswith(('.py', '.so', '.elf')):
                targets.add(pathlib.Path(word).name)
    known = run(['ninja', '-C', build, '-t', 'targets', 'all'], capture_output=True).stdout
    known = {line.split(':')[0] for line in known.splitlines()}
    images = [f'image-{test["name"]}' for test in tests if 'image' in test]
    environment = dict(os.environ, CCACHE_DEPEND='1', CCACHE_BASEDIR=str(tree), CCACHE_PCH_EXTSUM='1',
                       CCACHE_SLOPPINESS='pch_defines,time_macros,include_file_mtime,include_file_ctime')
    run(['ninja', '-C', build, '--quiet', f'-j{jobs}', *sorted(targets & known), *images],
        env=environment)
