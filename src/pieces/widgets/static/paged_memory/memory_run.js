/** Requests in one memory, step by step: in strips set aside for the longest text, or in blocks. */

const MANY = 400; // steps; more than any list of requests needs

/** @typedef {{arrives: number, prompt: number, writes: number}} Request
 *  @typedef {{id: number, written: number, start: number, table: number[]}} Running its tokens so far, prompt
 *   included; where its strip begins; its blocks
 *  @typedef {{running: Running[], waiting: number[], done: number[], back: number[]}} State `back`: who
 *   had to give its blocks back in this step */

const tokensOf = (request, written) => request.prompt + written;

/** The first gap that is long enough for a strip, −1 where there is none.
 *  @param {Running[]} running @param {number} longest places of a strip @param {number} places of all */
function gap(running, longest, places) {
  let at = 0;
  for (const { start } of [...running].sort((a, b) => a.start - b.start)) {
    if (start - at >= longest) return at;
    at = start + longest;
  }
  return places - at >= longest ? at : -1;
}

/** In strips: a request comes in where a gap is as long as the longest text.
 *  @param {number} longest its tokens @param {number} places of the memory */
export function strips(longest, places) {
  return {
    enter(running) {
      const start = gap(running, longest, places);
      return start < 0 ? null : { start, table: [] };
    },
    grow: () => true,
    leave() {},
  };
}

/** In blocks: a request takes a block when it needs one; full blocks of a common beginning may be shared.
 *  @param {number} size @param {number} common tokens of the beginning that are shared, 0 for none
 *  @param {number} places of the memory */
export function blocks(size, common, places) {
  const users = Array(places / size).fill(0);
  const lowest = () => users.indexOf(0);
  const shareable = Math.floor(common / size);
  const take = () => { const block = lowest(); if (block >= 0) users[block] = 1; return block; };
  return {
    users,
    enter(running, tokens) {
      const table = shareable ? (running[0]?.table.slice(0, shareable) ?? []) : [];
      const needed = Math.ceil(tokens / size) - table.length;
      if (users.filter((n) => n === 0).length < needed) return null;
      table.forEach((block) => { users[block] += 1; });
      for (let n = 0; n < needed; n++) table.push(take());
      return { start: -1, table };
    },
    grow(one, tokens) {
      if (tokens <= one.table.length * size) return true;
      const block = take();
      if (block < 0) return false;
      one.table.push(block);
      return true;
    },
    leave: (one) => one.table.forEach((block) => { users[block] -= 1; }),
  };
}

/**
 * All states of a run, the first before anything has come, until every request is served.
 * @param {Request[]} requests @param {ReturnType<typeof strips>|ReturnType<typeof blocks>} memory
 */
export function run(requests, memory) {
  /** @type {Running[]} */
  let running = [];
  let waiting = [];
  const done = [];
  const written = requests.map(() => 0);
  const states = [];
  let next = 0;
  let back = [];
  const keep = () => states.push({ running: running.map((one) => ({ ...one, table: [...one.table] })),
    waiting: [...waiting], done: [...done], back });
  keep();
  for (let step = 0; step < MANY && done.length < requests.length; step++) {
    const ended = running.filter(({ id }) => written[id] === requests[id].writes);
    ended.forEach((one) => { memory.leave(one); done.push(one.id); });
    running = running.filter((one) => !ended.includes(one));
    back = [];
    while (next < requests.length && requests[next].arrives <= step) waiting.push(next++);
    while (waiting.length) { // in the order in which they came: nobody is passed by
      const id = waiting[0];
      const room = memory.enter(running, tokensOf(requests[id], written[id]));
      if (!room) break;
      running.push({ id, written: 0, ...room });
      waiting.shift();
    }
    for (let n = 0; n < running.length; n++) {
      const one = running[n];
      while (!memory.grow(one, tokensOf(requests[one.id], written[one.id] + 1))) {
        const last = /** @type {Running} */ (running.pop()); // who came last makes room, and waits
        memory.leave(last);
        waiting.unshift(last.id);
        back.push(last.id);
        if (last === one) break;
      }
      if (running.includes(one)) written[one.id] += 1;
    }
    running.forEach((one) => { one.written = tokensOf(requests[one.id], written[one.id]); });
    keep();
  }
  return states;
}

/** Places without a token: inside strips, and between them where no strip fits.
 *  @param {Running[]} running @param {number} longest places of a strip @param {number} places of all */
export function wasteOfStrips(running, longest, places) {
  const inside = running.reduce((sum, { written }) => sum + longest - written, 0);
  const starts = [...running.map(({ start }) => start), places].sort((a, b) => a - b);
  let [at, between] = [0, 0];
  for (const start of starts) {
    between += (start - at) % longest; // what is left beside the strips that would still fit
    at = start + longest;
  }
  return [inside, between];
}

/** Places of blocks that are taken and hold no token. @param {Running[]} running @param {number} size */
export const wasteOfBlocks = (running, size) =>
  running.reduce((sum, { table, written }) => sum + table.length * size - written, 0);
