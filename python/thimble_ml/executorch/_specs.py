# SPDX-License-Identifier: Apache-2.0
"""Compile specs: the configuration of an engine as bytes in the program, with ExecuTorch's names."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from collections.abc import Generator
from typing import Any, cast

from executorch.exir.backend.compile_spec_schema import CompileSpec

from .._errors import BadInput
from .._queries import targets

#: Key of the settings of this package. The other keys are those of ExecuTorch's backends.
KEY = "thimble"


class ThimbleCompileSpec:
    """Base class of the compile specs.

    Attributes
    ----------
    target : str
        Name of a part of `thimble targets`, or of one of its engines.
    """

    def __init__(
        self,
        target: str,
        *,
        settings: dict[str, Any] | None = None,
        options: dict[str, Any] | None = None,
        specs: dict[str, str] | None = None,
        operators_not_to_delegate: list[str] | None = None,
    ) -> None:
        self.target = target
        names = operators_not_to_delegate or []
        if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
            raise BadInput(
                f"operators_not_to_delegate={names!r}: expected a list of parts of names, such as ['tanh']"
            )
        off = [name.replace("::", "_") for name in names]
        #: Parts of the names of nodes that stay on the core.
        self.operators_not_to_delegate = off
        #: Entries of `[[engine]]` in a part's file: `system`, `memory_mode`.
        self.settings = {key: each for key, each in (settings or {}).items() if each is not None}
        #: Options of ``thimble compile``.
        self.options = {key: each for key, each in (options or {}).items() if each is not None}
        self._specs = dict(specs or {})
        if off:
            self._specs["operators_not_to_delegate"] = ",".join(off)
        self._intermediates: str | None = None

    def dump_intermediate_artifacts_to(self, output_path: str | os.PathLike[str]) -> Any:
        """Writes the stages of each partition to a folder: ``thimble compile --save-stages``."""
        self._intermediates = os.fspath(output_path)
        return self

    def to_list(self) -> list[CompileSpec]:
        """Returns the compile specs of the delegates."""
        value = {
            "target": self.target,
            "settings": self.settings,
            "options": self.options,
            "intermediates": self._intermediates,
        }
        specs = [CompileSpec(key, each.encode()) for key, each in self._specs.items()]
        return [*specs, CompileSpec(KEY, json.dumps(value, sort_keys=True).encode())]


def settings_of(specs: list[CompileSpec]) -> dict[str, Any] | None:
    """Returns the settings of this package; None if the specs are of another one."""
    for spec in specs:
        if spec.key == KEY:
            return json.loads(bytes(spec.value))
    return None


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in table.items()) + " }"
    return json.dumps(value)


@contextmanager
def part_of(spec: dict[str, Any]) -> Generator[str, None, None]:
    """Gives the name of the part for the compiler: the target, or a file with its settings."""
    settings: dict[str, Any] = spec["settings"]
    if not settings:
        yield spec["target"]
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"{spec['target']}.toml")
        lines = ['summary = "settings of a compile spec"', f"cpu = {_toml(settings['cpu'])}"]
        lines += ["[[engine]]", f"name = {_toml(spec['target'])}"]
        lines += [f"{key} = {_toml(each)}" for key, each in settings.items() if key != "cpu"]
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        yield path


@contextmanager
def stock_part(target: str) -> Generator[str, None, None]:
    """Gives a file of the part in which the core has only ExecuTorch's kernels."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stock.toml")
        is_core = target.startswith("cortex-m")
        core = target.removesuffix("+int8")
        part = f"cpu = {_toml(core)}" if is_core else f"base = {_toml(target)}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'summary = "kernels of ExecuTorch"\nkernels = "executorch"\n{part}\n')
        yield path


_ETHOS_U = {
    # family: system, memory mode
    "ethos-u55": ("Ethos_U55_High_End_Embedded", "Shared_Sram"),
    "ethos-u65": ("Ethos_U65_High_End", "Dedicated_Sram_384KB"),
    "ethos-u85": ("Ethos_U85_SYS_DRAM_Mid", "Sram_Only"),
}
_DEDICATED = "Dedicated_Sram_"
#: Values of Vela's --optimise, and those of ``thimble compile --optimize``.
_OPTIMISE = {"size": "size", "performance": "speed"}


