# SPDX-License-Identifier: Apache-2.0
"""Records which tests reach which mutant, and runs each mutant's tests until one fails."""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import threading
import time

import images
from tree import MUTANTS_MAX

RECORD = -1         # kRecordMutants
MEMORY_MAX = 8 << 30


class Runner:
    def __init__(self, build, tests):
        self.build = pathlib.Path(build)
        self.tests = {test['name']: test for test in tests}
        self.locks = {test['name']: threading.Lock() for test in tests}
        self.processes = set()
        signal.signal(signal.SIGTERM, self.stop)
        # Images mark the mutants that they reach in this file.
        self.image_reached = self.build / 'reached_on_board.bin'

    def stop(self, *_):
        """Ends the tests that run, which are not in the process group of this program."""
        for process in list(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        os._exit(1)

    def lock(self, test):
        """A test never runs twice at a time: it may use a folder of its own. An image is changed in place."""
        return self.locks[test['name']]

    def execute(self, test, time_limit, mutant, reached=None):
        """Runs the test; returns how it failed or None, and the seconds."""
        environment = dict(os.environ, GTEST_FAIL_FAST='1', GTEST_BRIEF='1')
        environment.pop('THIMBLE_MUTANT', None)
        environment.update(entry.split('=', 1) for entry in test['environment'])
        if reached is not None:
            environment['THIMBLE_MUTANTS_REACHED'] = str(reached)
        elif mutant:
            environment['THIMBLE_MUTANT'] = str(mutant)

        def limits():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
            # A test writes a sparse file of 60 GiB.
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 37, 1 << 37))

        with self.lock(test):
            if 'image' in test:
                images.set_active(test['image'], RECORD if reached is not None else mutant)
            log = self.build / f'log.{threading.get_ident()}.txt'
            begin = time.monotonic()
            with open(log, 'wb') as out:
                process = subprocess.Popen(test['command'], cwd=test['folder'], env=environment, stdout=out,
                                           stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                           start_new_session=True, preexec_fn=limits)
                self.processes.add(process)
                try:
                    code = process.wait(timeout=time_limit)
                except subprocess.TimeoutExpired:
                    code = None
                self.processes.discard(process)
                try:
                    os.killpg(process.pid, signal.SIGKILL)  # also of the children that are left
                except ProcessLookupError:
                    pass
                process.wait()
            seconds = time.monotonic() - begin
            text = log.read_text(errors='replace')
            log.unlink()
        if code is None:
            return 'time limit', seconds, text
        if code < 0:
            return f'signal {-code}', seconds, text
        if code != 0 and code != test['skip']:
            return f'exit code {code}', seconds, text
        if any(re.search(pattern, text) for pattern in test['fails_if']):
            return 'output', seconds, text
        return None, seconds, text

    def record(self, name):
        """Runs the test without a mutant; returns its seconds, its failure and the mutants that it reaches."""
        test = self.tests[name]
        reached = self.build / 'reached.bin'
        reached.write_bytes(bytes(MUTANTS_MAX))
        self.image_reached.write_bytes(bytes(MUTANTS_MAX))
        failure, seconds, text = self.execute(test, 1800, 0, reached)
        marks = (self.image_reached if 'image' in test else reached).read_bytes()
        mutants = {i for i, mark in enumerate(marks) if mark}
        return {'seconds': round(seconds, 2), 'failure': failure, 'reached': sorted(mutants),
                'output': text[-2000:] if failure else ''}

    def time_limit(self, usual):
        return 10 * usual + 10

    def kill(self, mutant, record):
        """Runs the tests that reach the mutant, the fastest first, until one fails."""
        reaching = [(entry['seconds'], name) for name, entry in record.items()
                    if mutant['id'] in entry['reached'] and not entry['failure'] and name in self.tests]
        tried = []
        total = 0.0
        for usual, name in sorted(reaching):
            failure, seconds, text = self.execute(self.tests[name], self.time_limit(usual), mutant['id'])
            total += seconds
            tried.append(name)
            if failure:
                first = next((line for line in text.splitlines() if 'FAILED  ]' in line or 'rror' in line), '')
                return {'id': mutant['id'], 'outcome': 'killed', 'test': name, 'how': failure,
                        'line': first[:160], 'tests_run': len(tried), 'seconds': round(total, 1)}
        return {'id': mutant['id'], 'outcome': 'survived' if reaching else 'not reached',
                'tests_run': len(tried), 'seconds': round(total, 1), 'tests': tried}


def run_all(runner, mutants, record, results_file, jobs, log):
    """Runs all mutants without a result. Each result is a line of the file, so that a run can be resumed."""
    results = load(results_file)
    waiting = [mutant for mutant in mutants if mutant['id'] not in results]
    lock = threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                mutant = waiting.pop(0)
            result = runner.kill(mutant, record)
            with lock:
                results[mutant['id']] = result
                with open(results_file, 'a') as out:
                    out.write(json.dumps(result) + '\n')
                log(f'{len(results)}/{len(mutants)} mutant {mutant["id"]} {mutant["file"]}:{mutant["line"]} '
                    f'{mutant["operator"]} -> {mutant["replacement"]}: {result["outcome"]} '
                    f'{result.get("test", "")} {result["seconds"]} s')

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def load(results_file):
    path = pathlib.Path(results_file)
    if not path.exists():
        return {}
    results = [json.loads(line) for line in path.read_text().splitlines() if line]
    return {result['id']: result for result in results}
