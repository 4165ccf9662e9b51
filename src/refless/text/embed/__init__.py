"""Texts to vectors, each distinct text once, by an encoder or a file of word vectors."""

from refless.text.embed.digests import file_digest
from refless.text.embed.embedded import Embedded, VectorArray
from refless.text.embed.encoder import Encoder
from refless.text.embed.language import LanguageModel
from refless.text.embed.loading import BUILT_IN
from refless.text.embed.words import WordVectors

__all__ = [
    "BUILT_IN",
    "Embedded",
    "Encoder",
    "LanguageModel",
    "VectorArray",
    "WordVectors",
    "file_digest",
]
