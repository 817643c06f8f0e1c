/**
 * The twin of `pieces.tasks.stories_adventures`: what can happen to somebody with a red ball.
 * @typedef {import("./cast.js").Tale} Tale
 */
import { a, each } from "./cast.js";
import { ask, feel, nearby, relatives, search, speak } from "./scenes.js";

/** She takes it along, puts it somewhere, goes home without it, and comes back for it. @param {Tale} tale */
export function lose(tale) {
  const { hero, toy, world } = tale;
  tale.the(toy);
  tale.say("to the");
  const outing = tale.say(world.OUTINGS);
  tale.see(`the ${outing}`);
  tale.say(".");
  tale.who(hero);
  tale.say(`put ${toy.it}`);
  const corner = tale.say(world.OUTSIDE);
  tale.say("and");
  tale.say(world.PASTIMES);
  tale.say([". when it was dark ,", ". then", ". after that ,"]);
  tale.who(hero);
  tale.say(["went home without", "went home , but forgot"]);
  tale.the(toy);
  tale.say(".");
  feel(tale, hero, false);
  const answers = [`I have not seen ${toy.it} .`, `do not cry , we will find ${toy.it} !`, "I do not know .",
    `you had ${toy.it} at the ${outing} .`];
  ask(tale, hero, `where ${toy.are} ${hero.own.my} ${toy.name} ?`, answers);
  tale.say(`so ${hero.name} ran back to the ${outing} .`);
  search(tale, hero, toy, corner);
  feel(tale, hero);
}

/** Hide and seek: who hid where? @param {Tale} tale */
export function seek(tale) {
  const { hero, world } = tale;
  const first = tale.person(false);
  tale.say("and");
  const second = tale.person(false);
  tale.say(".");
  const hidden = new Map();
  let corners = [...world.INSIDE, ...world.OUTSIDE];
  for (const someone of [first, second]) {
    tale.see(someone.name);
    tale.say(`${someone.name} hid`);
    const corner = tale.say(corners);
    corners = corners.filter((other) => nearby(tale, corner).includes(other) && other !== corner);
    hidden.set(corner, someone);
    tale.say(".");
  }
  tale.who(hero);
  tale.say(world.NUMBERS.map((number) => `counted to ${number} .`));
  let found = first;
  while (hidden.size) {
    tale.who(hero);
    tale.say("looked");
    const likely = each([...hidden.keys()], 0.7 / hidden.size);
    const place = tale.say({ ...likely, ...each(corners, 0.3 / corners.length) });
    if (hidden.has(place)) {
      found = hidden.get(place);
      hidden.delete(place);
      tale.say(`, and there was ${found.name} !`);
    } else {
      corners = corners.filter((corner) => corner !== place);
      tale.say(", but nobody was there .");
    }
    if (hidden.size) tale.say(["then", "next"]);
  }
  speak(tale, found, `you found ${found.own.me} !`);
  feel(tale, hero);
}

/** How many were there? @param {Tale} tale */
export function count(tale) {
  const { hero, world } = tale;
  const herd = Object.values(world.HERD);
  tale.see(`the ${tale.say(world.OUTINGS)}`);
  tale.say(". there");
  tale.who(hero);
  tale.say("saw");
  const number = tale.say(world.NUMBERS);
  const one = tale.say(herd);
  tale.say("and");
  const otherNumber = tale.say(world.NUMBERS);
  const other = tale.say(herd.filter((kind) => kind !== one));
  tale.say(". at home ,");
  const asking = tale.say(relatives(tale, hero));
  tale.say("asked , “ how many");
  const asked = tale.say([one, other]);
  tale.see(`the ${asked}`);
  tale.say("did you see ? ” “");
  tale.say(`${asked === one ? number : otherNumber} ${asked} ! ” said ${hero.name} .`);
  tale.say(`${asking} was`);
  tale.say(world.GLAD);
  tale.say(".");
  tale.focus = null; // others were spoken of
}

/** Too far away for one; so others help, and more of them, until it works. @param {Tale} tale */
export function climbAfter(tale) {
  const { hero, toy } = tale;
  tale.say(["fell into the well .", "rolled under the house .", "flew onto the roof ."]);
  tale.who(hero);
  const deed = tale.say(["pulled", "jumped", "climbed", "pushed"]);
  tale.say(`and ${deed} , but could not reach ${toy.it} .`);
  const names = hero.name.split(" and ");
  const most = names.length + 3;
  for (let caller = hero.name, reached = false; !reached;) {
    tale.say(`so ${caller} called`);
    const animal = tale.animal();
    tale.see(animal.name);
    tale.say(".");
    caller = animal.name;
    tale.say(`${names.join(" , ")} and ${caller} ${deed} and ${deed} ,`);
    names.push(caller);
    const [gone, back] = [`but could not reach ${toy.it} .`, `and then they had the ${toy.name} again !`];
    reached = tale.chance(back, gone, names.length < most ? 0.4 : 1);
  }
  speak(tale, hero, "thank you , my friends !");
  feel(tale, hero);
}

/** On the way to grandmother with a cake, past animals that would like to have it. @param {Tale} tale */
export function visit(tale) {
  const { hero, world } = tale;
  const { hers, my } = hero.own;
  const host = tale.say(relatives(tale, hero)).split(" ")[1];
  tale.say("at the");
  tale.see(`the ${tale.say(world.OUTINGS)}`);
  tale.say(".");
  tale.who(hero);
  const taken = world.FOODS.map((one) => `took ${a(one)} and the ${tale.toy.name} along .`);
  const food = tale.say(taken).split(" ")[2];
  for (let met = 0; met < 3; met++) {
    tale.say(["on the way ,", "on the road ,", "near the mill ,"]);
    tale.who(hero);
    tale.say("met");
    const animal = tale.animal();
    tale.see(animal.name);
    tale.say(".");
    speak(tale, animal, `may I have your ${food} ?`, "asked");
    if (tale.chance("“ yes ,", "“ no ,", 0.3)) {
      tale.say(`here it is ! ” said ${hero.name} .`);
      tale.say(`${animal.name} ate the ${food} and was`);
      tale.say(world.GLAD);
      tale.say(`. so ${hero.name} came without the ${food} , but`);
      tale.say(`${hers} ${host}`);
      tale.say(["only laughed .", "was not angry ."]);
      break;
    }
    tale.say(`it is for ${my} ${host} ! ” said ${hero.name} .`);
    if (tale.chance(`${hers} ${host} was`, "then", met < 2 ? 0.5 : 1)) {
      tale.say(world.GLAD);
      tale.say(`and ate the ${food} .`);
      break;
    }
    tale.say(`${animal.name} went away .`);
  }
  tale.focus = null; // others were spoken of
}
