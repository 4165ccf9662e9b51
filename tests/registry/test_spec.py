"""The grammar of specifications: parsing, checks, and the way back."""

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refless.metrics.bertscore import BertScore
from refless.metrics.kernels import KERNELS, kernel_of
from refless.metrics.kernels.bleu import BleuStar
from refless.metrics.kernels.rouge import RougeL
from refless.metrics.protocol import METRICS, metric_of
from refless.registry.spec import About, check, listed, parameters, parse, spec_of
from refusals import bad_usage


@dataclass(frozen=True, kw_only=True)
class Cake:
    """One field of each kind."""

    name: ClassVar[str] = "cake"

    layers: Annotated[int, About("how many layers", at_least=1)] = 2
    sugar: Annotated[float | None, About("share of sugar", above=0, at_most=1)] = None
    heat: Annotated[float, About("heat")] = 0.5
    iced: Annotated[bool, About("with icing")] = False
    sizes: Annotated[tuple[int, int], About("smallest and largest")] = (2, 4)
    fruit: Annotated[tuple[str, ...], About("fruit")] = ()
    filling: Annotated[str | None, About("what is inside")] = None
    shape: Annotated[Literal["round", "square"], About("seen from above")] = "round"
    kernel: Annotated[str | RougeL, About("a kernel", registry=KERNELS)] = "bleu*"
    plate: str = "white"

    def __post_init__(self) -> None:
        check(self)


CAKES = {"cake": Cake}
WORD = st.text(min_size=1, max_size=8).filter(lambda text: text == text.strip())


def parsed(text: str) -> Any:
    return parse(text, CAKES, "cake")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("cake", Cake()),
        ("cake:layers=3,sugar=0.25,heat=1e-3", Cake(layers=3, sugar=0.25, heat=0.001)),
        (" cake : iced = yes , sugar = none ", Cake(iced=True)),
        ("cake:sizes=1-4,fruit=fig+plum", Cake(sizes=(1, 4), fruit=("fig", "plum"))),
        ("cake:sizes=3,fruit=()", Cake(sizes=(3, 3))),
        ("cake:filling=(a, (b): c=d),layers=1", Cake(filling="a, (b): c=d", layers=1)),
        ("cake:filling=(none)", Cake(filling="none")),
        ("cake:kernel=rouge-l", Cake(kernel="rouge-l")),
        (
            "cake:kernel=(bleu*:clip=no,orders=1-4)",
            Cake(kernel="bleu*:clip=no,orders=1-4"),
        ),
    ],
)
def test_parsing(text: str, made: Cake) -> None:
    """Every kind of value; parentheses hold commas, and parameters of a parameter."""
    assert parsed(text) == made


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bread", "no cake 'bread'; there are cake"),
        ("cake:", "'' in cake: is not name=value; cake takes layers=2, sugar=none"),
        ("CAKE", r"no cake 'CAKE' \(did you mean 'cake'\?\); there are cake"),
        ("cake:layer=1", r"'layer' \(did you mean 'layers'\?\); cake takes layers=2"),
        ("cake:plate=blue", "cake has no parameter 'plate'"),
        ("cake:layers=1,layers=1", "gives layers twice"),
        ("cake:layers=two", "cake: layers must be a whole number, got 'two'"),
        ("cake:layers=none", "layers must be a whole number"),
        ("cake:sugar=much", "cake: sugar must be a number, got 'much'"),
        ("cake:iced=perhaps", "cake: iced must be yes or no, got 'perhaps'"),
        ("cake:sizes=a-b", "cake: sizes must look like 2-4, got 'a-b'"),
        ("cake:filling=(a", "the parentheses in .* do not match"),
        ("cake:filling=a),(b", "the parentheses in .* do not match"),
        ("cake:layers=0", "layers must be 1 or more, got 0"),
        ("cake:sugar=0", "sugar must be above 0 and at most 1, got 0"),
        ("cake:sugar=inf", "sugar must be finite and above 0 and at most 1, got inf"),
        ("cake:heat=inf", "heat must be finite, got inf"),
        ("cake:shape=oval", "shape must be one of round, square; got 'oval'"),
    ],
)
def test_what_cannot_be_honoured(text: str, message: str) -> None:
    """Named, with what would do."""
    with bad_usage(message):
        parsed(text)


