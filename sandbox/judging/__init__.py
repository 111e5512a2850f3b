"""Trusted and pure: compares results and decides verdicts. Runs no submitted code."""
