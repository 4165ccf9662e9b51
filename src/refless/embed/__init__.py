"""Texts to vectors, each distinct text once, by an encoder or a file of word vectors."""

from refless.embed.digests import file_digest
from refless.embed.embedded import Embedded, VectorArray
from refless.embed.encoder import Encoder
from refless.embed.language import LanguageModel
from refless.embed.words import WordVectors

__all__ = ["Embedded", "Encoder", "LanguageModel", "VectorArray", "WordVectors", "file_digest"]
