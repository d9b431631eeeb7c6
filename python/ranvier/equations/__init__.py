"""Models that users write as equations."""
