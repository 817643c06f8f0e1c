/** Every word that TranslationStepper shows. */
import { quoted } from "../kit/kit.js";

export const WORDS = {
  title: "A translation, step by step",
  choose: "a sentence", own: "one of your own",
  examples: ["我是一个学生。", "她是一个好老师。", "昨天那个老师拿走了两本书。",
    "明天那只大狗会在街上追两只鸟。", "那个学生看见书。"],
  typed: (n) => `A sentence of the ${n} Chinese characters that the model knows`,
  hint: "Change a character, or type an English word such as dog: its Chinese is offered here.",
  unknown: (words) => `The model cannot read ${quoted(words)}`
    + `${words.length > 3 ? ` and ${words.length - 3} more` : ""},`
    + ` so it skips ${words.length > 1 ? "them" : "it"}.`,
  long: (most) => ` It reads the first ${most} characters.`,
  empty: "Choose a sentence, or write one of Chinese characters that the model knows.",
  search: "search", searches: [["greedy", "greedy"], ["beam", "beam"]], beams: "candidates kept",
  player: "Words written so far", written: (n) => `${n} written`,
  read: "Read so far", lead: "The leading candidate", then: "→",
  bridge: "Where each word looked when it was chosen",
  left: "The Chinese sentence", right: "The words so far; press one to go back to its step",
  next: "The next word: press one to take it", nextTable: "The next word",
  nextHeads: ["word", "probability"],
  take: (word, p, top) => `Take “${word}”, ${p}${top ? ", the model's choice" : ""}`,
  others: (n) => `${n} others`,
  yours: "Your choices", choice: (place, word) => `${place}: ${word} ✕`, all: "Take all back",
  back: (place, word) => `Take back “${word}” at place ${place}`,
  beyond: (place) => `The translation ends before place ${place}.`,
  strange: (word) => `The model has no word “${word}”.`,
  unused: "Beam search begins at <bos> and does not use them.",
  beam: "Each open candidate goes on; the best are kept",
  open: "open", extended: "one word more, and its sum",
  fate: { kept: "kept", ended: "finished", dropped: "dropped" },
  beamHeads: ["candidate", "sum of log-probabilities", "what becomes of it"],
  done: "Finished so far", noneDone: "none yet",
  score: (score, total, n) => `${score} = ${total} / ${n}`,
  kinds: [["cross", "words to characters"], ["decoder", "among the words"],
    ["encoder", "among the characters"]],
  kind: "Which attention", layer: "layer", head: "head", mean: "all",
  cross: "Tokens that were read, looking at characters",
  decoder: "Tokens that were read, looking back",
  encoder: "Characters, looking at each other",
  token: "token", character: "character", presses: "goes back to its step",
  of: (layer, head) => (head ? `Head ${layer}.${head}` : `Layer ${layer}`),
  meaning: (sign, word, gloss) => (!gloss ? sign : word === sign ? `${sign} (${gloss})`
    : `${sign} of ${word} (${gloss})`),
  gives: (read, word, p) => `The decoder has read ${read}; it gives “${word}” ${p}.`,
  instead: (read, word, p, yours, q) => `The decoder has read ${read}; it gives “${word}” ${p}, `
    + `but you took “${yours}” with ${q}.`,
  leads: (said, total) => `“${said}” leads with a sum of ${total}.`,
  looked: (who, seen, weight) => ` ${who} looked most at ${seen} with ${weight}.`,
  earlier: (word, who, seen, weight) => `For “${word}”, ${who} looked most at ${seen} with ${weight}.`,
  ends: (n, said, score) => ` ${n === 1 ? "One candidate has" : `${n} candidates have`} finished, `
    + `and no open one is better: “${said}” wins with a score of ${score}.`,
  passes: (n, whole, beam) => `Passes so far: 1 of the encoder, ${n} of the decoder; `
    + `${whole} for the whole ${beam ? "search" : "translation"}.`,
  each: (n) => ` Each of them carries up to ${n} ${n === 1 ? "candidate" : "candidates"}.`,
};
