"""Numbers of ratings as answers say them: points with two digits, passes in percent."""

from collections.abc import Sequence
from dataclasses import dataclass

from refless.report.wording import number

MINUS = "\N{MINUS SIGN}"
MOST_MORE = 3  # decimals; a smaller number is 0


@dataclass(frozen=True, slots=True)
class RatingUnits:
    """The units of ratings; `percent`: of passes and fails."""

    percent: bool

    @property
    def name(self) -> str:
        """The unit of a difference, in words."""
        return "percentage points" if self.percent else "points"

    @property
    def factor(self) -> int:
        """The number of units in a difference of 1."""
        return 100 if self.percent else 1

    def mean(self, value: float) -> str:
        """A mean: `56 %`, or `3.4`."""
        return f"{100 * value:.0f} %" if self.percent else number(value, 2)

    def size(self, value: float) -> str:
        """A difference without its sign: `14 percentage points`, or `0.22 points`."""
        return f"{self._digits(abs(value))[0]} {self.name}"

    def ends(self, interval: Sequence[float], word: str) -> str:
        """An interval with a word between its ends; a sign stands where 0 is inside."""
        low, high = interval
        if low < 0 < high:
            lower, upper = self._digits(-low, high)
            return f"{MINUS}{lower} {word} +{upper}"
        ends = (low, high) if low >= 0 else (-high, -low)
        return f" {word} ".join(self._digits(*ends))

    def _digits(self, *values: float) -> list[str]:
        """Numbers with as many decimals each, of which one that is not 0 does not read as 0."""
        said: list[str] = []
        for more in range(MOST_MORE):
            said = [number(value, 2 + more, values) for value in values]
            if self.percent:
                said = [f"{100 * value:.{more}f}" for value in values]
            if sum(map(bool, values)) == sum(bool(text.strip("0.")) for text in said):
                break
        return said
