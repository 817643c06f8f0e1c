"""Whole models, one family a file: a small frozen config, a builder, and presets by name."""

from pieces.models.decoder_only import DecoderOnly

__all__ = ["DecoderOnly"]
