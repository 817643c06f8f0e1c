"""Chapter 16: its answers, and what its words say of 25 models, counted again."""

import functools
from dataclasses import fields, replace

import pytest
from cells import run
from prose import says

from pieces.book.ask import question
from pieces.book.figures import model_table as figures
from pieces.zoo import MODEL_TABLE, OUR_MODELS, Architecture, assemble, counted, shrink

NAME = "16_model_table"
GATED = ("SwiGLU", "GeGLU")
BUILT = {name: row.built for name, row in MODEL_TABLE.items()}


def both(sources=True):
    """The rows with rotary positions and a gated network."""
    return [name for name in MODEL_TABLE if figures.word(name, "position", sources) == "RoPE"
            and figures.word(name, "activation", sources) in GATED]  # fmt: skip


def unshared(a=None):
    """What key and value heads of its own for each query head would add to Falcon."""
    a = a or BUILT["Falcon"]
    return figures.total(replace(a, n_kv_heads=None)) - figures.total(a)


ANSWERS = {
    "16.a": lambda: round(counted("Baichuan-2")["total"] / 1e9, 2),
    "16.1": lambda: BUILT["T5"].n_heads * BUILT["T5"].head_size / BUILT["T5"].d_model,
    "16.2": lambda: len(both()),
    "16.3": lambda: names()["missing"] / BUILT["Falcon"].d_model,
    "16.5": lambda: round(unshared() / 1e9, 2),
}


@functools.cache
def names():
    """What the open cells leave, those of the exercises and the notes too."""
    return run(NAME, until="the end")


def share(name, part):
    """A part of a row's parameters, as a share."""
    return counted(name)[part] / counted(name)["total"]


def words_of(name):
    """The parameters of the tables of words."""
    return counted(name)["embedding"] + counted(name)["head"]


@pytest.mark.usefixtures("unchecked")
def test_slips_are_what_they_say():
    slips = {name: [number for number, _ in question(name)["slips"]] for name in ANSWERS}
    baichuan = counted("Baichuan-2")["total"]
    less = baichuan - words_of("Baichuan-2")
    tied = figures.total(replace(BUILT["Baichuan-2"], head="tied"))
    both_tables = 13 + words_of("Baichuan-2") / 1e9
    assert slips["16.a"] == [13, *(round(n, 2) for n in (less / 1e9, both_tables, tied / 1e9))]
    assert f"{words_of('Baichuan-2') / 1e9:.2f} billion" in question("16.a")["slips"][0][1]
    assert question("16.a")["why"].startswith(f"{baichuan / 1e9:.2f} billion.")
    kinds = [figures.word(name, "activation") for name in both()]
    rotary = sum(figures.word(name, "position") == "RoPE" for name in MODEL_TABLE)
    gated = {name for name in MODEL_TABLE if figures.word(name, "activation") in GATED}
    assert slips["16.2"] == [len(both(False)), *(kinds.count(kind) for kind in GATED), rotary]
    assert len(gated) == rotary == 12 != len(gated & set(both()))
    assert set(both()) - set(both(False)) == {"Gemma"}
    falcon = BUILT["Falcon"]
    assert slips["16.3"] == [names()["missing"], falcon.d_model]
    rule = figures.thumb(falcon) - 180e9
    keys = unshared() * 232 / 224
    told = [unshared() / 2e9, keys / 1e9, rule / 1e9]
    assert slips["16.5"] == pytest.approx(told, abs=0.05)


@pytest.mark.usefixtures("unchecked")
def test_strips_look_alike_in_most_rows():
    alike = [name for name in MODEL_TABLE if 0.29 < share(name, "attention") < 0.34
             and 0.60 < share(name, "feed-forward") < 0.68]  # fmt: skip
    says(NAME, f"In {len(alike)} rows it looks the same")


def test_by_hand_counts_the_blocks():
    for name in ("LLaMA-2", "PaLM", "Falcon", "Mistral", "Galactica", "Gemma"):
        blocks = counted(name)["attention"] + counted(name)["feed-forward"]
        assert names()["by_hand"](BUILT[name]) == blocks, name
    assert names()["counts"] == counted("Gemma")


