"""Question banks: import, proofs, moderation and previews."""
