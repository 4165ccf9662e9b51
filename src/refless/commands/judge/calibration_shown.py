"""The part of a judge's report about its probabilities."""

from refless.commands.judge.calibration import Calibration
from refless.commands.judge.document import cell
from refless.registry.dialect import saving
from refless.report.charts import Line, charted
from refless.report.document import Section
from refless.report.wording import number, numbers

CAPTION = (
    "Each point is an equal part of the rated texts; a probability is right if people pass so many "
    "of them."
)


def calibration_sections(calibration: Calibration | None) -> tuple[Section, ...]:
    """The reliability curve, the scores and the best map; nothing without probabilities."""
    if calibration is None:
        return ()
    names = numbers([part.probability for part in calibration.curve])
    entries = []
    for name, part in zip(names, calibration.curve, strict=True):
        passed = part.passed
        line = Line(name=name, value=passed.value, interval=passed.interval)
        entries.append((line, (str(part.n),)))
    losses = ", ".join(
        f"{method} {number(loss)}" for method, loss in calibration.losses.items()
    )
    lines = (
        (
            f"Brier score {cell(calibration.brier)} = reliability "
            f"{number(calibration.reliability)} - resolution {number(calibration.resolution)} + "
            f"uncertainty {number(calibration.uncertainty)} + within bins "
            f"{number(calibration.within)}. Calibration error (ECE) {number(calibration.ece)}, "
            f"without what chance adds {number(calibration.ece_debiased)}."
        ),
        (
            f"Held-out log loss: {losses}. {saving('FILE.csv')} has probabilities by the least: "
            f"{calibration.method}."
        ),
    )
    section = charted(
        "Are its probabilities right?",
        ("probability", "people pass [95 %]", "texts"),
        entries,
        CAPTION,
        axis="share that people pass",
        label="Share that people pass by probability",
        lines=lines,
    )
    return (section,)