def _check_engine(target: str, engine: str, expected: str) -> None:
    """Raises BadInput if no engine of the part has a name that starts with `engine`."""
    if target.endswith(".toml"):
        return  # the compiler reads the file
    found = {name for part in targets(target) if part["name"] == target for name in part["engines"]}
    if not any(name.startswith(engine) for name in found):
        raise BadInput(f"{target}: expected a part with this engine, such as {expected}")


def _number(what: str, text: str) -> int:
    """Returns a positive number from its digits."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise BadInput(f"{what}: found {text!r}, expected a positive number")
    return int(text)


class EthosUCompileSpec(ThimbleCompileSpec):
    """Configuration of an Arm Ethos-U. Names and defaults are those of ExecuTorch's class.

    Parameters
    ----------
    target : str
        ``ethos-u55-128``, as for ``thimble targets 'ethos-*'``.
    system_config, memory_mode : str, optional
        Names of Vela's configuration file. Default: those of ExecuTorch for the target.
    extra_flags : list of str, optional
        Of Vela's, ``--optimise=Size``, ``--optimise=Performance`` and ``--arena-cache-size=BYTES`` are understood. Others raise
        `BadInput`, because Vela is not used.
    config_ini : str, optional
        Accepted only as the default, Vela's own file.
    external_block_placements : optional
        An object with ``weight_data``: weights are named data of the program with this tag.
    """

    def __init__(
        self,
        target: str,
        system_config: str | None = None,
        memory_mode: str | None = None,
        extra_flags: list[str] | None = None,
        config_ini: str | None = "Arm/vela.ini",
        external_block_placements: Any = None,
    ) -> None:
        target = target.lower()
        family = target.rsplit("-", 1)[0]
        if family not in _ETHOS_U:
            raise BadInput(f"{target}: expected an Ethos-U such as ethos-u55-128")
        if config_ini not in (None, "Arm/vela.ini"):
            raise BadInput(f"config_ini={config_ini}: a file of Vela, which is not used: write a part (docs/adding-a-part.md)")
        system, mode = _ETHOS_U[family]
        system = system_config or system
        mode = given_mode = memory_mode or mode
        options: dict[str, Any] = {}
        cache_bytes = None
        for flag in extra_flags or []:
            name, _, text = flag.partition("=")
            if name.lower() == "--optimise":
                if text.lower() not in _OPTIMISE:
                    raise BadInput(f"extra_flags: {flag}: found {text!r}, expected Size or Performance")
                options["optimize"] = _OPTIMISE[text.lower()]
            elif name == "--arena-cache-size":
                cache_bytes = _number(f"extra_flags: {flag}", text)
            else:
                raise BadInput(f"extra_flags: {flag}: an option of Vela, which is not used")
        if getattr(external_block_placements, "cmd_data", None):
            raise BadInput("external_block_placements: cmd_data: only weight_data can be external")
        if getattr(external_block_placements, "weight_data", None):
            options["npu_weights"] = "named"
        if mode.startswith(_DEDICATED):
            kilobytes = mode.removeprefix(_DEDICATED).removesuffix("KB")
            size = _number(f"memory_mode: {mode}", kilobytes) * 1024
            cache_bytes = cache_bytes or size
            mode = "Dedicated_Sram"
        settings: dict[str, Any] = {"cpu": "cortex-m55", "system": system, "memory_mode": mode}
        if mode == "Dedicated_Sram":
            settings["settings"] = {"cache_bytes": cache_bytes or 384 * 1024}
        elif cache_bytes is not None:
            options["memory"] = {"sram": cache_bytes}
        super().__init__(
            target,
            settings=settings,
            options=options,
            specs={"target": target, "system_config": system, "memory_mode": given_mode},
        )


class AxonCompileSpec(ThimbleCompileSpec):
    """Configuration of a Nordic AXON.

    Parameters
    ----------
    target : str
        ``axon``, or a chip: ``nrf54lm20b``.
    sdk_edge_ai_path : str, optional
        Folder of Nordic's SDK. With it the vendor's compiler writes programs for the hardware.
        Without it, partitions are layer lists that Thimble's integer model of the NPU runs:
        ``ThimbleAxonModel``. The environment variable ``SDK_EDGE_AI_PATH`` is used if `form` is
        given.
    form : {"header", "program"}, optional
        What the vendor's compiler writes. ``header``, the default with `sdk_edge_ai_path`: C
        headers in `axon_dir`, the payload has the program's name, for ``AxonBackend``. ``program``:
        the payload has the program, for ``ThimbleAxonProgram``, which only Thimble's runtime has.
    axon_dir : str, optional
        Folder for the headers. Default: the current folder.
    operators_not_to_delegate : list of str, optional
        Parts of the names of nodes that stay on the core: ``["tanh"]``.
    """

    def __init__(
        self,
        target: str = "axon",
        sdk_edge_ai_path: str | os.PathLike[str] | None = None,
        form: str | None = None,
        axon_dir: str | os.PathLike[str] | None = None,
        operators_not_to_delegate: list[str] | None = None,
    ) -> None:
        if sdk_edge_ai_path is not None and form is None:
            form = "header"
        if form not in (None, "header", "program"):
            raise BadInput(f"form={form!r}: header or program expected")
        _check_engine(target, "axon", "axon or nrf54lm20b")
        self.form = form
        self.axon_dir = None if axon_dir is None else os.fspath(axon_dir)
        sdk = None if sdk_edge_ai_path is None else os.fspath(sdk_edge_ai_path)
        super().__init__(
            target,
            options={"axon": form, "axon_sdk": sdk, "axon_dir": self.axon_dir},
            specs={"target": target},
            operators_not_to_delegate=operators_not_to_delegate,
        )


class NeutronCompileSpec(ThimbleCompileSpec):
    """Configuration of an NXP Neutron. Names and defaults are those of ExecuTorch's
    ``generate_neutron_compile_spec``.

    Parameters
    ----------
    config : str
        ``imxrt700``, or another part of ``thimble targets`` with a Neutron.
    system_config : str, optional
        Not used, as in ExecuTorch.
    extra_flags : str, optional
        Options for the vendor's converter; require `sdk`.
    intermediates_dir : str, optional
        Folder for the stages of each partition.
    operators_not_to_delegate : list of str, optional
        Parts of the names of nodes that stay on the core.
    use_neutron_for_format_conversion : bool
        Must be True: the delegate converts the memory order.
    fetch_constants_to_sram : bool
        Weights are copied to SRAM while the NPU runs.
    dump_kernel_selection_code : bool
        Requires `sdk`.
    use_profiling : bool
        Accepted; the profile of a delegate needs no code in the payload.
    sdk : str, optional
        Folder of the eIQ Neutron SDK. With it NXP's converter writes microcode for the hardware,
        for the delegate ``NeutronBackend``. Without it, partitions are kernel lists that Thimble's
        integer model of the NPU runs: ``ThimbleNeutronModel``.
    """

    def __init__(
        self,
        config: str = "imxrt700",
        system_config: str | None = None,
        extra_flags: str | None = None,
        intermediates_dir: str | os.PathLike[str] | None = None,
        operators_not_to_delegate: list[str] | None = None,
        use_neutron_for_format_conversion: bool = True,
        fetch_constants_to_sram: bool = False,
        dump_kernel_selection_code: bool = False,
        use_profiling: bool = False,
        sdk: str | os.PathLike[str] | None = None,
    ) -> None:
        del system_config, use_profiling
        if not use_neutron_for_format_conversion:
            raise BadInput("use_neutron_for_format_conversion=False: not supported")
        _check_engine(config, "neutron", "imxrt700 or neutron-n3-64")
        if sdk is None and (extra_flags or dump_kernel_selection_code):
            raise BadInput("extra_flags and dump_kernel_selection_code require sdk=...")
        self.sdk = None if sdk is None else os.fspath(sdk)
        super().__init__(
            config,
            options={
                "neutron": None if sdk is None else "sdk",
                "neutron_sdk": self.sdk,
                "neutron_flags": extra_flags,
                "neutron_prefetch": fetch_constants_to_sram or None,
                "neutron_kernels": dump_kernel_selection_code or None,
            },
            specs={"target": config},
            operators_not_to_delegate=operators_not_to_delegate,
        )
        if intermediates_dir is not None:
            self.dump_intermediate_artifacts_to(intermediates_dir)


def generate_neutron_compile_spec(config: str, *args: Any, **options: Any) -> NeutronCompileSpec:
    """Returns the compile spec of a Neutron, by the name of ExecuTorch's function."""
    return NeutronCompileSpec(config, *args, **options)
