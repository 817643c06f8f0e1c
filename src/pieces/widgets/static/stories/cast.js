/**
 * The twin of `pieces.tasks.stories_cast`: who and what a story is about, and how it is spoken of.
 * It knows the whole world, of which no split leaves anything out.
 * @typedef {{she: string, her: string, hers: string, was: string, i: string, me: string, my: string}}
 *   Pronouns
 * @typedef {{name: string, own: Pronouns}} Someone
 * @typedef {{name: string, noun: string, it: string, they: string, was: string, are: string}} Thing
 * @typedef {import("./telling.js").Options} Options
 * @typedef {Record<string, any>} World the words of `pieces.tasks.stories_words`, by their names
 */

/** @param {string} she @param {string} her @param {string} hers @returns {Pronouns} */
const one = (she, her, hers) => ({ she, her, hers, was: "was", i: "I", me: "me", my: "my" });
const [GIRL, BOY] = [one("she", "her", "her"), one("he", "him", "his")];
export const IT = one("it", "it", "its");
/** @type {Pronouns} */
export const BOTH = { she: "they", her: "them", hers: "their", was: "were", i: "we", me: "us", my: "our" };

/** A red ball, an orange ball. @param {string} words */
export const a = (words) => `${"aeiou".includes(words[0]) ? "an" : "a"} ${words}`;

/** The same weight for each. @param {string[]} phrases @returns {Options} */
export const each = (phrases, weight = 1) => Object.fromEntries(phrases.map((phrase) => [phrase, weight]));

/** One or two of something with a colour.
 *  @param {string} colour @param {string} form @param {boolean} two @returns {Thing} */
function thing(colour, form, two) {
  const name = `${colour} ${form}`;
  return { name, noun: form, it: two ? "them" : "it", they: two ? "they" : "it",
    was: two ? "were" : "was", are: two ? "are" : "is" };
}

/** What a story says and remembers: who is in it, who was spoken of last, what was seen. */
export class Tale {
  /** @param {import("./telling.js").Say} voice @param {World} world */
  constructor(voice, world) {
    this.voice = voice;
    this.world = world;
    /** @type {Someone[]} */
    this.cast = [];
    /** @type {Someone|null} */
    this.focus = null;
    /** @type {string[]} */
    this.seen = [];
    /** @type {string|null} */
    this.home = null;
    this.safe = true; // until the toy falls into the well
    this.hero = /** @type {Someone} */ ({});
    this.toy = /** @type {Thing} */ ({});
  }

  /** Say one of the phrases; without weights, each is as probable as the others.
   *  @param {string|string[]|Options} options */
  say(options) {
    if (typeof options === "string") return this.voice({ [options]: 1 });
    return this.voice(Array.isArray(options) ? each(options) : options);
  }

  /** Say one of two phrases, and tell whether it was the first. @param {string} yes @param {string} no */
  chance(yes, no, probability = 0.5) {
    const weights = { [yes]: probability, [no]: 1 - probability };
    return this.say(Object.fromEntries(Object.entries(weights).filter(([, weight]) => weight))) === yes;
  }

  /** A name, or its pronoun where that can mean nobody else. @param {Someone} someone @returns {Options} */
  subject(someone, weight = 1) {
    const { name, own } = someone;
    const rivals = this.cast.some((other) => other.own === own && other.name !== name);
    if (rivals && this.focus?.name !== name) return { [name]: weight };
    return { [own.she]: 0.7 * weight, [name]: 0.3 * weight };
  }

  /** Say who does what comes next. @param {Someone} someone */
  who(someone) {
    this.say(this.subject(someone));
    this.focus = someone;
  }

  /** Somebody was named, and is in the story. @param {Someone} someone */
  join(someone) {
    this.cast.push(someone);
    this.focus = someone;
    return someone;
  }

  /** Speak of somebody no more. @param {Someone} someone */
  leave({ name }) { this.cast.splice(this.cast.findIndex((other) => other.name === name), 1); }

  /** Something to dream of. @param {string} name */
  see(name) { if (!this.seen.includes(name)) this.seen.push(name); }

  /** Name a person who is not in the story yet: girl named Lily, or just Lily. */
  person(introduced = true) {
    const { GIRLS, BOYS } = this.world;
    const names = !introduced ? [...GIRLS, ...BOYS] : this.chance("girl named", "boy named") ? GIRLS : BOYS;
    const taken = this.cast.flatMap(({ name }) => name.split(" "));
    const name = this.say(names.filter((other) => !taken.includes(other)));
    return this.join({ name, own: GIRLS.includes(name) ? GIRL : BOY });
  }

  /** Bring in an animal: a little dog, and from then on the dog. @param {string[]} kinds */
  animal(kinds = this.world.ANIMALS) {
    const free = kinds.filter((kind) => this.cast.every(({ name }) => name !== `the ${kind}`));
    const looks = this.world.LOOKS.flatMap((look) => free.map((kind) => a(`${look} ${kind}`)));
    const said = this.say({ ...each(free.map(a), 0.5 / free.length), ...each(looks, 0.5 / looks.length) });
    return this.join({ name: `the ${said.split(" ").at(-1)}`, own: IT });
  }

  /** Name what somebody has or wants: a big red ball, two red balls; or without "a", "two". */
  thing(counted = true) {
    const { COLOURS, SIZES, THINGS } = this.world;
    let looks = { ...each(COLOURS, 0.6 / COLOURS.length), ...each(SIZES, 0.4 / SIZES.length) };
    const formed = (form, share) => Object.entries(looks).map(([word, p]) => [form(word), share * p]);
    if (counted) looks = Object.fromEntries([...formed(a, 0.8), ...formed((word) => `two ${word}`, 0.2)]);
    const said = this.say(looks).split(" ");
    const look = said.at(-1);
    const number = said.length > 1 ? said[0] : null;
    const colour = SIZES.includes(look) ? this.say(COLOURS) : look;
    const several = Object.values(THINGS);
    const noun = this.say({ ...(number === "two" ? {} : each(Object.keys(THINGS), 0.8)),
      ...(number === null || number === "two" ? each(several, 0.2) : {}) });
    return thing(colour, noun, several.includes(noun));
  }

  /** Name a thing again, in full or in short. @param {Thing} thing */
  the({ name, noun }) { this.say({ [`the ${name}`]: 0.8, [`the ${noun}`]: 0.2 }); }
}
