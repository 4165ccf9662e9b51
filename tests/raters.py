"""Rated texts of several raters."""

from dataclasses import replace

import numpy as np

from refless.data.human import human_ratings
from refless.data.records import RatedPool, Ratings, numbered


def pool_from(rows, scale=None) -> RatedPool:
    """A pool from (text, annotator, rating)."""
    texts = sorted({row[0] for row in rows})
    names = sorted({row[1] for row in rows})
    ratings = Ratings(
        text=np.array([texts.index(row[0]) for row in rows]),
        annotator=np.array([names.index(row[1]) for row in rows]),
        values=np.array([float(row[2]) for row in rows]),
        annotators=tuple(names),
    )
    return RatedPool(
        ids=numbered(len(texts)),
        texts=tuple(texts),
        human=human_ratings(ratings, len(texts), scale=scale),
        ratings=ratings,
        scale=scale,
    )


def shuffled(pool: RatedPool) -> RatedPool:
    """The same texts and ratings in another order."""
    rng = np.random.default_rng(7)
    moved = pool.take(rng.permutation(len(pool)))
    rows = rng.permutation(len(moved.ratings.text))
    ratings = replace(
        moved.ratings,
        text=moved.ratings.text[rows],
        annotator=moved.ratings.annotator[rows],
        values=moved.ratings.values[rows],
    )
    return replace(moved, ratings=ratings)
