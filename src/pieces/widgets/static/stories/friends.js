/**
 * The twin of `pieces.tasks.stories_friends`: a friend who has something, or needs it; an animal.
 * @typedef {import("./cast.js").Tale} Tale
 * @typedef {import("./cast.js").Someone} Someone
 * @typedef {import("./cast.js").Thing} Thing
 */
import { IT, a } from "./cast.js";
import { ask, feel, play, search, speak } from "./scenes.js";

/** A friend who has something else, or nothing, or has lost it. @param {Tale} tale */
export function meet(tale) {
  const { hero } = tale;
  const friend = tale.person();
  tale.see(friend.name);
  tale.say(".");
  tale.who(friend);
  if (tale.chance("had", "was")) {
    const other = tale.thing();
    tale.say(".");
    return swap(tale, friend, other);
  }
  tale.say(tale.world.SAD);
  tale.say(`because ${friend.own.she}`);
  if (tale.chance("had no toys .", `could not find ${friend.own.hers}`)) return lend(tale, friend);
  const lost = tale.thing(false);
  tale.say(".");
  tale.who(hero);
  tale.say(`wanted to help ${friend.own.her} .`);
  search(tale, hero, lost);
  speak(tale, friend, `thank you , ${hero.name} !`);
  feel(tale, friend);
}

/** Each plays with what the other has; in the end everybody has what was theirs.
 *  @param {Tale} tale @param {Someone} friend @param {Thing} other */
function swap(tale, friend, other) {
  const { hero, toy } = tale;
  speak(tale, hero, `may ${hero.own.i} play with your ${other.name} ?`, "asked");
  if (tale.chance("“ yes ,", "“ no ,", 0.7)) {
    tale.say(`if I may play with your ${toy.name} ! ” said ${friend.name} .`);
    tale.say(`so ${hero.name} gave ${friend.name} the ${toy.name} , and`);
    tale.say(`${friend.name} gave ${hero.name} the ${other.name} .`);
    play(tale);
    tale.say(`then ${hero.name} gave the ${other.name} back , and`);
    tale.say(`${friend.name} gave the ${toy.name} back .`);
    return;
  }
  tale.say(`${other.they} ${other.are} mine ! ” said ${friend.name} .`);
  tale.focus = friend;
  feel(tale, hero, false);
  tale.say([`but then ${friend.name} said ,`, `after a while , ${friend.name} said ,`]);
  tale.say("“ I am sorry . you may play with");
  tale.say([`my ${other.name} . ”`, `${other.it} . ”`]);
  feel(tale, hero);
}

/** Who has nothing may play, too. @param {Tale} tale @param {Someone} friend */
function lend(tale, friend) {
  const { hero, toy } = tale;
  speak(tale, hero, `you may play with ${hero.own.my} ${toy.name} !`);
  tale.say(`${friend.name} took the ${toy.name} and`);
  tale.say(["smiled .", "laughed .", "said , “ thank you ! ”"]);
  play(tale);
  tale.say(`then ${friend.name} gave the ${toy.name} back .`);
  feel(tale, friend);
}

/** An animal that needs something gets it, a name, and a home. @param {Tale} tale */
export function keep(tale) {
  const { hero, world } = tale;
  const corner = tale.say([...world.INSIDE, ...world.OUTSIDE]);
  tale.say(". it was");
  const animal = tale.animal(world.TAME);
  tale.say(".");
  tale.who(animal);
  const some = (list) => list.map((one) => `gave it some ${one}`);
  const helps = { cold: ["kept it warm"], tired: ["carried it home"], alone: ["sat down with it"],
    hungry: some(world.MEALS), thirsty: some(world.DRINKS) };
  const need = tale.say(Object.keys(helps).map((one) => `was ${one} .`)).split(" ")[1];
  tale.who(hero);
  tale.say(helps[need]);
  tale.say(`. “ ${hero.own.i} will call you`);
  const taken = tale.cast.map(({ name }) => name);
  const pet = { name: tale.say(world.PETS.filter((name) => !taken.includes(name))), own: IT };
  tale.say(`! ” said ${hero.name} .`);
  tale.leave(animal);
  tale.join(pet);
  tale.see(pet.name);
  const [yes, no] = [`yes , ${pet.name} may stay .`, `no , we have no room for ${pet.name} .`];
  if (ask(tale, hero, `may ${pet.name} stay with ${hero.own.me} ?`, [yes, no]) === yes) {
    tale.who(pet);
    tale.say(["loved to play with", "slept next to", "ran after"]);
    tale.the(tale.toy);
    tale.say(".");
  } else tale.say(`so ${pet.name} slept ${corner} , and ${hero.name} came back every day .`);
}

/** Something good for somebody who needs it. @param {Tale} tale */
export function bake(tale) {
  const { hero, world } = tale;
  const food = tale.say(world.BAKED.map((one) => `${a(one)} for`)).split(" ")[1];
  const friend = tale.person(false);
  const { name } = friend;
  tale.see(name);
  tale.say("because");
  tale.say([`it was ${name} 's birthday .`, `${name} was ill .`, `${name} was sad .`]);
  tale.say(`the first ${food} was too`);
  tale.say(["small", "sweet", "salty", "hard", "hot"]);
  tale.say(", but the second was just right . “");
  tale.say([`this is the best ${food} in the world !`, `thank you , ${hero.name} !`]);
  tale.say(`” said ${name} .`);
  feel(tale, friend);
}