def test_checks_of_types() -> None:
    """In Python too, where anything can be passed; numpy's numbers are numbers."""
    import numpy as np

    for wrong in (
        {"layers": 1.5},
        {"layers": True},
        {"heat": "0.1"},
        {"sugar": float("nan")},
    ):
        with bad_usage(next(iter(wrong))):
            Cake(**wrong)
    made = Cake(layers=np.int64(3), heat=np.float64(0.25), sugar=1)
    assert spec_of(made, CAKES) == "cake:layers=3,sugar=1,heat=0.25"


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "layers": st.integers(1, 9),
            "sugar": st.one_of(st.none(), st.floats(0.001, 1)),
            "iced": st.booleans(),
            "sizes": st.tuples(st.integers(0, 9), st.integers(0, 9)),
            "filling": st.one_of(
                st.none(), st.sampled_from(["none", "a,b", "a:(b)", "x=y"])
            ),
            "shape": st.sampled_from(["round", "square"]),
            "kernel": st.sampled_from(
                ["bleu*", BleuStar(), RougeL(tokenize="13a"), "bleu*:clip=no"]
            ),
        },
    )
)
def test_specifications_parse_back(values: dict[str, Any]) -> None:
    """A written specification reads back, and has only what differs from the defaults."""
    made = Cake(**values)
    text = spec_of(made, CAKES)
    assert spec_of(parsed(text), CAKES) == text
    plain = {name: value for name, value in values.items() if name != "kernel"}
    assert parsed(spec_of(Cake(**plain), CAKES)) == Cake(**plain)


def test_nested_specifications_are_canonical() -> None:
    """A kernel at its defaults is the default, however it was given."""
    for kernel in ("bleu*", BleuStar(), "bleu*:orders=2-4"):
        assert spec_of(Cake(kernel=kernel), CAKES) == "cake"
    assert spec_of(Cake(kernel=RougeL()), CAKES) == "cake:kernel=rouge-l"
    assert (
        spec_of(Cake(kernel="bleu*:orders=1-4"), CAKES)
        == "cake:kernel=(bleu*:orders=1-4)"
    )
    assert (
        spec_of(Cake(kernel=RougeL()), KERNELS) == "Cake:kernel=rouge-l"
    )  # nobody registered it


@pytest.mark.parametrize("registry", [KERNELS, METRICS], ids=["kernels", "metrics"])
def test_every_parameter_is_declared(registry: dict[str, type[Any]]) -> None:
    """With help in one short line; the list with the defaults parses back to the defaults."""
    for name, kind in registry.items():
        described = parameters(kind)
        assert {one.name for one in described} == {one.name for one in fields(kind)}, (
            name
        )
        assert all(
            one.help and len(one.help) < 60 and "\n" not in one.help
            for one in described
        )
        if name == "bertscore" and registry is KERNELS:
            continue  # a model has no default
        rest = listed(name, registry).partition(" takes ")[2].replace(", ", ",")
        if described:
            assert parse(f"{name}:{rest}", registry, "thing") == kind()
        assert spec_of(kind(), registry) == name


def test_descriptions() -> None:
    """The parameters that `refless metrics` and the docs show."""
    by = {one.name: one for one in parameters(Cake)}
    assert (by["sugar"].takes, by["sugar"].default) == ("a number, or none", "none")
    assert by["sugar"].range == "above 0 and at most 1"
    assert (by["layers"].range, by["heat"].range) == ("1 or more", "")
    assert by["shape"].takes == "one of round, square"
    assert by["kernel"].takes.startswith("one of bleu*, rouge-l, ")
    assert by["sizes"].default == "2-4"
    assert "plate" not in by


def test_things_pass_through() -> None:
    """An estimator or metric serves in the place of its specification."""
    kernel = RougeL(tokenize="13a")
    metric = metric_of("bleu:order=2")
    assert kernel_of(kernel) is kernel
    assert metric_of(metric) is metric
    assert kernel_of("rouge-l:tokenize=13a") == kernel
    assert kernel_of("bertscore:model=m,layer=3") == BertScore(model="m", layer=3)
