"""Texts to vectors, each distinct text once, by an encoder."""

from refless.text.embed.digests import file_digest
from refless.text.embed.embedded import Embedded, VectorArray
from refless.text.embed.encoder import Encoder
from refless.text.embed.loading import BUILT_IN

__all__ = ["BUILT_IN", "Embedded", "Encoder", "VectorArray", "file_digest"]
