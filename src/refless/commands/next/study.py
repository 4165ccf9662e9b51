"""plan: how many ratings a study needs."""

from typing import Annotated

from refless.commands.calls import returning
from refless.commands.next.plan import PlanResult
from refless.commands.next.run import NAMES, next  # noqa: A004 - the command's name
from refless.commands.parameters import (
    About,
    Dimension,
    Files,
    LowerIsBetter,
    RatedColumns,
    RatedReading,
    RatingScale,
    RowFilter,
    Seed,
    SkipBad,
)

_plan = returning(PlanResult, NAMES)(next)


def plan(
    rated: Files = None,
    *,
    n: int | None = None,
    within: float | None = None,
    difference: Annotated[float | None, About(above=0)] = None,
    sd: Annotated[float | None, About(above=0)] = None,
    looks: int | None = None,
    base_rate: Annotated[float, About(above=0, below=1)] = 0.8,
    minutes_per_rating: Annotated[float, About(above=0)] = 0.5,
    seed: Seed = 0,
    columns: RatedColumns = None,
    reading: RatedReading = None,
    skip_bad: SkipBad = False,
    where: RowFilter = None,
    scale: RatingScale = None,
    dimension: Dimension = None,
    lower_is_better: LowerIsBetter = None,
) -> PlanResult:
    """How many ratings a study needs, or with `n` what so many show; as `refless next --plan`.

    Of a pass rate (with `scale` a mean rating), a judge's kappa, TPR and TNR, and a difference of
    two systems.

    Args:
        rated: Rated rows, which tell how far ratings differ.
        n: Ratings that there will be.
        within: Half the width of a 95 % interval that is exact enough, in the raters' units.
        difference: The difference of two systems to show.
        sd: Expected standard deviation of ratings, in the raters' units.
        looks: Looks at the difference that are planned while ratings arrive.
        base_rate: Expected share of passes.
        minutes_per_rating: How long a rating takes.
        seed: Of what is drawn at random.
        columns: What the rows call their columns, by role.
        reading: How files are read.
        skip_bad: Whether bad rows are left out.
        where: Conditions on rows, such as status=approved.
        scale: The lowest and the highest rating.
        dimension: Which of several questions the ratings answer.
        lower_is_better: Columns in which lower ratings are better.
    """
    return _plan(
        rated,
        plan=True,
        n=n,
        within=within,
        difference=difference,
        sd=sd,
        looks=looks,
        base_rate=base_rate,
        minutes_per_rating=minutes_per_rating,
        seed=seed,
        columns=columns,
        reading=reading,
        skip_bad=skip_bad,
        where=where,
        scale=scale,
        dimension=dimension,
        lower_is_better=lower_is_better,
    )
