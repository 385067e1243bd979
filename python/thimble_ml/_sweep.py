# SPDX-License-Identifier: Apache-2.0
"""Compiles many models for many targets with any executor of `concurrent.futures`.

`sweep` has no scheduler of its own: a process pool is the default, and the executors of Dask, Ray
and MPI do the same work on other machines. Each result is stored under a hash of everything that it
depends on, so that a sweep which was stopped continues where it ended.
"""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from dataclasses import dataclass, replace
from typing import Any, cast

from ._errors import BadInput
from ._inputs import DataLike, is_path, to_path, to_target
from ._sweep_cache import SweepCache, default_folder
from ._sweep_item import SweepItem, SweepResult, crashed, prepare, run_all, samples_of

__all__ = ["SweepResult", "grid", "sweep"]

Options = Mapping[str, Any]
Models = Mapping[str, Any] | Iterable[Any]


def sweep(
    models: Models,
    targets: str | Iterable[str],
    options: Options | Iterable[Options] | None = None,
    *,
    calibration: DataLike = None,
    executor: Executor | Callable[[], Executor] | None = None,
    cache: str | os.PathLike[str] | bool = True,
    retries: int = 2,
    in_flight: int | None = None,
    keep_programs: bool = False,
) -> Iterator[SweepResult]:
    """Compile every model for every target with every set of options.

    Parameters
    ----------
    models
        Models by name, or an iterable of models or of pairs `(name, model)`. A model is a path of a
        `.pt2`, its bytes, an `ExportedProgram`, a pair `(nn.Module, args)`, or a function without
        arguments that returns one of these. A function is called in the worker, so that exports
        run in parallel too. An iterator is read only as fast as results arrive.
    targets
        A name as of `compile`, or several.
    options
        Keyword arguments of `compile`, or several sets of them (see `grid`).
    calibration
        Calibration data for all models, as for `compile`; sent to the workers with each item.
        Without it random data give sizes and times, and no accuracy.
    executor
        Any `concurrent.futures.Executor`, or a function that makes one. The default is a pool with
        one process per CPU; a script that uses it needs ``if __name__ == "__main__":``. An executor
        that was passed in is not shut down. With a function, a new executor replaces a broken one.
    cache
        Folder of the stored results. True is `$XDG_CACHE_HOME/thimble/sweep`, False stores nothing.
    retries
        How often an item is tried again after its worker died, at least 1.
    in_flight
        Number of items that are submitted at one time. The default is two more than there are CPUs
        for the default pool, and 256 for other executors. Short items are submitted in batches of
        about a quarter of a second, of at most 1/32 of this number.
    keep_programs
        Stores the `.pte` bytes in the results and in the cache.

    Yields
    ------
    SweepResult
        One per model, target and set of options, in the order in which they finish. A model that
        does not fit or cannot be compiled is a result with a `status` and an `error`.

    Raises
    ------
    concurrent.futures.BrokenExecutor
        The executor that was passed in broke and cannot be replaced, or workers die on every item.
        Finished results are in the cache: the same call with a new executor continues.
    BadInput
        A model cannot be read, or the data are not calibration data.
    OSError
        The cache folder cannot be written.
    RuntimeError
        A worker process imported a script that starts the sweep outside of
        ``if __name__ == "__main__":``.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise RuntimeError(
            "sweep() starts worker processes, which import this script again: "
            'call it inside `if __name__ == "__main__":`'
        )
    if retries < 1:
        raise BadInput(f"retries is {retries}, at least 1 is expected")
    if in_flight is not None and in_flight < 1:
        raise BadInput(f"in_flight is {in_flight}, at least 1 is expected")
    if not (executor is None or isinstance(cast(Any, executor), Executor) or callable(executor)):
        raise _wrong("executor", executor, "an executor or a function that makes one")
    if not isinstance(cache, bool) and not is_path(cache):
        raise _wrong("cache", cache, "True, False or the path of a folder")
    names = [to_target(each) for each in _several("targets", targets, "a name or several")]
    stored = None
    if cache is not False:
        stored = SweepCache(default_folder() if cache is True else to_path(cache, "cache"))
    items = prepare(
        _named(models),
        names,
        _sets(options),
        samples_of(calibration),
        keep_programs,
        stored,
    )
    return _Sweep(executor, in_flight, retries, stored).results(items)


def grid(**values: Iterable[Any]) -> list[dict[str, Any]]:
    """Return every combination of the values, as sets of options for `sweep`.

    >>> grid(activations=["int8", "int16"], optimize=["speed", "size"])[0]
    {'activations': 'int8', 'optimize': 'speed'}
    """
    for name, value in values.items():
        if isinstance(cast(Any, value), (str, bytes)) or not isinstance(cast(Any, value), Iterable):
            raise _wrong(name, value, "a list of values")
    combinations = itertools.product(*values.values())
    return [dict(zip(values, combination, strict=True)) for combination in combinations]


def _sets(options: Options | Iterable[Options] | None) -> list[Options]:
    if options is None:
        return [{}]
    if isinstance(options, Mapping):
        return [cast(Options, options)]
    sets = _several("options", options, "keyword arguments or several sets of them")
    for each in sets:
        if not isinstance(each, Mapping):
            raise _wrong("options", each, "a dict of keyword arguments")
    return sets


def _wrong(name: str, value: Any, expected: str) -> BadInput:
    return BadInput(f"{name}: found {type(value).__name__}, expected {expected}")


def _several(name: str, values: Any, expected: str) -> list[Any]:
    if is_path(values):
        return [values]
    if not isinstance(values, Iterable):
        raise _wrong(name, values, expected)
    return list(cast("Iterable[Any]", values))


def _named(models: Models) -> Iterator[tuple[str, Any]]:
    """Yields pairs of a name and a model; a model without a name gets its file name or number."""
    if isinstance(models, Mapping):
        yield from models.items()
        return
    for number, model in enumerate(_models(models)):
        pair = cast("tuple[Any, ...]", model) if isinstance(model, tuple) else ()
        if len(pair) == 2 and isinstance(pair[0], str):
            yield pair[0], pair[1]
        elif isinstance(model, (str, os.PathLike)):
            yield os.path.splitext(os.path.basename(os.fspath(model)))[0], model
        else:
            yield f"model_{number}", model


def _models(models: Any) -> Iterable[Any]:
    if isinstance(models, (str, bytes, os.PathLike)):
        return [models]
    if not isinstance(models, Iterable):
        raise _wrong("models", models, "models by name, or an iterable of models")
    return cast("Iterable[Any]", models)


def _process_pool() -> Executor:
    # "spawn" on all systems: a forked copy of a process with threads can deadlock.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(mp_context=context, initializer=_use_one_thread)


def _use_one_thread() -> None:
    # The workers use all CPUs together.
    os.environ.setdefault("THIMBLE_THREADS", "1")


@dataclass(frozen=True)
class _Submission:
    items: Sequence[SweepItem]
    executor: Executor


# A call of an executor costs processor time on this machine, for messages and bookkeeping: with Dask
# 23 ms per item of 50 ms, of which batches save 1 ms and batches with `pure=False` 9 ms. Items that
# take less than this are submitted together, in at least _CALLS_MIN calls.
_CALL_SECONDS = 0.25
_CALLS_MIN = 32
_ALONE_MAX = 64  # items before the time of one is known


# Workers that die on this many items, with no item finished, die for a reason of their own.
_CRASHES_MAX = 3
_ALL_DIE = (
    "the workers of sweep() die on every item; their messages are on stderr. A script that calls "
    'sweep() needs `if __name__ == "__main__":`'
)


def _check_function(items: Sequence[SweepItem], error: Exception) -> None:
    """Raises BadInput if the executor could not send a function that returns a model."""
    if not isinstance(error, (pickle.PicklingError, AttributeError, TypeError)):
        return
    if "pickle" not in str(error):
        return
    for item in items:
        if callable(item.source):
            raise BadInput(
                f"models: {item.model}: found a function that cannot be sent to a worker process "
                f"({error}), expected a function of a module, such as functools.partial of one: a "
                "lambda and a function in another function cannot be pickled"
            ) from error


class _Sweep:
    """Submits items and yields results.

    A process pool fails as a whole when one of its processes dies, and does not tell on which item.
    Every item that was lost therefore runs again alone. If a worker dies while an item runs alone,
    the item is the cause; it counts as crashed after `retries` more attempts.

    The first items are submitted alone. When their times are known, short items that follow each
    other are submitted in one call. They have the same model most of the time, which is then sent
    once.
    """

    def __init__(
        self,
        executor: Executor | Callable[[], Executor] | None,
        in_flight: int | None,
        retries: int,
        stored: SweepCache | None,
    ) -> None:
        self._make: Callable[[], Executor] | None = None
        if executor is None:
            self._make = _process_pool
        elif not isinstance(executor, Executor):
            self._make = executor
        self._executor = executor if isinstance(executor, Executor) else None
        default = (os.cpu_count() or 1) + 2 if executor is None else 8 * _CALLS_MIN
        self._in_flight = in_flight or default
        self._retries = retries
        self._stored = stored
        self._pending: dict[Future[list[SweepResult]], _Submission] = {}
        self._lost: list[SweepItem] = []
        self._crashes: int | None = 0  # None after an item finished
        self._seconds = math.inf  # of an item in its worker, a moving average; not known yet

    def results(self, items: Iterator[SweepItem | SweepResult]) -> Iterator[SweepResult]:
        try:
            while True:
                yield from self._fill(items)
                if not self._pending:
                    if self._crashes:
                        raise BrokenExecutor(_ALL_DIE)
                    return
                for future in wait(self._pending, return_when=FIRST_COMPLETED).done:
                    yield from self._finished(self._pending.pop(future), future)
        finally:
            for future in self._pending:
                future.cancel()
            self._close()

    def _fill(self, items: Iterator[SweepItem | SweepResult]) -> Iterator[SweepResult]:
        """Submits items until enough are pending. Yields the results that are in the cache."""
        while True:
            if self._lost:
                if self._pending:
                    return
                self._submit([self._lost.pop(0)])
                continue
            count = sum(len(each.items) for each in self._pending.values())
            known = not math.isinf(self._seconds)
            if count >= (self._in_flight if known else min(self._in_flight, _ALONE_MAX)):
                return
            batch: list[SweepItem] = []
            size = self._batch_size()
            for item in items:
                if isinstance(item, SweepResult):
                    yield item
                    continue
                batch.append(item)
                if len(batch) == size:
                    break
            if not batch:
                return
            self._submit(batch)

    def _batch_size(self) -> int:
        largest = self._in_flight // _CALLS_MIN
        return max(1, min(largest, int(_CALL_SECONDS / max(self._seconds, 1e-6))))

    def _submit(self, items: Sequence[SweepItem]) -> None:
        if self._executor is None:
            assert self._make is not None
            self._executor = self._make()
        try:
            future = self._executor.submit(run_all, items)
        except BrokenExecutor as error:
            self._lost.extend(items)
            self._replace(self._executor, error)
            return
        self._pending[future] = _Submission(items, self._executor)

    def _finished(
        self, submission: _Submission, future: Future[list[SweepResult]]
    ) -> Iterator[SweepResult]:
        """Yields the results of a call. Without any, its items are to run again."""
        try:
            results = future.result()
        except Exception as error:  # an executor has exceptions of its own for a dead worker
            _check_function(submission.items, error)
            if isinstance(error, BrokenExecutor):
                self._replace(submission.executor, error)
            yield from self._failed(submission.items, error)
            return
        self._crashes = None
        for result in results:
            if not result.cached:
                known = result.seconds if math.isinf(self._seconds) else self._seconds
                self._seconds = known + (result.seconds - known) / 8
                # Bad input may be a full disk or a file without permission, and it is found quickly.
                if self._stored and result.status not in ("error", "bad_input"):
                    self._stored.put(result)
            yield result

    def _failed(self, items: Sequence[SweepItem], error: Exception) -> Iterator[SweepResult]:
        """Yields the results of items whose worker died too often; the others are to run again."""
        for item in items:
            if item.attempt <= self._retries:
                self._lost.append(replace(item, attempt=item.attempt + 1))
                continue
            if self._crashes is not None:
                self._crashes += 1
                if self._crashes == _CRASHES_MAX:
                    raise BrokenExecutor(_ALL_DIE) from error
            yield crashed(item, error)

    def _replace(self, broken: Executor, cause: BaseException) -> None:
        if broken is not self._executor:
            return  # another item of the same executor has replaced it
        if self._make is None:
            raise BrokenExecutor(
                "the executor of sweep() broke. Finished results are in the cache: call sweep() "
                "again with a new executor, or pass a function that makes executors"
            ) from cause
        self._close()

    def _close(self) -> None:
        if self._make is not None and self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None
