"""list: estimators, metrics, public data sets; a data set by name."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated

from refless.commands.lists.result import Listed, ListResult
from refless.commands.parameters import About, Folder, Many, Names, command
from refless.estimators import ESTIMATORS
from refless.metrics.kernels import KERNELS
from refless.metrics.protocol import METRICS
from refless.registry.dialect import called
from refless.registry.errors import UsageError
from refless.registry.offered import Registry, check_instance
from refless.registry.signature import Signature
from refless.registry.spec import parameters
from refless.registry.version import __version__
from refless.report.result import Result

Lister = Callable[[Names, Folder, Folder | None], Result]


def _estimators(get: Names, out_dir: Folder, mirror: Folder | None) -> ListResult:  # noqa: ARG001
    """Estimators and kernels."""
    kernels: dict[str, type] = {
        f"kernel {name}": kind for name, kind in KERNELS.items()
    }
    kinds: dict[str, type] = {**ESTIMATORS, **kernels}
    example = "gp:max_sd=0.2, bleu-neighbors:kernel=rouge-l,tau=0.1"
    return _listed("estimators", kinds, dict.fromkeys(kinds, ""), example)


def _metrics(get: Names, out_dir: Folder, mirror: Folder | None) -> ListResult:  # noqa: ARG001
    """Metrics, and what each needs."""
    needs = {}
    for name, kind in METRICS.items():
        columns = ", ".join(kind.needs) or "nothing else"
        needs[name] = f" Needs {columns}. {kind.missing()}".rstrip()
    return _listed("metrics", METRICS, needs, "bleu:order=2,smooth=exp")


LISTS: Registry[Lister] = Registry(
    "lists",
    {"estimators": _estimators, "metrics": _metrics},
    partial(check_instance, kind=Callable),
)


@command
def list(  # noqa: A001 - the command's name
    kind: Annotated[str, About(argument=True, metavar="KIND")],
    *,
    get: Annotated[Names, About(kind=Many, metavar="NAME")] = None,
    out_dir: Annotated[Folder, About(kind=str)] = ".",
    mirror: Annotated[
        Folder | None, About(kind=str | None, metavar="URL|FOLDER")
    ] = None,
) -> Result:
    """List estimators, metrics or public data sets; fetch a data set by name.

    For example: refless list estimators

    'refless list datasets --get NAME' fetches files from where their authors publish them, at one
    commit, checks their SHA-256, and writes them as refless reads them into a folder NAME, with
    their licence and citation in SOURCE.txt.

    Args:
        kind: What to list: estimators, metrics or datasets.
        get: Fetch the data set of this name; repeatable.
        out_dir: Folder in which a folder for each data set is made.
        mirror: Copy of the published files: a URL in place of https://raw.githubusercontent.com, or
            a folder, such as a clone of the repository.
    """
    if kind not in LISTS:
        raise UsageError(f"no list of '{kind}'; there are {', '.join(LISTS)}")
    if get and kind in {"estimators", "metrics"}:
        raise UsageError(f"{called('get')} goes with the list of datasets")
    return LISTS[kind](get, out_dir, mirror)


def _listed(
    kind: str, classes: Mapping[str, type], needs: Mapping[str, str], example: str
) -> ListResult:
    """The first line of each class's docstring, and its parameters."""
    listed = []
    for name, kind_class in classes.items():
        first_line = (kind_class.__doc__ or name).splitlines()[0]
        about = first_line + needs[name]
        listed.append(Listed(name=name, about=about, parameters=parameters(kind_class)))
    return ListResult(
        kind=kind,
        listed=tuple(listed),
        example=example,
        signature=Signature("list").plus(v=__version__),
    )
