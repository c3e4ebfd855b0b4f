/** Finds integers in a JSON text beyond 2^53, which would lose digits as numbers. */
import { hasDigits } from './digit-runs.ts'

/** 2^53 has 16 digits: texts without a run of 16 digits outside a fraction are skipped. */
const FEWEST_DIGITS = 16
const MANY_DIGITS = /(?<![.\d])\d{16,}(?![.\deE])/
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WHOLE = /^-?\d+$/
const MAX_SHOWN = 60

export interface LongInteger {
  /** keys and indexes on the path to the integer */
  readonly steps: readonly (string | number)[]
  readonly digits: string
}

/** Current object or list of the walk: its last key, or the index in the list. */
interface Level {
  step: string | number
}

export function longIntegersOf(text: string): readonly LongInteger[] {
  if (!hasDigits(text, FEWEST_DIGITS) || !MANY_DIGITS.test(text)) return NONE
  const found: LongInteger[] = []
  const levels: Level[] = []
  for (let i = 0; i < text.length;) {
    const char = text[i] ?? ''
    const level = levels.at(-1)
    if (char === '"') {
      const end = endOfString(text, i)
      // every string is recorded as the key: when it is a value, the next key replaces it before an integer is found
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

export function isLongInteger(text: string): boolean {
  if (text.length < FEWEST_DIGITS || !WHOLE.test(text)) return false
  return String(Number(text)) !== String(BigInt(text)) && Number.isFinite(Number(text))
}

export function shownDigits(digits: string): string {
  return digits.length > MAX_SHOWN ? `${digits.slice(0, MAX_SHOWN)}...` : digits
}

const NONE: readonly LongInteger[] = []

function read(step: string | number): string | number {
  return typeof step === 'string' ? (JSON.parse(step) as string) : step
}

function endOfString(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1
  return i + 1
}
