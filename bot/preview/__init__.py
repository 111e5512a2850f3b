"""Previews of a question: its post, its private form and its reveal, as each chat would show them."""
