"""Token vectors of texts, each distinct text once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from refless.registry.arrays import BoolArray, IntArray

VectorArray = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Embedded:
    """Token vectors of the distinct texts among some texts.

    Attributes:
        rows: [texts] which distinct text each text is.
        starts: [distinct texts + 1] distinct text i has the tokens `starts[i]:starts[i + 1]`.
        vectors: [tokens, dimensions].
        ids: [tokens] ids of the tokens in the vocabulary of the model.
        special: [tokens] whether it is a mark of the model's own ([CLS], [SEP]).
    """

    rows: IntArray
    starts: IntArray
    vectors: VectorArray
    ids: IntArray
    special: BoolArray

    def of(self, text: int) -> slice:
        """The places of a text's tokens."""
        row = self.rows[text]
        return slice(int(self.starts[row]), int(self.starts[row + 1]))
