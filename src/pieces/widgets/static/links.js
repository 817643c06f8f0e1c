/**
 * Links that keep the state of a widget, on the site: #see-norm-axes-2?kind=rms&row=2
 *
 * "Copy a link to this" in the foot of each widget makes one: the traits that differ from the page's own.
 * Opened as an address it brings the widget into view in that state; in the text of a page a press sets the
 * widget, and where what it changed lies out of sight, leads there and back. What a link may set, and to
 * what, is what Python's trait says (`limits()`, by its kind). A link that asks for anything else is named,
 * and sets nothing.
 */
(() => {
  "use strict";
  const MARK = "#see-";
  const LONGEST = 2000; // characters of a state: what mail programs and chats leave whole
  const HEADER = 56; // px of the site's bar above the text
  const WORDS = {
    copy: "Copy a link to this", short: "Link", copied: "Link copied ✓",
    back: "Back to where you read", shortly: "Back", close: "Close",
    here: "The address of this picture as it stands now:",
    long: "This is too much for a link. Shorten the text or take fewer numbers, and it will fit.",
    gone: "The picture that this link leads to does not stand on this page any more.",
    failed: "The picture that this link leads to could not be brought to life here.",
    refused: (what) => `This link asks for something that the picture does not have: ${what}. `
      + "It stands as the page shows it.",
  };
  const finite = (x, bound = Infinity) => typeof x === "number" && Number.isFinite(x) && Math.abs(x) <= bound;
  const whole = (x) => Number.isInteger(x);
  const within = (x, { low, high }) => finite(x) && x >= low && x <= high;
  const list = (x, most = Infinity) => Array.isArray(x) && x.length <= most;
  const named = (x, { pattern }) => !pattern || new RegExp(`^(?:${pattern})$`).test(x);
  const brief = (x, { longest = 2000 }) => typeof x === "string" && x.length <= longest;
  const distinct = (x) => new Set(x).size === x.length;
  function table(x, { rows, columns, most = Infinity, widest = most, bound = Infinity, empty = false }) {
    if (!list(x, most)) return false;
    if (!x.length) return empty;
    const wide = x[0]?.length;
    return wide > 0 && wide <= widest && (!rows || x.length === rows) && (!columns || wide === columns)
      && x.every((row) => list(row) && row.length === wide && row.every((n) => finite(n, bound)));
  }
  /** What a trait of each kind may be, as traits.py has it. */
  const FITS = {
    count: (x, own) => whole(x) && within(x, own) && !(own.even && x % 2)
      && (!own.power || whole(Math.log2(x))),
    real: within,
    switch: (x) => typeof x === "boolean",
    choice: (x, { options }) => options.includes(x),
    among: (x, { options }) => finite(x) && options.includes(x),
    text: (x, own) => brief(x, own) && named(x, own),
    words: (x, own) => list(x, own.most) && x.every((one) => brief(one, own) && named(one, own))
      && (!own.options || (distinct(x) && x.every((one) => own.options.includes(one)))),
    numbers: (x, { most, bound }) => list(x, most) && x.every((n) => finite(n, bound)),
    matrix: table,
    cells: (x) => list(x) && x.every((cell) => list(cell, 2) && cell.length === 2
      && cell.every((n) => whole(n) && n >= 0)),
    placed: (x, own) => list(x, own.most) && x.every((one) => list(one, 2) && one.length === 2
      && whole(one[0]) && one[0] >= 1 && one[0] <= own.high && brief(one[1], own))
      && distinct(x.map(([place]) => place)),
  };
  const PLAIN = ["choice", "text"]; // written as they are, the others as JSON

  /** The traits that a link may set. */
  function settable(place) {
    const limits = modelOf(place).get("_limits") ?? {};
    return Object.entries(limits).filter(([, own]) => Object.hasOwn(FITS, own?.kind) && !own.fixed);
  }
  const modelOf = (place) => window.pieces.model(place.dataset.model);
  const encoded = (text) => encodeURIComponent(text).replace(/[()']/g, (sign) =>
    `%${sign.charCodeAt(0).toString(16)}`).replace(/%(2C|3A)/g, decodeURIComponent);

  /** The state of a widget as a link has it: what differs from the page's own. */
  function write(place) {
    const differs = ([name, _]) =>
      JSON.stringify(modelOf(place).get(name)) !== JSON.stringify(place.first[name]);
    return settable(place).filter(differs).map(([name, own]) => {
      const value = modelOf(place).get(name);
      return `${name}=${encoded(PLAIN.includes(own.kind) ? value : JSON.stringify(value))}`;
    }).join("&");
  }

  /** What a link says, as { values } by trait, or { refused } where one of them cannot be. */
  function read(place, query) {
    const known = new Map(settable(place));
    const values = {};
    if (query.length > 4 * LONGEST) return { refused: `${query.length} characters` };
    for (const part of query.split("&").filter(Boolean)) {
      const [name, ...rest] = part.split("=");
      const own = known.get(name);
      const shown = part.slice(0, 60);
      if (!own) return { refused: shown };
      try {
        const text = decodeURIComponent(rest.join("="));
        const value = PLAIN.includes(own.kind) ? text : JSON.parse(text);
        if (!FITS[own.kind](value, own)) return { refused: shown };
        values[name] = value;
      } catch {
        return { refused: shown };
      }
    }
    return { values };
  }

  /** Set a widget to what a link says, and all that it does not name to the page's own. */
  function set(place, values) {
    const first = Object.fromEntries(settable(place).map(([name]) => [name, place.first[name]]));
    modelOf(place).set({ ...first, ...values });
    modelOf(place).save_changes();
    place.dispatchEvent(new CustomEvent("pieces-set", { bubbles: true }));
  }

  const ground = () => document.querySelector("article.bd-article, main") ?? document.body;
  function made(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }
  const button = (text, onclick) => made("button", { type: "button", class: "p-button", onclick }, text);

  let note = null;
  let left = null; // where the reader read: { link, at } in the window, and what has been seen since
  /** A line at the foot of the window, until it is closed or another one comes. */
  function tell(text, ...more) {
    note?.remove();
    const close = made("button", { type: "button", class: "p-bar-close", "aria-label": WORDS.close,
      onclick: hush }, "×");
    note = made("div", { class: "pieces-bar" }, made("p", { role: "status" }), ...more, close);
    ground().append(note);
    note.firstChild.textContent = text; // after it stands there, so that it is read out
  }
  function hush() {
    note?.remove();
    [note, left] = [null, null];
  }

  const bar = () => document.querySelector(".bd-header-article");
  const box = (node) => node.getBoundingClientRect();
  const shows = (node) => box(node).bottom > HEADER && box(node).top < innerHeight;
  /** The widest gap of the site's bar, as [from, to]: there nothing of the page is covered. */
  function gap() {
    const { left: from, right: to } = box(bar() ?? document.body);
    const inside = [...bar()?.querySelectorAll("button, a, label") ?? []].map(box).filter((one) => one.width);
    const ends = [from, ...inside.map((one) => one.right)].sort((a, b) => a - b);
    const starts = [...inside.map((one) => one.left), to].sort((a, b) => a - b);
    return ends.map((end, n) => [end, starts[n]]).reduce((a, b) => (b[1] - b[0] > a[1] - a[0] ? b : a));
  }
  /** Offer the way back, in the site's bar. It goes by itself when the link is to be seen again, or the
   *  widget no longer. */
  function offer(place, from) {
    hush();
    const [start, end] = gap();
    const press = button(`↩ ${end - start < 240 ? WORDS.shortly : WORDS.back}`,
      () => (entry() === from.entry ? history.back() : goBack()));
    press.setAttribute("aria-label", WORDS.back);
    const middle = Math.max((start + end) / 2, start + 44); // on a narrow phone over one of the bar's buttons
    note = made("div", { class: "pieces-bar p-bar-back",
      style: `top: .25rem; bottom: auto; left: ${middle}px; padding: 0` }, press);
    ground().append(note);
    left = { ...from, place };
  }
  function passed() {
    if (!left) return;
    left.gone ||= !shows(left.link);
    left.there ||= shows(left.place);
    if (left.gone && (shows(left.link) || (left.there && !shows(left.place)))) hush();
  }
  function goBack() {
    const { at, link } = left;
    hush();
    window.scrollBy({ top: box(link).top - at });
    link.focus({ preventScroll: true });
  }
  /** The browser's own way back, and a phone's gesture, lead to where the reader read, not off the page:
   *  each way there is an entry of its history. */
  const entry = () => history.state?.pieces ?? 0;
  function entered() {
    history.pushState({ ...history.state, pieces: entry() + 1 }, "");
    return entry();
  }

  /** Whether a link will not be seen once the page is scrolled to `y`. */
  function outOfSight(link, y) {
    const end = Math.min(Math.max(y, 0), document.documentElement.scrollHeight - innerHeight);
    const later = box(link).top + scrollY - end;
    return later < HEADER || later > innerHeight - 20;
  }

  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const frames = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  const room = () => innerHeight - HEADER;

  /** Each piece of text and drawing of a widget that is to be seen, as [node, how it looks], in order. Its
   *  sentence is left out: it speaks of what is to be seen, and nearly always changes. */
  function looks(root) {
    const seen = [];
    (function walk(node) {
      if (node.matches(".p-say, .p-voice")) return;
      const [control, canvas] = [node.matches("select, input, textarea"), node instanceof HTMLCanvasElement];
      const words = [...node.childNodes].map((child) => (child instanceof Text ? child.data.trim() : ""));
      const own = words.join("");
      if ((own || control || !node.children.length) && node.checkVisibility()) {
        const drawn = canvas ? node.toDataURL() : control ? `${node.value} ${node.checked}` : own;
        seen.push([node, [node.tagName, drawn, ...[...node.attributes].map((one) => one.value)].join()]);
      }
      if (!control) [...node.children].forEach(walk);
    })(root);
    return seen;
  }
  /** The boxes of all that looks other than anything before, and where one begins to read each. */
  function changes(root, before) {
    const known = new Set(before.map(([, look]) => look));
    const now = looks(root).filter(([, look]) => !known.has(look));
    const clips = [...root.querySelectorAll("*")].filter((node) => node.scrollHeight > node.clientHeight + 1
      && /auto|scroll/.test(getComputedStyle(node).overflowY));
    return now.map(([node]) => {
      const own = [node, ...clips.filter((clip) => clip.contains(node))].map(box);
      const top = Math.max(...own.map((one) => one.top));
      const bottom = Math.min(...own.map((one) => one.bottom));
      const head = box(node.closest(".p-control, .p-pane, figure") ?? node).top;
      return { top: top + scrollY, bottom: bottom + scrollY, weight: Math.max(own[0].width, 1),
        from: Math.max(head, top - 100) + scrollY };
    }).filter(({ top, bottom }) => bottom > top);
  }
  /** How much of them is to be seen in a window that is scrolled to `y`. */
  const seenAt = (boxes, y) => boxes.reduce((sum, { top, bottom, weight }) =>
    sum + weight * Math.max(0, Math.min(bottom, y + innerHeight) - Math.max(top, y + HEADER)), 0);

  /** Where the page is to be scrolled so that a reader sees what changed, null where it is to be seen now: to
   *  the whole widget where it fits, else to the first place that shows nearly all that a window can. */
  function target(root, boxes) {
    const { top, bottom, height } = box(root);
    const whole = scrollY + top - HEADER - Math.max(12, Math.min((room() - height) / 2, 120));
    const seen = Math.min(bottom, innerHeight) - Math.max(top, HEADER);
    const stuck = [...document.querySelectorAll(".beside > div.cell")].some((cell) =>
      cell.contains(root) && getComputedStyle(cell).position === "sticky");
    if (!boxes.length || stuck) return seen >= 0.7 * Math.min(height, room()) ? null : whole;
    const last = Math.max(whole, scrollY + bottom + 12 - innerHeight);
    const ways = boxes.map(({ from }) => Math.min(Math.max(from - HEADER - 12, whole), last));
    const all = [whole, ...ways.sort((a, b) => a - b)].map((y) => [y, seenAt(boxes, y)]);
    const best = Math.max(...all.map(([, sum]) => sum));
    return seenAt(boxes, scrollY) >= 0.7 * best ? null : all.find(([, sum]) => sum >= 0.8 * best)[0];
  }
  function light(place) {
    place.removeAttribute("data-set");
    void place.offsetWidth; // so that a second press shows again
    place.dataset.set = "";
    setTimeout(() => place.removeAttribute("data-set"), 1600);
  }

  /** The place once it is alive, or null where it will never be. */
  function alive(place) {
    return new Promise((go) => {
      const watching = new MutationObserver(look);
      function look() {
        const { state } = place.dataset;
        if (!["live", "stale", "failed"].includes(state)) return;
        watching.disconnect();
        go(state === "failed" ? null : place);
      }
      watching.observe(place, { attributes: true, attributeFilter: ["data-state"] });
      look();
    });
  }

  /** Do what a link says. `link` is the one that was pressed; without it the address of the page said so. */
  async function follow(hash, link = null) {
    const [id, query = ""] = hash.slice(1).split(/\?(.*)/s);
    const found = document.getElementById(id);
    if (!found?.classList.contains("pieces-live")) { tell(WORDS.gone); return; }
    for (let fold = found.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      fold.open = true;
    }
    const place = await alive(found);
    if (!place) { tell(WORDS.failed); return; }
    const root = /** @type {HTMLElement} */ (place.querySelector(".pieces"));
    const { values, refused } = read(place, query);
    const from = link && { link, at: box(link).top };
    const before = looks(root);
    if (values) set(place, values);
    await frames();
    if (place.dataset.settled !== undefined) { // what the host keeps free a while hides where things stand
      place.style.minHeight = `${place.querySelector(".pieces-stage").offsetHeight}px`;
      await frames();
    }
    const to = target(root, link ? changes(root, before) : []);
    const away = to !== null && link && outOfSight(link, to);
    if (away) from.entry = entered();
    if (to !== null) window.scrollTo({ top: to, behavior: link && !calm() ? "smooth" : "instant" });
    if (values) light(place);
    if (to !== null || !link) {
      root.setAttribute("tabindex", "-1");
      root.focus({ preventScroll: true });
    }
    if (refused) tell(WORDS.refused(refused));
    else if (away) offer(place, from);
    else if (link && to === null && !left) hush();
  }

  async function copy(place, press) {
    const query = write(place);
    if (query.length > LONGEST) { tell(WORDS.long); return; }
    const address = `${location.href.split("#")[0]}#${place.id}${query && "?"}${query}`;
    try {
      await navigator.clipboard.writeText(address);
      const say = (text) => { press.firstChild.textContent = text; };
      press.dataset.copied = "";
      say(WORDS.copied);
      setTimeout(() => { say(WORDS.copy); delete press.dataset.copied; }, 2500);
    } catch { // no clipboard for this page: the reader copies it
      const field = made("input", { readonly: "", "aria-label": WORDS.here });
      field.value = address;
      tell(WORDS.here, field);
      field.select();
    }
  }

  /** Give a live widget its item, in the foot of its frame. */
  function equip(place) {
    const foot = place.id && place.querySelector(".p-foot");
    if (!foot || foot.querySelector(".p-link")) return;
    const press = made("button", { type: "button", class: "p-link", "data-short": WORDS.short },
      made("span", { "aria-live": "polite" }, WORDS.copy));
    press.addEventListener("click", () => copy(place, press));
    foot.append(press);
  }

  document.addEventListener("pieces-live", (event) => equip(event.target));
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || !link.hash.startsWith(MARK)) return;
    const elsewhere = link.href.split("#")[0] !== location.href.split("#")[0];
    if (elsewhere || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    follow(link.hash, link);
  });
  addEventListener("scroll", passed, { passive: true });
  const arrive = () => { if (location.hash.startsWith(MARK)) follow(location.hash); };
  addEventListener("hashchange", arrive);
  addEventListener("popstate", () => { if (left && entry() < left.entry) goBack(); });
  const begin = () => {
    document.querySelectorAll('.pieces-live[data-state="live"]').forEach(equip);
    arrive();
  };
  /** For tests, and for the curious. */
  window.piecesLinks = { read, write };
  if (document.readyState === "complete") begin();
  else addEventListener("load", begin);
})();
