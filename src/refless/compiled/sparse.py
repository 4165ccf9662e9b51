"""Products of sparse rows."""

from refless.compiled import loop


@loop(nogil=True)
def products(starts, columns, values, held_starts, held_rows, held_values, out):
    """Adds to out[texts, anchors] the products of texts, by row, with anchors, by column."""
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1]):
            value, column = values[j], columns[j]
            for k in range(held_starts[column], held_starts[column + 1]):
                out[i, held_rows[k]] += value * held_values[k]
