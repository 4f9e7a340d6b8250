/** Where two texts that are nearly alike differ, letter by letter. */

const MOST_LETTERS = 200;
/** Least share of the longer text that both have in common. */
const ALIKE = 0.5;

/** @typedef {{ text: string, differs: boolean }} Part */

/**
 * The longest letters that two texts have in common, in order: for each letter whether it is one of them.
 * @param {string[]} first
 * @param {string[]} second
 */
function findCommon(first, second) {
  const width = second.length + 1;
  const longest = new Uint16Array((first.length + 1) * width);
  for (let i = first.length - 1; i >= 0; i -= 1) {
    for (let j = second.length - 1; j >= 0; j -= 1) {
      const [down, right] = [longest[(i + 1) * width + j], longest[i * width + j + 1]];
      longest[i * width + j] =
        first[i] === second[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(down, right);
    }
  }
  const [ofFirst, ofSecond] = [first.map(() => false), second.map(() => false)];
  let [i, j] = [0, 0];
  while (i < first.length && j < second.length) {
    if (first[i] === second[j]) {
      ofFirst[i] = true;
      ofSecond[j] = true;
      i += 1;
      j += 1;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
      i += 1;
    } else {
      j += 1;
    }
  }
  return { ofFirst, ofSecond, count: longest[0] };
}

/**
 * @param {string[]} letters
 * @param {boolean[]} isCommon
 */
function cutParts(letters, isCommon) {
  /** @type {Part[]} */
  const parts = [];
  for (const [at, letter] of letters.entries()) {
    const last = parts.at(-1);
    if (last && last.differs !== isCommon[at]) last.text += letter;
    else parts.push({ text: letter, differs: !isCommon[at] });
  }
  return parts;
}

/**
 * Cut two texts into parts that they have in common and parts that differ; null where too much differs, or nothing.
 * @param {string} first
 * @param {string} second
 * @returns {[Part[], Part[]] | null}
 */
export function compareLetters(first, second) {
  const [one, other] = [Array.from(first), Array.from(second)];
  const length = Math.max(one.length, other.length);
  if (first === second || length > MOST_LETTERS) return null;
  const { ofFirst, ofSecond, count } = findCommon(one, other);
  return count < ALIKE * length ? null : [cutParts(one, ofFirst), cutParts(other, ofSecond)];
}
