"""Channels of detailed cells that users write as equations, or as NMODL files."""