def test_counts_against_names():
    off = {name: abs(figures.off(name)) for name in MODEL_TABLE}
    near = sum(one < 0.035 for one in off.values())
    close = sum(one < 0.012 for one in off.values())
    says(
        NAME,
        f"For **{near} of the 25 rows** the count lies within 3.5 % of the name, and for {close} "
        "of them within 1.2 %.",
        f"{near} of 25 counts lie within 3.5 % of the name",
        "Eleven counts can also be held against a published one",
        "So each of these names tells you the size to within a quarter.",
    )
    assert max(off.values()) < 0.25
    assert {name for name, one in off.items() if one > 0.035} == {"Baichuan-2", "Gemma"}
    assert sum(row.published is not None for row in MODEL_TABLE.values()) == 11
    baichuan, gemma = (counted(name)["total"] for name in ("Baichuan-2", "Gemma"))
    says(
        NAME,
        f"Baichuan-2 knows {BUILT['Baichuan-2'].vocab_size:,} tokens, and its embedding and its "
        f"head have {words_of('Baichuan-2') / 1e9:.2f} billion parameters. Without them it is a "
        f"model of {(baichuan - words_of('Baichuan-2')) / 1e9:.2f} billion",
        f"Gemma knows {BUILT['Gemma'].vocab_size:,} tokens, and its head is its embedding. Without "
        f"it {(gemma - words_of('Gemma')) / 1e9:.2f} billion remain",
    )


def test_the_rule_of_thumb():
    ratio = {n: figures.thumb(a) / MODEL_TABLE[n].printed.parameters for n, a in BUILT.items()}
    odd = {"LaMDA", "Gemma", "T5"}
    rest = [one for name, one in ratio.items() if name not in odd]
    says(
        NAME,
        f"For {len(rest)} rows the rule gives between {min(rest):.2f} and {max(rest):.2f} times "
        f"the size in the name. For LaMDA it gives {ratio['LaMDA']:.2f} times, for Gemma "
        f"{ratio['Gemma']:.2f} and for T5 only {ratio['T5']:.2f}.",
        f"For Falcon the rule of thumb gives {figures.thumb(BUILT['Falcon']) / 1e9:.1f} billion "
        f"parameters, nearly {100 * (ratio['Falcon'] - 1):.0f} % more than the name.",
    )
    wide = {name for name, a in BUILT.items() if a.d_ff > 4 * a.d_model}
    assert wide == odd
    plain = Architecture(1, 4, 64, 256, 10)
    assert names()["by_hand"](plain) == 12 * 64**2
    assert names()["by_hand"](replace(plain, feed_forward="SwiGLU", d_ff=171)) == pytest.approx(
        12 * 64**2, rel=0.01
    )
    gated = {n: a for n, a in BUILT.items() if "GLU" in a.feed_forward}
    close = [n for n, a in gated.items() if abs(a.d_ff / a.d_model * 3 / 8 - 1) < 0.08]
    assert len(close) * 2 == len(gated), "half of the gated rows come close"


def test_heads_that_do_not_share_the_width():
    ratio = {name: a.n_heads * a.head_size / a.d_model for name, a in BUILT.items()}
    odd = {name: one for name, one in ratio.items() if one != 1}
    assert odd == pytest.approx({"PaLM": 2 / 3, "LaMDA": 2, "Gemma": 4 / 3, "T5": 16})
    says(NAME, "at two thirds of it; Gemma's are a third wider, and LaMDA's twice as wide")
    assert set(figures.OWN_HEADS) == set(odd)


def test_where_the_parameters_are():
    more, own = unshared(BUILT["LLaMA-2"]), counted("LLaMA-2")
    apart = 100 * (own["attention"] + more) / (own["total"] + more)
    says(
        NAME,
        f"in LLaMA-2 it is {100 * share('LLaMA-2', 'attention'):.0f} %: its 64 query heads share 8 "
        f"key-value heads, and its networks are larger. Unshared, it would be {apart:.0f} %.",
        f"and {100 * share('PaLM', 'feed-forward'):.0f} % of the model is feed-forward networks",
        f"{counted('Gopher')['positions'] / 1e9:.1f} billion parameters in Gopher",
        f"It is {100 * words_of('GPT-3') / counted('GPT-3')['total']:.1f} % of GPT-3, and 9 % of "
        "Gemma and of Baichuan-2, which have a twentieth and a thirteenth of its parameters.",
    )
    assert share("GPT-3", "attention") == pytest.approx(1 / 3, abs=0.01)
    assert max(share(n, "feed-forward") for n in MODEL_TABLE) == share("PaLM", "feed-forward")
    assert (BUILT["PaLM"].n_heads, BUILT["PaLM"].kv_heads) == (48, 1)
    weighty = {name for name in MODEL_TABLE if share(name, "positions") > 0.05}
    assert weighty == {"Gopher", "Chinchilla"}
    assert max(share(name, "norms") for name in MODEL_TABLE) < 0.001
    for name, times in (("Gemma", 20), ("Baichuan-2", 13)):
        assert round(100 * words_of(name) / counted(name)["total"]) == 9
        assert round(counted("GPT-3")["total"] / counted(name)["total"]) == times


