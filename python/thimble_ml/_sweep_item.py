# SPDX-License-Identifier: Apache-2.0
"""One item of a sweep: what a worker receives and what it returns."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import socket
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Union, cast

import numpy as np

from ._compile import compile
from ._errors import BadInput, DoesNotFit, Unsupported
from ._inputs import Array, DataLike, loaded, to_items, to_source
from ._queries import targets
from ._sweep_cache import SweepCache
from ._thimble import __file__ as module_file

#: "random", or the items of an iterable of calibration data.
Samples = Union[str, "list[dict[str, Array] | tuple[Array, ...]]"]


@dataclass(frozen=True)
class SweepItem:
    """One compilation. All fields can be pickled; `model` is `.pt2` bytes or a function."""

    model: str
    source: bytes | Callable[[], Any]
    target: str
    options: Mapping[str, Any]
    samples: Samples
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
    packed_report
        The text of the report, compressed with zlib: no process parses a report before it is read.
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
    program: bytes | None = field(default=None, repr=False)
    packed_report: bytes | None = field(default=None, repr=False)

    @cached_property
    def report(self) -> dict[str, Any] | None:
        """The report of `compile --json` as a dict; None if the status is not `"ok"`."""
        return None if self.packed_report is None else json.loads(zlib.decompress(self.packed_report))

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
    models: Iterable[tuple[str, Any]],
    target_names: list[str],
    options: list[Mapping[str, Any]],
    samples: Samples,
    keep_program: bool,
    stored: SweepCache | None,
) -> Iterator[SweepItem | SweepResult]:
    """Yield an item per model, target and set of options, or its result if it is in the cache."""
    folder = stored.folder if stored else None
    data_hash = samples_hash(samples)
    for name, model in models:
        source = model if _is_function(model) else pt2_bytes(model)
        model_hash = hashlib.sha256(source).digest() if isinstance(source, bytes) else None
        for target, chosen in itertools.product(target_names, options):
            item = SweepItem(name, source, target, chosen, samples, keep_program, folder, None)
            if model_hash is not None:
                item = replace(item, key=item_key(model_hash, data_hash, item))
            result = stored.get(item.key) if stored and item.key else None
            yield item if result is None else replace(result, model=name)


def samples_of(calibration: DataLike) -> Samples:
    """Return the data such that a worker on another machine can use them."""
    if calibration is None or (isinstance(calibration, str) and calibration == "random"):
        return "random"
    items, _ = to_items(loaded(calibration), "calibration")
    if any(not item for item in items or []):
        raise BadInput("calibration: an item without arrays")
    return [dict(item) if item[0][0] else tuple(array for _, array in item) for item in items or []]


def pt2_bytes(model: Any) -> bytes:
    """Return the bytes of the `.pt2` of a model of `sweep`."""
    module, args = cast("tuple[Any, Any]", model) if isinstance(model, tuple) else (model, None)
    path, content = to_source(module, args)
    if content is not None:
        return content
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from None


def item_key(model_hash: bytes, data_hash: bytes, item: SweepItem) -> str:
    """Return the SHA-256 of everything that the result of an item depends on.

    The hashes of the `.pt2` and of the calibration data are the same for many items.
    """
    options = json.dumps(dict(item.options), sort_keys=True, default=plain)
    return _hash(
        _build_hash(),
        model_hash,
        data_hash,
        _target_text(item.target).encode(),
        options.encode(),
        str(item.keep_program).encode(),
    ).hex()


def samples_hash(samples: Samples) -> bytes:
    """Return the SHA-256 of the calibration data."""
    return _hash(*_data_parts(samples))


def _hash(*parts: bytes | memoryview) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


@cache
def _build_hash() -> bytes:
    """Hash of the compiler: its version does not change with each build of the source tree."""
    return hashlib.sha256(Path(module_file).read_bytes()).digest()


def _target_text(target: str) -> str:
    if target.endswith(".toml") and Path(target).exists():
        # The file, and those that it is based on, may change between two sweeps.
        text = Path(target).read_text(encoding="utf-8")
        try:
            return text + json.dumps(targets(target))
        except BadInput:  # the compilation has the message
            return text
    return _part_text(target)


@cache
def _part_text(target: str) -> str:
    return json.dumps(targets(target))


def plain(value: Any) -> Any:
    """Return the value of an option in JSON, for the key only."""
    if isinstance(value, (np.generic, np.ndarray)):
        elements: Any = np.asarray(cast(Any, value))
        return elements.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, cast("set[Any]", value)))
    path: os.PathLike[str] = value
    return os.fspath(path)


def _data_parts(samples: Samples) -> Iterator[bytes | memoryview]:
    if isinstance(samples, str):
        yield samples.encode()
        return
    for item in samples:
        pairs = item.items() if isinstance(item, dict) else enumerate(item)
        for name, array in pairs:
            yield f"{name} {array.dtype} {array.shape}".encode()
            yield array.tobytes()


def _is_function(model: Any) -> bool:
    torch = sys.modules.get("torch")
    is_model = torch is not None and isinstance(
        model, (torch.nn.Module, torch.export.ExportedProgram)
    )  # both can be called
    return callable(model) and not is_model


def run_all(items: Sequence[SweepItem]) -> list[SweepResult]:
    """Compile the items one after the other. Called in a worker."""
    return [run(item) for item in items]


def run(item: SweepItem) -> SweepResult:
    """Compile one item."""
    begin = time.perf_counter()
    try:
        result = _compiled(item)
    except DoesNotFit as error:
        result = _failed(item, "does_not_fit", error)
    except Unsupported as error:
        result = _failed(item, "unsupported", error)
    except BadInput as error:
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
    key, source = item.key, item.source
    if not isinstance(source, bytes):
        source = pt2_bytes(source())
        key = item_key(hashlib.sha256(source).digest(), samples_hash(item.samples), item)
        stored = SweepCache(item.cache).get(key) if item.cache else None
        if stored is not None:
            return replace(stored, model=item.model)
    program = compile(source, target=item.target, calibration=item.samples, **item.options)
    report = program._impl.report_json  # pyright: ignore[reportPrivateUsage]
    return SweepResult(
        item.model,
        item.target,
        item.options,
        "ok",
        key=key,
        program=bytes(program) if item.keep_program else None,
        packed_report=zlib.compress(report.encode(), level=1),
    )
