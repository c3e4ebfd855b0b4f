/**
 * Whole numbers of a JSON text that have more digits than a number keeps (beyond 2^53): read as numbers they would be
 * others.
 */
import { hasDigits } from './digit-runs.ts'

/** 2^53 has 16 digits: texts without so many in a row, which are no fraction, have nothing to look for. */
const FEWEST_DIGITS = 16
const MANY_DIGITS = /(?<![.\d])\d{16,}(?![.\deE])/
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WHOLE = /^-?\d+$/
const MAX_SHOWN = 60

export interface LongInteger {
  /** keys and places that lead to it */
  readonly steps: readonly (string | number)[]
  /** as it is written */
  readonly digits: string
}

/** Where the walk is: the last key of an object, or the place in a list. */
interface Level {
  step: string | number
}

/** All of them, in their order. `text` is JSON. */
export function longIntegersOf(text: string): readonly LongInteger[] {
  if (!hasDigits(text, FEWEST_DIGITS) || !MANY_DIGITS.test(text)) return NONE
  const found: LongInteger[] = []
  const levels: Level[] = []
  for (let i = 0; i < text.length;) {
    const char = text[i] ?? ''
    const level = levels.at(-1)
    if (char === '"') {
      const end = endOfString(text, i)
      // a value is taken for a key as well: the next key comes before anything is found
      if (level !== undefined && typeof level.step === 'string') level.step = text.slice(i, end)
      i = end
      continue
    }
    if (char === '{' || char === '[') levels.push({ step: char === '{' ? '' : 0 })
    else if (char === '}' || char === ']') levels.pop()
    else if (char === ',' && typeof level?.step === 'number') level.step += 1
    else if (char === '-' || (char >= '0' && char <= '9')) {
      NUMBER.lastIndex = i
      const [number = char] = NUMBER.exec(text) ?? []
      if (isLongInteger(number)) found.push({ steps: levels.map(({ step }) => read(step)), digits: number })
      i += number.length
      continue
    }
    i += 1
  }
  return found
}

/** Whether a text is a whole number of which a number does not keep all digits. */
export function isLongInteger(text: string): boolean {
  if (text.length < FEWEST_DIGITS || !WHOLE.test(text)) return false
  return String(Number(text)) !== String(BigInt(text)) && Number.isFinite(Number(text))
}

/** Of many digits the first ones. */
export function shownDigits(digits: string): string {
  return digits.length > MAX_SHOWN ? `${digits.slice(0, MAX_SHOWN)}...` : digits
}

const NONE: readonly LongInteger[] = []

function read(step: string | number): string | number {
  return typeof step === 'string' ? (JSON.parse(step) as string) : step
}

/** Behind the closing quote. */
function endOfString(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1
  return i + 1
}