def test_what_became_of_the_choices():
    norm, position, activation = (figures.became(column) for column in figures.COLUMNS)
    post = [name for name in MODEL_TABLE if figures.word(name, "norm").startswith("Post")]
    assert post == ["GLM-130B"]
    assert figures.word("GLM-130B", "norm") == "Post Deep"
    says(NAME, "The one is GLM-130B: its *Post Deep* is")
    for year in (2020, 2021, 2022):
        assert norm["Pre Layer"][year] > norm["Pre RMS"][year]
    assert norm["Pre Layer"][2023] == norm["Pre RMS"][2023]
    assert {word for word, of in norm.items() if of[2024]} == {"Pre RMS"}
    assert sum(bool(of[2022]) for word, of in position.items() if word != figures.BLANK) == 4
    assert max(position["Learned"]) == 2022
    assert position["RoPE"][2024] == norm["Pre RMS"][2024] == 6
    count = lambda kinds, year: sum(activation[kind][year] for kind in kinds)  # noqa: E731
    plain = ("GELU", "ReLU")
    for year in range(2019, 2023):
        assert count(plain, year) > count(GATED, year)
    assert count(plain, 2023) == count(GATED, 2023)
    assert (count(plain, 2024), count(GATED, 2024)) == (0, 6)


def test_blanks_are_filled_by_sources_alone():
    blank = [(name, column) for name, row in MODEL_TABLE.items() for column in figures.COLUMNS
             if getattr(row.printed, column) is None]  # fmt: skip
    filled = [one for one in blank if figures.word(*one) != figures.BLANK]
    assert (len(blank), {name for name, _ in filled}) == (6, {"MT-NLG", "Gopher", "Chinchilla"})
    says(NAME, "Six cells of the table hold a dash.", "fills five cells, and corrects one")
    assert len(filled) == 5
    assert set(blank) - set(filled) == {("LaMDA", "norm")}
    says(NAME, "Gemma's GELU is a GeGLU. LaMDA's norm it leaves blank.")
    cells = [(name, column) for name in MODEL_TABLE for column in figures.COLUMNS]
    changed = [one for one in cells if figures.word(*one) != figures.word(*one, sources=False)]
    assert set(changed) - set(filled) == {("Gemma", "activation")}
    assert figures.word("Gemma", "activation") == "GeGLU"


def test_rows_of_ours():
    assert {row.appeared.year for row in OUR_MODELS.values()} == {2024}
    assert all(counted(n)["total"] == row.published.parameters for n, row in OUR_MODELS.items())
    sharing = [n for n, row in OUR_MODELS.items() if row.built.kv_heads < row.built.n_heads]
    assert len(sharing) == 4
    nemo = OUR_MODELS["Mistral NeMo"].built
    assert (nemo.head_size, nemo.d_model // nemo.n_heads) == (128, 160)
    assert OUR_MODELS["Command R"].built.arrangement == "parallel"
    assert OUR_MODELS["Gemma-2"].built.arrangement == "sandwich"
    others = {row.built.arrangement for row in OUR_MODELS.values()} - {"parallel", "sandwich"}
    assert others == {"pre"}
    keep = [n for n, row in OUR_MODELS.items() if row.built.norm.startswith("RMSNorm")
            and row.built.position == "RoPE" and "GLU" in row.built.feed_forward]  # fmt: skip
    assert (len(keep), set(OUR_MODELS) - set(keep)) == (5, {"Command R"})
    as_it_is = [n for n in keep if OUR_MODELS[n].built.arrangement == "pre"]
    assert (len(as_it_is), set(keep) - set(as_it_is)) == (4, {"Gemma-2"})
    says(NAME, "Four of the six keep to the recipe as it is.", "Command R is the exception")


def test_the_bug_of_exercise_3_was_quiet():
    early = replace(BUILT["Falcon"], head="tied")
    total = figures.total(early)
    says(NAME, f"at {total / 1e9:.1f} billion parameters it was within 1 % of its name")
    assert abs(total / 180e9 - 1) < 0.01
    assert assemble(shrink(early)) is not None
    assert BUILT["GPT-3"].head == "tied"


def test_the_errata_are_counted():
    plain, gated = sorted(names()["sizes"])
    says(
        NAME,
        f"the model would have {plain / 1e9:.2f} billion parameters, and the published weights "
        f"have {gated / 1e9:.2f}.",
    )
    assert abs(plain - 7e9) < abs(gated - 7e9), "the wrong count is nearer to the name"
    assert gated == MODEL_TABLE["Gemma"].published.parameters
    assert MODEL_TABLE["PanGu-alpha"].printed.name == "PanGU-"
    for name, size, even in (
        ("PaLM", 256, 384),
        ("LaMDA", 128, 64),
        ("Gemma", 256, 192),
        ("T5", 128, 8),
    ):
        a = BUILT[name]
        assert (a.head_size, a.d_model // a.n_heads) == (size, even)
        says(NAME, f"{name} ({size} and not {even})")


def test_a_dozen_sizes_and_nine_words():
    words = [
        one.name for one in fields(Architecture) if isinstance(getattr(BUILT["T5"], one.name), str)
    ]
    assert (len(fields(Architecture)) - len(words), len(words)) == (12, 9)
