"""Commands that list what there is, test an installation and get it ready."""

from __future__ import annotations

import os

from movers.cli.messages import print_json, say
from movers.cli.options import Device, Json
from movers.cli.quick import print_installation, print_measures, print_topics
from movers.errors import MoversError
from movers.measures.registry import METHODS


def methods(*, json: Json = False) -> None:
    """List the measures.

    Example: `movers methods --json`
    """
    if json:
        return print_json([method.describe() for method in METHODS.values()])
    print_measures()


def models(model: str | None = None, /, *, device: Device = "auto", json: Json = False) -> None:
    """Show a model: layers, heads, limits, statistics, what would be used by default.

    Example: `movers models bert-base-uncased`

    Parameters
    ----------
    model
        Hugging Face name or folder. Default: the model installed with movers.
    """
    from movers.loading import describe_model

    facts = describe_model(model, device)
    if json:
        return print_json(facts)
    from movers.cli.terminal import print_facts

    print_facts(facts)


def doctor(*, json: bool = False, quick: bool = False) -> None:
    """Print what a number may depend on here, and test solver, encoder and determinism.

    The exit code is 1 if a self-test fails.

    Example: `movers doctor`

    Parameters
    ----------
    json
        Print everything as JSON.
    quick
        Print versions, settings and where kernels lie, and test nothing.
    """
    from movers.runtime.installation import installed

    if quick:
        return print_json(installed()) if json else print_installation()
    from movers.doctor import examine

    report = examine()
    if json:
        print_json(report.to_dict())
    else:
        print_topics(report.facts)
        print("self-tests:")
        for check in report.checks:
            verdict = "ok" if check.passed else "FAILED"
            print(f"  {check.name:<22} {verdict} ({check.seconds:.1f} s): {check.detail}")
    if not report.healthy:
        failed = ", ".join(check.name for check in report.checks if not check.passed)
        raise MoversError(
            f"self-test failed: {failed}; send this output along when you report a wrong number"
        )


def warm_up() -> None:
    """Compile all kernels now, so that no comparison has to wait for it.

    For images and continuous integration. Kernels go to the folder MOVERS_CACHE, else
    NUMBA_CACHE_DIR, else the cache folder of the user; what is there already stays.

    Example: movers warm-up
    """
    from movers.compile_ahead import STEPS, warm_up
    from movers.runtime.compiling import SETTINGS, library

    if given := next((name for name in SETTINGS if name in os.environ), None):
        raise MoversError(
            f"kernels are not kept while {given} is set, and every process compiles its own; "
            "unset it"
        )
    if (built := library()) is None:
        raise MoversError(
            "kernels cannot be kept here; set MOVERS_CACHE to a folder that can be written to, and "
            "install movers[compile] and a C compiler"
        )
    for number, name in enumerate(warm_up(), 1):
        say(f"{number}/{len(STEPS)} {name}")
    print(f"all kernels are in {built._name}")
