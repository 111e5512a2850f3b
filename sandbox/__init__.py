"""Runs strangers' PyTorch code: client → supervisor → zygote → confined child, and a judge outside all of them."""
