"""A bank of questions read from documents: reading, checking, rendering findings. No database, no network."""
