"""What the book's longer experiments measured: the records that pages and widgets show.

    runs = record_of("activations")["seeds"]

shipped     the records by name

Each is made by the script of its name in ``experiments/`` of the book's repository; that of
positions by ``ship_curves``, from two larger ones.
"""

from pieces.book.measured.shipped import NAMES, record_of

__all__ = ["NAMES", "record_of"]
