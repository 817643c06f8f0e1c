/**
 * The twin of `pieces.tasks.stories_plots` and of `Stories.true_next`: whole stories, and the true
 * probability of every next word in the whole world.
 * @typedef {import("./cast.js").World} World
 */
import { climbAfter, count, lose, seek, visit } from "./adventures.js";
import { BOTH, Tale, a, each } from "./cast.js";
import { bake, keep, meet } from "./friends.js";
import { feel, relatives } from "./scenes.js";
import { listen } from "./telling.js";

/** @type {Record<string, [(tale: Tale) => void, number]>} */
const ADVENTURES = {
  took: [lose, 3], "met a": [meet, 4], "heard a noise": [keep, 2.5], "played hide and seek with": [seek, 2],
  "went to see": [visit, 2.5], "walked to the": [count, 2], baked: [bake, 2],
};

/** What can follow each word of a text that begins as a story does: before the first word, and behind each.
 *  @param {string[]} text @param {World} world */
export const trueNext = (text, world) => listen(text, (say) => { while (true) story(new Tale(say, world)); });

/** One story, from its first word to "the end". @param {Tale} tale */
function story(tale) {
  const { WEATHER, TIMES } = tale.world;
  openStory(tale);
  have(tale);
  const some = WEATHER.flatMap((weather) => TIMES.map((time) => `one ${weather} ${time} ,`));
  tale.say({ "one day ,": 0.4, ...each(some, 0.6 / some.length) });
  const adventures = { ...ADVENTURES };
  const left = () => Object.keys(adventures).length;
  adventure(tale, adventures);
  while (left() && tale.chance("the next day ,", "that night ,", 0.35)) adventure(tale, adventures);
  if (!left()) tale.say("that night ,");
  end(tale);
}

/** Who it is about. @param {Tale} tale */
function openStory(tale) {
  const start = tale.say({ "once upon a time there": 3, "long ago , there": 1, "there once": 1, in: 3,
    "this is the story of": 2 });
  if (start === "this is the story of") {
    const first = tale.person(false);
    if (!tale.chance("and", ".")) { tale.hero = first; return; }
    const second = tale.person(false);
    tale.say(".");
    tale.leave(first);
    tale.leave(second);
    tale.hero = tale.join({ name: `${first.name} and ${second.name}`, own: BOTH });
    return;
  }
  if (start === "in") {
    tale.say(tale.world.HOMES.map(a));
    tale.say(["there was", "there lived"]);
  } else tale.say(["was", "lived"]);
  tale.say(tale.world.KINDS.map(a));
  tale.hero = tale.person();
  tale.say(".");
}

/** What the story is about: somebody has it, or gets it in the end. @param {Tale} tale */
function have(tale) {
  const { hero } = tale;
  const verbs = { had: 5, wanted: 2, [`loved ${hero.own.hers}`]: 1.5, found: 1.5 };
  tale.who(hero);
  let verb = tale.say({ ...verbs, "lived with": 3 });
  if (verb === "lived with") {
    tale.home = tale.say(relatives(tale, hero));
    tale.say(".");
    tale.who(hero);
    verb = tale.say(verbs);
  }
  tale.toy = tale.thing(!verb.startsWith("loved"));
  tale.say(".");
  if (verb === "wanted") wish(tale);
}

/** There are two ways to get it: to wait, or to work. @param {Tale} tale */
function wish(tale) {
  const { hero, toy, world } = tale;
  if (tale.chance(`for ${hero.own.hers} birthday ,`, "but")) {
    tale.say(relatives(tale, hero));
    tale.say(`hid ${toy.it}`);
    const corner = tale.say(world.INSIDE);
    tale.say(".");
    tale.who(hero);
    tale.say(`opened the door and looked ${corner} , and there ${toy.they} ${toy.was} !`);
  } else {
    tale.who(hero);
    tale.say("had no coins . so");
    tale.who(hero);
    tale.say("helped");
    const worker = tale.say(world.WORKERS.map((one) => `the ${one}`));
    const coins = tale.say(world.NUMBERS.map((number) => `for ${number} days .`)).split(" ")[1];
    tale.say(`${worker} gave ${hero.own.her} ${coins} coins , and then`);
    tale.who(hero);
    tale.say(`bought the ${toy.name} .`);
  }
  feel(tale, hero);
}

/** What happens this time, told by whoever it happens to; never twice in one story.
 *  @param {Tale} tale @param {typeof ADVENTURES} adventures */
function adventure(tale, adventures) {
  const { hero } = tale;
  const toy = `the ${tale.toy.name}`;
  if (tale.say({ ...tale.subject(hero, 0.85), ...(tale.safe ? { [toy]: 0.15 } : {}) }) === toy) {
    tale.safe = false;
    climbAfter(tale);
    return;
  }
  tale.focus = hero;
  const weights = Object.entries(adventures).map(([name, [, weight]]) => [name, weight]);
  const verb = tale.say(Object.fromEntries(weights));
  const [happens] = adventures[verb];
  delete adventures[verb];
  happens(tale);
}

/** What is dreamed of was seen by day. @param {Tale} tale */
function end(tale) {
  const { hero, world: { GLAD } } = tale;
  const toy = `the ${tale.toy.name}`;
  const told = `told ${hero.own.hers}`;
  tale.who(hero);
  const how = tale.say({ "dreamed of": 6, [told]: 2, "could not sleep because": 1, slept: 1 });
  if (how === "slept") tale.say(["well .", "late .", `next to ${toy} .`]);
  else if (how === "could not sleep because") {
    tale.say(`${hero.own.she} ${hero.own.was} so`);
    tale.say(GLAD);
    tale.say(".");
  } else {
    if (how === told) {
      const family = Object.entries(relatives(tale, hero));
      tale.say(Object.fromEntries(family.map(([name, weight]) => [name.split(" ")[1], weight])));
      tale.say("about");
    }
    tale.say([...tale.seen, toy]);
    tale.say([".", "and smiled .", "and laughed ."]);
  }
  tale.say("the end .");
}
