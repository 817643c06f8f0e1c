"""What is of the book, and not of the Transformer.

ask         ask("3.2"): a question that is checked in the page
code        code(masks.causal): the package's own code, in the page
table       a table of results;  scientific: a small number as 3.6·10⁻¹⁵
plot        figures in the book's style
figures     the figures and tables of each chapter, by name
exercises   what checks the readers' code
measured    the records of the longer experiments
bertviz     BertViz's views of recorded weights;  libraries: what they are drawn with
"""

from pieces.book.ask import ask
from pieces.book.source import code
from pieces.book.tables import scientific, table

__all__ = ["ask", "code", "scientific", "table"]
