"""The figures and tables of the chapters: one file a chapter, one function a picture.

A chapter calls them by name; ``code(figures.name)`` shows how one is drawn.
"""
