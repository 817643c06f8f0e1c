"""The workbench's page: its numbers, computed here from the models and the record."""

import math
import statistics

import pytest
import torch
from prose import says
from twins import opened_twin

from pieces.book.figures.norm_placement import streams
from pieces.book.measured import record_of
from pieces.widgets import Workbench
from widgets.workbench.expected import cache_of, counts_of, operations_of, used, variants

PAGE = "workbench"
FIRST = {name: getattr(Workbench(), name) for name in Workbench().inputs()}


def mean(name):
    return statistics.fmean(variants()[2][name][2])


def apart(name):
    """Whether a variant differs from the baseline by more than the seeds of either do."""
    one, base = variants()[2][name][2], variants()[2]["baseline"][2]
    spread = max(max(of) - min(of) for of in (one, base))
    return abs(mean(name) - mean("baseline")) > spread


def test_a_quarter_of_the_cache():
    whole, shared = used(FIRST), used(FIRST | {"n_kv_heads": 1})
    all_, fewer = counts_of(whole)["total"], counts_of(shared)["total"]
    assert cache_of(whole)[0] == 4 * cache_of(shared)[0]
    says(
        PAGE,
        f"leaves {cache_of(shared)[0]} numbers a token instead of {cache_of(whole)[0]}, "
        f"and takes away {all_ - fewer:,} of the {all_:,} parameters",
        f"ends {mean('one key-value head'):.2f} nats above the floor, as the baseline does",
    )
    assert f"{mean('one key-value head'):.2f}" == f"{mean('baseline'):.2f}"
    both = [variants()[2][name][2] for name in ("one key-value head", "baseline")]
    spreads = [max(of) - min(of) for of in both]
    assert abs(mean("one key-value head") - mean("baseline")) < min(spreads)


def test_twice_the_model_and_the_same_work():
    whole, experts = used(FIRST), used(FIRST | {"n_experts": 3})
    counts, work = counts_of(experts)["total"], sum(operations_of(experts).values())
    grown = 100 * (work / sum(operations_of(whole).values()) - 1)
    assert counts > 2 * counts_of(whole)["total"]
    assert grown < 1
    few = counts_of(whole)["total"]
    says(PAGE, f"go from {few:,} to {counts:,}", f"of a token grow by {grown:.1f} %")


# The stream behind each sublayer, from first weights as large as Xavier's rule has them.
XAVIER = """(() => {
  const s = probe.inSmall(bench.fitted(a.s));
  const weights = probe.firstWeights(s, 1);
  for (const layer of weights.layers) {
    const parts = [layer.query, layer.key, layer.value, layer.output,
      ...layer.experts.flatMap((one) => [one.up, one.down, ...(one.gate ? [one.gate] : [])])];
    for (const { W, b } of parts) {
      const other = W.length / s.d_model;
      const into = layer.experts.some(({ down }) => down.W === W) ? other : s.d_model;
      W.forEach((x, n) => { W[n] = x * Math.sqrt((6 * into) / (s.d_model + other)); });
      b?.fill(0);
    }
  }
  return probe.sizesAlong(s, weights).forward;
})()"""


def test_a_stream_that_grows(chromium):
    with opened_twin(chromium, modules=("workbench/bench", "workbench/probe")) as twin:
        ends = {place: twin("probe.looked(bench.fitted(a.s)).forward",
                            s=FIRST | {"n_layers": 12, "place": place})[-1]
                for place in ("pre", "post", "sandwich", "deep")}  # fmt: skip
        larger = twin(XAVIER, s=FIRST | {"n_layers": 12, "place": "pre"})[-1]
    says(PAGE, f"our draw ends at {ends['sandwich']:.1f}", f"it reaches only {ends['pre']:.1f}")
    says(PAGE, "PyTorch's first weights, smaller than those of chapter 11")
    assert larger == pytest.approx(float(streams().cells[1][2]), abs=0.3)  # Pre, in chapter 11
    assert torch.allclose(torch.tensor([ends["post"], ends["deep"]]), torch.ones(2), atol=1e-3)


def test_without_norms_it_has_to_learn_slowly():
    runs = record_of("workbench")["runs"]

    def ends(model, lr):
        return [run["above_floor"] for run in runs if (run["model"], run["lr"]) == (model, lr)]

    assert variants()[2]["no norm"][1] == 0.02
    assert len(ends("no norm", 0.04)) == len(ends("no norm", 0.08)) == 2
    assert all(above > 7 for above in ends("no norm", 0.04))
    assert ends("no norm", 0.08) == [None, None]
    assert max(ends("baseline", 0.04) + ends("baseline", 0.08)) < 1


def test_the_unit_of_the_distance():
    less = 100 * (1 - math.exp(-0.1))
    says(PAGE, f"the words that come get about {round(less, -1):.0f} % less")
    assert abs(less - 10) < 1


def test_what_the_variants_say():
    base = mean("baseline")
    nearer, farther = base - mean("ALiBi"), mean("no positions") - base
    parameters = counts_of(used(FIRST | {"n_experts": 4, "n_chosen": 2}))["total"]
    bare, added = base - mean("no norm"), mean("sinusoids") - base
    says(PAGE, f"trained for {variants()[1]} steps",
         f"ALiBi ends {nearer:.2f} nats nearer to the floor than the baseline's rotary positions",
         f"Without positions the model ends {farther:.2f} nats farther from the floor than the "
         f"baseline, and with sinusoids in place of rotary positions {added:.2f}",
         f"Without any norm it ends {bare:.2f} nats nearer",
         f"have {parameters:,} parameters and end {mean('four experts'):.2f} nats above the "
         "floor")  # fmt: skip
    beyond = {"ALiBi", "no positions", "no norm", "sinusoids"}
    assert {name for name in variants()[2] if apart(name)} == beyond
