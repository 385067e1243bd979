"""Compiles many models for many targets with any executor of `concurrent.futures`.

`sweep` has no scheduler of its own: a process pool is the default, and the executors of Dask, Ray
and MPI do the same work on other machines. Each result is stored under a hash of everything that it
depends on, so that a sweep which was stopped continues where it ended.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
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

from ._inputs import DataLike
from ._sweep_cache import SweepCache, default_folder
from ._sweep_item import SweepItem, SweepResult, crashed, prepare, run, samples_of

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
        for the default pool, and 64 for other executors.
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
        raise ValueError(f"retries is {retries}, at least 1 is expected")
    if in_flight is not None and in_flight < 1:
        raise ValueError(f"in_flight is {in_flight}, at least 1 is expected")
    stored = None
    if cache is not False:
        stored = SweepCache(default_folder() if cache is True else os.fspath(cache))
    items = prepare(
        _named(models),
        [targets] if isinstance(targets, str) else list(targets),
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
    combinations = itertools.product(*values.values())
    return [dict(zip(values, combination, strict=True)) for combination in combinations]


def _sets(options: Options | Iterable[Options] | None) -> list[Options]:
    if options is None:
        return [{}]
    if isinstance(options, Mapping):
        return [cast(Options, options)]
    return list(options)


def _named(models: Models) -> Iterator[tuple[str, Any]]:
    """Yields pairs of a name and a model; a model without a name gets its file name or number."""
    if isinstance(models, Mapping):
        yield from models.items()
        return
    for number, model in enumerate([models] if isinstance(models, (str, bytes)) else models):
        pair = cast("tuple[Any, ...]", model) if isinstance(model, tuple) else ()
        if len(pair) == 2 and isinstance(pair[0], str):
            yield pair[0], pair[1]
        elif isinstance(model, (str, os.PathLike)):
            yield os.path.splitext(os.path.basename(os.fspath(model)))[0], model
        else:
            yield f"model_{number}", model


def _process_pool() -> Executor:
    # "spawn" on all systems: a forked copy of a process with threads can deadlock.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(mp_context=context, initializer=_use_one_thread)


def _use_one_thread() -> None:
    # The workers use all CPUs together.
    os.environ.setdefault("THIMBLE_THREADS", "1")


@dataclass(frozen=True)
class _Submission:
    item: SweepItem
    executor: Executor


# Workers that die on this many items, with no item finished, die for a reason of their own.
_CRASHES_MAX = 3
_ALL_DIE = (
    "the workers of sweep() die on every item; their messages are on stderr. A script that calls "
    'sweep() needs `if __name__ == "__main__":`'
)


class _Sweep:
    """Submits items and yields results.

    A process pool fails as a whole when one of its processes dies, and does not tell on which item.
    Every item that was lost therefore runs again alone. If a worker dies while an item runs alone,
    the item is the cause; it counts as crashed after `retries` more attempts.
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
        default = (os.cpu_count() or 1) + 2 if executor is None else 64
        self._in_flight = in_flight or default
        self._retries = retries
        self._stored = stored
        self._pending: dict[Future[SweepResult], _Submission] = {}
        self._lost: list[SweepItem] = []
        self._crashes: int | None = 0  # None after an item finished

    def results(self, items: Iterator[SweepItem | SweepResult]) -> Iterator[SweepResult]:
        try:
            while True:
                while (item := self._next(items)) is not None:
                    if isinstance(item, SweepResult):
                        yield item
                    else:
                        self._submit(item)
                if not self._pending:
                    if self._crashes:
                        raise BrokenExecutor(_ALL_DIE)
                    return
                for future in wait(self._pending, return_when=FIRST_COMPLETED).done:
                    result = self._finished(self._pending.pop(future), future)
                    if result is not None:
                        yield result
        finally:
            for future in self._pending:
                future.cancel()
            self._close()

    def _next(self, items: Iterator[SweepItem | SweepResult]) -> SweepItem | SweepResult | None:
        if self._lost:
            return None if self._pending else self._lost.pop(0)
        return next(items, None) if len(self._pending) < self._in_flight else None

    def _submit(self, item: SweepItem) -> None:
        if self._executor is None:
            assert self._make is not None
            self._executor = self._make()
        try:
            future = self._executor.submit(run, item)
        except BrokenExecutor as error:
            self._lost.append(item)
            self._replace(self._executor, error)
            return
        self._pending[future] = _Submission(item, self._executor)

    def _finished(
        self, submission: _Submission, future: Future[SweepResult]
    ) -> SweepResult | None:
        """Returns the result, or None if the item is to run again."""
        item = submission.item
        try:
            result = future.result()
        except Exception as error:  # an executor has exceptions of its own for a dead worker
            if isinstance(error, BrokenExecutor):
                self._replace(submission.executor, error)
            if item.attempt <= self._retries:
                self._lost.append(replace(item, attempt=item.attempt + 1))
                return None
            if self._crashes is not None:
                self._crashes += 1
                if self._crashes == _CRASHES_MAX:
                    raise BrokenExecutor(_ALL_DIE) from error
            return crashed(item, error)
        self._crashes = None
        if self._stored and not result.cached and result.status != "error":
            self._stored.put(result)
        return result

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
