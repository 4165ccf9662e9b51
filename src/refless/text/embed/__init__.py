"""Texts to vectors, each distinct text once, by an encoder or a file of word vectors."""

from refless.text.embed.digests import file_digest
from refless.text.embed.embedded import Embedded, VectorArray
from refless.text.embed.encoder import Encoder
from refless.text.embed.words import WordVectors

__all__ = ["Embedded", "Encoder", "VectorArray", "WordVectors", "file_digest"]
