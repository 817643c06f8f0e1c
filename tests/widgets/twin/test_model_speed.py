"""How fast a trained model of 400,000 parameters is in the page, against bare multiply-adds."""

import base64

import pytest
from twins import build, opened_twin, packed

# On a quiet machine a bare multiply-add takes about 1 ns, 400,000 of them 0.4 ms. So these shares
# of the loop's time are 5 ms a token, 20 ms for 32 tokens and 6 ms to unpack the model; other
# programs slow both sides alike.
A_TOKEN, A_TEXT, AN_UNPACKING = 12, 1.5, 15
# The plainest loop of as many multiply-adds as the model needs, and the model, by turns; of each
# the least of several rounds, because other programs of the machine only ever add to a time.
TIMER = """
  let checksum = 0;
  const w = new Float32Array(4096).map((_, i) => i / 4096);
  const loop = (n) => {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += w[i & 4095] * w[(i + 7) & 4095];
    checksum += sum;
  };
  const least = {};
  const time = (name, run) => {
    const start = performance.now();
    run();
    least[name] = Math.min(least[name] ?? Infinity, performance.now() - start);
  };
"""
MEASURE = (
    "async ({ count, rounds }) => {"
    + TIMER
    + """
  const m = models.stories;
  const ids = Array.from({ length: 32 }, (_, i) => (i * 7) % 500);
  for (let round = 0; round < rounds; round++) {
    time("loop for 32", () => loop(32 * count));
    time("32 tokens", () => m.run(ids, { keep: ["weights"] }));
    const { state } = m.run(ids);
    time("loop for 8", () => loop(8 * count));
    time("8 steps", () => { for (const id of ids.slice(0, 8)) m.step(state, id); });
    await new Promise((go) => setTimeout(go, 0));
  }
  return { least, checksum };
}"""
)
UNPACK = (
    "async ({ data, count }) => {"
    + TIMER
    + """
  const packed = bytes(data);
  for (let round = 0; round < 5; round++) {
    time("loop", () => loop(count));
    time("unpack", () => new model.TrainedModel(packed));
    await new Promise((go) => setTimeout(go, 0));
  }
  return least;
}"""
)


@pytest.fixture(scope="module")
def stories(chromium):
    sizes = {"vocab_size": 500, "d_model": 96, "n_layers": 3, "n_heads": 4, "d_ff": 256}
    kind, model = build("llama", **sizes)
    parameters = sum(weight.numel() for weight in model.parameters())
    assert 380_000 < parameters < 480_000
    with opened_twin(chromium) as twin:
        twin.load("stories", packed(model, kind))
        yield twin, parameters, packed(model, kind)


def test_a_token_and_a_text_are_quick(stories):
    twin, parameters, _ = stories
    least = twin.page.evaluate(MEASURE, {"count": parameters, "rounds": 25})["least"]
    print({name: round(ms, 2) for name, ms in least.items()}, "ms;", parameters, "parameters")
    assert least["32 tokens"] <= A_TEXT * least["loop for 32"]
    assert least["8 steps"] <= A_TOKEN * least["loop for 8"]


def test_unpacking_does_not_block_the_page(stories):
    twin, parameters, data = stories
    given = {"data": base64.b64encode(data).decode(), "count": parameters}
    least = twin.page.evaluate(UNPACK, given)
    print({name: round(ms, 2) for name, ms in least.items()}, "ms")
    assert least["unpack"] <= AN_UNPACKING * least["loop"]
