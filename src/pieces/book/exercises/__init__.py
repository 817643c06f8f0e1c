"""Checkers of the readers' exercises: each prints a verdict in words and never raises."""
