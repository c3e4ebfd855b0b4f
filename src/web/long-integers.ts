/** Whole numbers of a JSON text that have more digits than a number keeps: they would be stored as others. */
import { AppError } from '../kernel/errors.ts'
import { Issues } from '../kernel/issues.ts'
import { at } from '../kernel/pointer.ts'
import { hasDigits } from './digit-runs.ts'

/** 2^53 has 16 digits: texts without so many in a row, which are no fraction, have nothing to look for. */
const FEWEST_DIGITS = 16
const MANY_DIGITS = /(?<![.\d])\d{16,}(?![.\deE])/
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WHOLE = /^-?\d+$/
const MAX_TOLD = 100
const MAX_SHOWN = 60

/** Where the walk is: the last key of an object, or the place in a list. */
interface Level {
  step: string | number
}

/** Throws `VALIDATION` with the place of each. `text` is JSON. */
export function refuseLongIntegers(text: string): void {
  if (!hasDigits(text, FEWEST_DIGITS) || !MANY_DIGITS.test(text)) return
  const issues = new Issues('NUMBER', MAX_TOLD)
  const levels: Level[] = []
  for (let i = 0; i < text.length;) {
    const char = text[i] ?? ''
    const level = levels.at(-1)
    if (char === '"') {
      const end = endOfString(text, i)
      // a value is taken for a key as well: the next key comes before anything is told
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
      if (isRounded(number)) tell(number, levels, issues)
      i += number.length
      continue
    }
    i += 1
  }
  if (issues.count === 0) return
  const lines = issues.list.map(({ path, message, suggestion }) => `${path} <- ${message} (${suggestion ?? ''})`)
  throw new AppError('VALIDATION', lines.join('\n'), { issues: issues.list })
}

function isRounded(number: string): boolean {
  if (number.length < 16 || !WHOLE.test(number)) return false
  return Number.isFinite(Number(number)) && String(Number(number)) !== String(BigInt(number))
}

function tell(number: string, levels: readonly Level[], issues: Issues): void {
  const steps = levels.map(({ step }) => (typeof step === 'string' ? (JSON.parse(step) as string) : step))
  const shown = number.length > MAX_SHOWN ? `${number.slice(0, MAX_SHOWN)}...` : number
  issues.wrong(at('', ...steps), `${shown} has more digits than a number keeps`, `send it as a text: "${shown}"`)
}

/** Behind the closing quote. */
function endOfString(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1
  return i + 1
}
