"""One item of a sweep: what a worker receives and what it returns."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import thimble_ml
from thimble_ml._sweep_cache import SweepCache


@dataclass(frozen=True)
class SweepItem:
    """One compilation. All fields can be pickled; `model` is `.pt2` bytes or a function."""

    model: str
    source: bytes | Callable[[], Any]
    target: str
    options: Mapping[str, Any]
    calibration: Any
    keep_program: bool
    cache: str | None
    key: str | None  # None if the worker has to compute it
    attempt: int = 1


@dataclass(frozen=True)
class SweepResult:
    """Result of one compilation of a sweep.

    Attributes
    ----------
    model, target, options
        What was compiled.
    status
        `"ok"`, `"does_not_fit"`, `"unsupported"`, `"bad_input"`, `"error"` (an exception that is
        none of `compile`), or `"crashed"` (the worker died).
    error
        The message, if `status` is not `"ok"`.
    report
        The report of `compile --json` as a dict.
    seconds
        Time of the item in its worker.
    worker
        Process that compiled it, `HOST:PID`.
    attempt
        1, or more if a worker died.
    cached
        True if the result was read from the cache.
    program
        The `.pte`, with `keep_programs`.
    key
        Hash of everything that the result depends on.
    """

    model: str
    target: str
    options: Mapping[str, Any]
    status: str
    error: str | None = None
    seconds: float = 0.0
    worker: str = ""
    attempt: int = 1
    cached: bool = False
    key: str | None = None
    report: dict[str, Any] | None = field(default=None, repr=False)
    program: bytes | None = field(default=None, repr=False)

    @property
    def memory(self) -> dict[str, int]:
        """Bytes used per memory after linking, by the memory's name."""
        return {m["name"]: m["bytes_used"] for m in (self.report or {}).get("memories", ())}

    @property
    def time_ms(self) -> float | None:
        """Modelled time of one inference in ms; None if the part gives no clock."""
        time_us = (self.report or {}).get("time_us")
        return None if time_us is None else time_us / 1000

    @property
    def sqnr_db(self) -> list[float | None]:
        """Signal to quantization noise per output in dB; empty with random calibration data."""
        return (self.report or {}).get("sqnr_db", [])

    def row(self) -> dict[str, Any]:
        """Return a row of a table: a column per option, per memory (`sram_bytes`) and per fact."""
        return {
            "model": self.model,
            "target": self.target,
            **self.options,
            "status": self.status,
            "error": self.error,
            **{f"{name}_bytes": used for name, used in self.memory.items()},
            "time_ms": self.time_ms,
            "cycles": (self.report or {}).get("cycles"),
            "sqnr_db": min((x for x in self.sqnr_db if x is not None), default=None),
            "seconds": self.seconds,
            "worker": self.worker,
            "attempt": self.attempt,
            "cached": self.cached,
        }


def prepare(
    models: Iterator[tuple[str, Any]],
    targets: list[str],
    options: list[Mapping[str, Any]],
    calibration: Any,
    keep_program: bool,
    cache: SweepCache | None,
) -> Iterator[SweepItem | SweepResult]:
    """Yield an item per model, target and set of options, or its result if it is in the cache."""
    for name, model in models:
        source = model if _is_factory(model) else pt2_bytes(model)
        for target, chosen in itertools.product(targets, options):
            item = SweepItem(
                name, source, target, chosen, calibration, keep_program, cache and cache.folder
            )
            if isinstance(source, bytes):
                item = replace(item, key=item_key(source, item))
            stored = cache.get(item.key) if cache and item.key else None
            yield item if stored is None else replace(stored, model=name)


def item_key(pt2: bytes, item: SweepItem) -> str:
    """Return the SHA-256 of everything that the result of an item depends on."""
    parts = [
        thimble_ml.build_id().encode(),
        pt2,
        _target_bytes(item.target),
        json.dumps(dict(item.options), sort_keys=True).encode(),
        _bytes_of_data(item.calibration),
        b"program" if item.keep_program else b"",
    ]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def run(item: SweepItem) -> SweepResult:
    """Compile one item. Called in a worker."""
    begin = time.perf_counter()
    try:
        result = _compiled(item)
    except thimble_ml.DoesNotFit as error:
        result = _failed(item, "does_not_fit", error)
    except thimble_ml.Unsupported as error:
        result = _failed(item, "unsupported", error)
    except thimble_ml.BadInput as error:
        result = _failed(item, "bad_input", error)
    except Exception as error:
        result = _failed(item, "error", error)
    return replace(
        result,
        seconds=time.perf_counter() - begin,
        worker=f"{socket.gethostname()}:{os.getpid()}",
        attempt=item.attempt,
    )


def crashed(item: SweepItem, error: BaseException) -> SweepResult:
    """Return the result of an item whose worker died."""
    return replace(_failed(item, "crashed", error), attempt=item.attempt)


def _failed(item: SweepItem, status: str, error: BaseException) -> SweepResult:
    text = str(error) or type(error).__name__
    if status == "error":
        text = f"{type(error).__name__}: {text}"
    return SweepResult(item.model, item.target, item.options, status, text, key=item.key)


def _compiled(item: SweepItem) -> SweepResult:
    # The workers use all CPUs together; threads of one compilation would only compete with them.
    os.environ.setdefault("THIMBLE_THREADS", "1")
    key = item.key
    source = item.source
    if not isinstance(source, bytes):
        source = pt2_bytes(source())
        key = item_key(source, item)
        stored = SweepCache(item.cache).get(key) if item.cache else None
        if stored is not None:
            return replace(stored, model=item.model)
    program = thimble_ml.compile(
        source, target=item.target, calibration=item.calibration, **item.options
    )
    report = program.report()
    assert isinstance(report, dict)
    return SweepResult(
        item.model,
        item.target,
        item.options,
        "ok",
        key=key,
        report=report,
        program=bytes(program) if item.keep_program else None,
    )
