/** What the characters of the small language mean, for readers who know none. */
import { near } from "./tokens.js";

export const GLOSS = {
  昨天: "yesterday", 每天: "every day", 明天: "tomorrow", 在: "in, at", 花园: "garden", 学校: "school",
  房子: "house", 河: "river", 边: "side", 街: "street", 上: "on", 里: "inside", 那: "the", 一: "a", 两: "two",
  小: "small", 大: "big", 新: "new", 高: "tall", 怪: "strange", 好: "good", 猫: "cat", 狗: "dog", 鸟: "bird",
  老师: "teacher", 学生: "student", 孩子: "child", 书: "book", 花: "flower", 球: "ball", 看见: "see", 听见: "hear",
  找到: "find", 拿走: "take", 追: "chase", 画: "draw", 会: "will", 了: "done",
  我: "I", 你: "you", 他: "he", 她: "she", 是: "am, are, is",
  只: "measure", 个: "measure", 本: "measure", 朵: "measure",
};

/** Characters as words of one or two, with what they mean. @param {string[]} characters */
export function grouped(characters) {
  const groups = [];
  for (let s = 0; s < characters.length; s += groups.at(-1).words.length) {
    const two = characters.slice(s, s + 2);
    const words = GLOSS[two.join("")] ? two : two.slice(0, 1);
    groups.push({ words, gloss: GLOSS[words.join("")] ?? "" });
  }
  return groups;
}

/** Chinese words for one that was typed in English: those that mean just that, or else any whose
 *  meaning is spelled almost alike. @param {string} typed */
export function offers(typed) {
  const known = Object.entries(GLOSS).flatMap(([word, gloss]) =>
    gloss.split(", ").map((meaning) => ({ word, meaning: meaning.toLowerCase() })));
  const meant = (meaning) => known.filter((one) => one.meaning === meaning).map(({ word }) => word);
  const exact = meant(typed.toLowerCase());
  if (exact.length) return exact;
  const alike = near(typed, [...new Set(known.map(({ meaning }) => meaning))]);
  return [...new Set(alike.flatMap(meant))];
}
