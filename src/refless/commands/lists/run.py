"""estimators, metrics: what there is, with every parameter."""

from collections.abc import Mapping

from refless.commands.lists.result import Listed, ListResult
from refless.commands.parameters import command
from refless.estimators import ESTIMATORS
from refless.metrics.kernels import KERNELS
from refless.metrics.references import METRICS
from refless.registry.signature import Signature
from refless.registry.spec import parameters
from refless.registry.version import __version__


@command
def estimators() -> ListResult:
    """List the estimators and kernels, with every parameter."""
    kinds: dict[str, type] = {**ESTIMATORS, **{f"kernel {k}": v for k, v in KERNELS.items()}}
    example = "gp:max_sd=0.2, bleu-neighbors:kernel=rouge-l,tau=0.1"
    return _listed("estimators", kinds, dict.fromkeys(kinds, ""), example)


@command
def metrics() -> ListResult:
    """List the metrics, what each needs, and every parameter."""
    needs = {
        name: f" Needs {', '.join(kind.needs) or 'nothing else'}. {kind.missing()}".rstrip()
        for name, kind in METRICS.items()
    }
    return _listed("metrics", METRICS, needs, "bleu:order=2,smooth=exp")


def _listed(
    name: str, kinds: Mapping[str, type], more: Mapping[str, str], example: str
) -> ListResult:
    """The first line of what each kind says of itself, and its parameters."""
    listed = tuple(
        Listed(
            name=name,
            about=(kind.__doc__ or "").splitlines()[0] + more[name],
            parameters=parameters(kind),
        )
        for name, kind in kinds.items()
    )
    signed = Signature(name).plus(v=__version__)
    return ListResult(listed=listed, example=example, signature=signed)
