"""The page for teachers: its table of a measured hub, and the arithmetic for a thousand students.

Both come from the record of `experiments/classroom.py` as the page is read.
"""

import math

from pieces.book.measured import record_of

PAGE = "chapters/appendix/teaching"
MANY, AT_ONCE, SPREAD = 1000, 0.3, 10  # students, the share of them that is there, minutes


def measured(record):
    """Return what each class cost, as a Markdown table under the machine it ran on."""
    machine = record["machine"]
    told = (
        f"The machine had {machine['cores']} cores and {machine['memory_gb']} GB, with "
        f"JupyterHub {machine['jupyterhub']} and Python {machine['python']}; "
        f"the chapter was `{machine['chapter']}`.\n\n"
        "| students at once | memory each | the hub itself | server ready | chapter has run |\n"
        "|--:|--:|--:|--:|--:|\n"
    )
    rows = []
    for one in record["classes"]:
        ready = f"{one['server_s_median']:.0f} s, at most {one['server_s_longest']:.0f} s"
        run = f"{one['chapter_s_median']:.0f} s, at most {one['chapter_s_longest']:.0f} s"
        memory = f"{one['student_mb']:.0f} MB | {one['hub_mb']:.0f} MB"
        rows.append(f"| {one['students']} | {memory} | {ready} | {run} |")
    return told + "\n".join(rows) + "\n"


def thousand(record):
    """Return what a thousand students need, by multiplying."""
    full = record["classes"][-1]
    each = full["student_mb"] / 1000
    there = round(MANY * AT_ONCE)
    cores = record["machine"]["cores"]
    seconds = full["server_s_longest"] * cores / full["students"]  # of one core, a server
    grown = [record["classes"][at]["hub_mb"] for at in (0, -1)]
    return (
        f"- If {AT_ONCE:.0%} of {MANY:,} are there at the same time, their servers take "
        f"{there} × {each:.2f} GB = {there * each:.0f} GB; if all are, {MANY * each:.0f} GB.\n"
        f"- A server took about {seconds:.1f} s of one core to start. {there} servers within "
        f"{SPREAD} minutes keep {math.ceil(there * seconds / (SPREAD * 60))} cores busy; within "
        f"one minute, {math.ceil(there * seconds / 60)}.\n"
        f"- The hub itself grew from {grown[0]:.0f} to {grown[1]:.0f} MB between 1 and "
        f"{full['students']} students, so it is not what runs out.\n"
    )


def read(app, docname, source):
    """Put both in their places, as the page is read."""
    if docname == PAGE:
        record = record_of("classroom")
        text = source[0].replace("<!-- classroom -->", measured(record))
        source[0] = text.replace("<!-- thousand -->", thousand(record))


def setup(app):
    """Connect to Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
