/**
 * The twin of `pieces.tasks.stories_scenes`: somebody feels, speaks, asks at home, searches, plays.
 * @typedef {import("./cast.js").Tale} Tale
 * @typedef {import("./cast.js").Someone} Someone
 * @typedef {import("./cast.js").Thing} Thing
 * @typedef {import("./telling.js").Options} Options
 */
import { each } from "./cast.js";

/** She was very happy; or one sees it. @param {Tale} tale @param {Someone} someone */
export function feel(tale, someone, glad = true) {
  const { GLAD, SAD, SHOWN } = tale.world;
  const feelings = glad ? GLAD : SAD;
  const { was } = someone.own;
  tale.who(someone);
  const said = tale.say({ ...each(feelings.map((feeling) => `${was} ${feeling}`), 0.4 / feelings.length),
    [`${was} very`]: 0.2, [`${was} so`]: 0.2, ...each(SHOWN[Number(glad)], 0.2 / 3) });
  if (/ (very|so)$/.test(said)) tale.say(feelings);
  tale.say(".");
}

/** “ Thank you ! ” said Lily. @param {Tale} tale @param {Someone} someone @param {string} words */
export function speak(tale, someone, words, said = "said") {
  tale.say(`“ ${words} ” ${said} ${someone.name} .`);
  tale.focus = someone;
}

/** A question, and what somebody at home answers. Returns the answer.
 *  @param {Tale} tale @param {Someone} someone @param {string} question @param {string[]} answers */
export function ask(tale, someone, question, answers) {
  speak(tale, someone, question, "asked");
  tale.say(relatives(tale, someone));
  tale.say("said , “");
  const answer = tale.say(answers);
  tale.say("”");
  return answer;
}

/** Her mother, her father, …; most often the one with whom she lives, if that was told.
 *  @param {Tale} tale @param {Someone} someone @returns {Options} */
export const relatives = (tale, { own }) => ({
  ...each(tale.world.FAMILY.map((member) => `${own.hers} ${member}`)),
  ...(tale.home ? { [tale.home]: 20 } : {}),
});

/** Look here and there, never twice in one place, until it is found: where it was put, if told.
 *  @param {Tale} tale @param {Someone} someone @param {Thing} thing @param {string|null} corner */
export function search(tale, someone, thing, corner = null) {
  let left = corner ? nearby(tale, corner) : [...tale.world.INSIDE, ...tale.world.OUTSIDE];
  while (true) {
    tale.who(someone);
    tale.say({ looked: 0.8, searched: 0.2 });
    const place = tale.say({ ...each(left, 0.6 / left.length), ...(corner ? { [corner]: 0.4 } : {}) });
    left = left.filter((other) => nearby(tale, place).includes(other) && other !== place);
    const found = corner ? Number(place === corner) : left.length ? 0.5 : 1;
    const there = `, and there ${thing.they} ${thing.was} !`;
    if (tale.chance(there, `, but ${thing.they} ${thing.was} not there .`, found)) return;
    tale.say(["then", "next"]);
  }
}

/** Places that are inside if this one is, or outside.
 *  @param {Tale} tale @param {string} corner @returns {string[]} */
export const nearby = ({ world: { INSIDE, OUTSIDE } }, corner) =>
  (INSIDE.includes(corner) ? INSIDE : OUTSIDE);

/** They played all day. @param {Tale} tale */
export function play(tale) {
  tale.say("they");
  tale.say({ played: 0.5, danced: 0.1, sang: 0.1, "built a tower": 0.15, "ran about": 0.15 });
  tale.say(["until it was dark .", "all day .", "for a long time .", "together ."]);
}
