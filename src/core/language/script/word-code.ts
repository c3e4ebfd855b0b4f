/** The functions of expressions as code for the sandbox: the same values as in word-functions.ts. */
import { DAYS, INSTANT, isCalendarPart, MAX_INSTANT, type CalendarPart } from '../expression/word-functions.ts'

const PARTS: Readonly<Record<CalendarPart, string>> = {
  year: 'getUTCFullYear()',
  month: 'getUTCMonth() + 1',
  day: 'getUTCDate()',
  weekday: 'getUTCDay()',
  hour: 'getUTCHours()',
  minute: 'getUTCMinutes()',
  second: 'getUTCSeconds()',
}

/**
 * Declarations of the functions that a piece of code calls, under names that end in `suffix`. They need `use` of the
 * meters, and `zones`: by name of a time zone `[from, until, [begin, offset][]]` in ms.
 */
export function wordCode(words: ReadonlySet<string>, suffix: string): string {
  const code: string[] = []
  if (words.has('now')) code.push(`const now${suffix} = now`)
  if (words.has('between')) {
    code.push(
      `const between${suffix} = (x, low, high) => law${suffix}('<=', 'low', 'x', low, x) && law${suffix}('<=', 'x', 'high', x, high)`,
    )
  }
  if (words.has('isKnown')) code.push(`const isKnown${suffix} = (x) => !isUnknown(x)`)
  if (words.has('number')) code.push(`const number${suffix} = (x) => count${suffix}(x, 'x')`)
  if (words.has('contains')) {
    code.push(`const contains${suffix} = (all, part) => {
    if (typeof all === 'string' || isArray(all)) return all.includes(part)
    throw new Wrong('contains is given neither a text nor a list first')
  }`)
  }
  const parts = [...words].filter(isCalendarPart)
  if (parts.length > 0) code.push(CALENDAR)
  for (const part of parts) {
    const read = `dateOf('${part}', at, zone).${PARTS[part]}`
    code.push(`const ${part}${suffix} = (at, zone) => ${part === 'weekday' ? `days[${read}]` : read}`)
  }
  return code.join('\n  ')
}

const CALENDAR = `const days = ${JSON.stringify(DAYS)}, pattern = ${String(INSTANT)}, Instant = Date
  const dateOf = (name, given, zone) => {
    const at = typeof given === 'number' ? given : typeof given === 'string' && pattern.test(given) ? Instant.parse(given) : NaN
    if (!(at <= ${MAX_INSTANT} && at >= -${MAX_INSTANT})) {
      throw new Wrong(name + ' is given no instant; give epoch milliseconds, or a text such as 2026-01-31T08:00:00Z')
    }
    if (zone === undefined) return new Instant(at)
    const [from, until, changes] = zones[zone]
    if (at < from || at >= until) {
      throw new Wrong(name + ' is given an instant more than a year from now; write the code as one expression, which knows time zones at any time')
    }
    let offset = 0
    for (const [begin, value] of changes) if (begin <= at) offset = value
    return new Instant(at + offset)
  }`
