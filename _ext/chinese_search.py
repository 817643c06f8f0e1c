"""Search that finds Chinese terms: 残差 on a page that has 残差连接.

Sphinx's index holds a run of Chinese characters as one word, and its search looks inside longer
words only for what has three letters or more; most Chinese terms have two. So each pair of
neighbours is a word of the index as well.
"""

import itertools
import re

from sphinx.search.en import SearchEnglish

RUN = re.compile(r"[\u3400-\u9fff]+")


class SearchBook(SearchEnglish):
    """English, with the pairs of Chinese characters."""

    def split(self, text):
        """Return the words of a text, runs of Chinese characters and the pairs in them."""
        words = super().split(text)
        for run in RUN.findall(text):
            words += [run, *map("".join, itertools.pairwise(run))]
        return words


def setup(app):
    """Register the extension."""
    app.add_search_language(SearchBook)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True}
