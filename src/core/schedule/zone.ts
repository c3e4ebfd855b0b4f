/** Provides time zones as stretches of constant offset, equal to luxon's, cached since luxon takes microseconds. */
import { IANAZone } from 'luxon'
import type { Stretch, Zone } from './schedule.ts'
import { quoted, scheduleError, scheduleProblem } from './schedule-problem.ts'
import { civilDay, DAY_MS, dayNumber } from './civil.ts'

const LONGEST = 64

/** Returns the IANA name most similar to the text, or undefined. Also accepts a city alone. */
function nearestZone(text: string): string | undefined {
  const wanted = spelling(text.slice(0, LONGEST))
  if (wanted === '') return undefined
  let best: string | undefined
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const full = spelling(name)
    const city = full.slice(full.lastIndexOf('/') + 1)
    const distance = Math.min(editDistance(wanted, full, least), editDistance(wanted, city, least))
    if (distance < least) {
      least = distance
      best = name
    }
  }
  return best
}

function spelling(text: string): string {
  return text.toLowerCase().replaceAll(/[\s-]/g, '_')
}

/** Returns the Levenshtein distance, capped at `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return Math.min(limit, row[b.length] ?? limit)
}

const OFFSET = /^(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?$/i
const UTC = /^(?:Z|UTC|GMT)$/i
const MAX_OFFSET_MINUTES = 18 * 60
/** Zones never changed twice within a week, so this step finds every change. */
const STEP_MS = 5 * DAY_MS
/** From this year on, changes follow rules instead of history; the shortest season of these rules is a month. */
const RULED_FROM_YEAR = 2038
const RULED_STEP_MS = 14 * DAY_MS
const MAX_YEARS_KEPT = 256
/** Distance between the ends of the known years and unknown changes, longer than the reach of local times. */
const EDGE_MS = 2 * DAY_MS

/** Parses an IANA name or an offset (`+02:00`, `UTC+2`, `Z`) in any case. Throws `SCHEDULE` with a suggestion. */
export function parseZone(text: string): Zone {
  const trimmed = typeof text === 'string' ? text.trim() : ''
  if (UTC.test(trimmed)) return fixedZone('UTC', 0)
  const offset = OFFSET.exec(trimmed)
  if (offset) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0)
    if (minutes <= MAX_OFFSET_MINUTES && Number(offset[3] ?? 0) < 60)
      return offsetZone(offset[1] === '-' ? -minutes : minutes)
    throw scheduleError([scheduleProblem('timeZone', `${quoted(text)} is not a valid offset`, 'use -18:00 to +18:00')])
  }
  if (trimmed.length <= 64 && IANAZone.isValidZone(trimmed)) return new NamedZone(canonicalName(trimmed))
  const nearest = nearestZone(trimmed)
  const like = nearest === undefined ? '' : `did you mean ${nearest}? `
  const suggestion = `${like}Use an IANA name such as Europe/Brussels, or an offset such as +02:00, UTC+2 or Z`
  throw scheduleError([scheduleProblem('timeZone', `${quoted(text)} is not a time zone`, suggestion)])
}

/** Caches zones by text, to be shared by many schedules. Holds at most 1000. */
export class Zones {
  readonly #known = new Map<string, Zone>()

  parse(text: string): Zone {
    const known = this.#known.get(text)
    if (known) return known
    const zone = parseZone(text)
    if (this.#known.size >= 1000) this.#known.clear()
    this.#known.set(text, zone)
    return zone
  }
}

function canonicalName(text: string): string {
  return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone
}

function offsetZone(minutes: number): Zone {
  if (minutes === 0) return fixedZone('UTC', 0)
  const absolute = Math.abs(minutes)
  const hours = String(Math.floor(absolute / 60)).padStart(2, '0')
  return fixedZone(`${minutes < 0 ? '-' : '+'}${hours}:${String(absolute % 60).padStart(2, '0')}`, minutes * 60_000)
}

function fixedZone(name: string, offset: number): Zone {
  const all: Stretch = { from: -Infinity, until: Infinity, offset, before: offset, after: offset }
  return { name, stretchAt: () => all }
}

interface Change {
  at: number
  before: number
  after: number
}

class NamedZone implements Zone {
  readonly name: string
  readonly #luxon: IANAZone
  readonly #years = new Map<number, readonly Change[]>()
  #last: Stretch | undefined

  constructor(name: string) {
    this.name = name
    this.#luxon = IANAZone.create(name)
  }

  stretchAt(instant: number): Stretch {
    const last = this.#last
    if (last && instant >= last.from && instant < last.until) return last
    const stretch = this.#find(instant)
    this.#last = stretch
    return stretch
  }

  #find(instant: number): Stretch {
    const { year } = civilDay(Math.floor(instant / DAY_MS))
    const changes = [...this.#changesIn(year - 1), ...this.#changesIn(year), ...this.#changesIn(year + 1)]
    const nextIndex = changes.findIndex((change) => change.at > instant)
    const next = nextIndex < 0 ? undefined : changes[nextIndex]
    const previous = changes.at(nextIndex < 0 ? -1 : nextIndex - 1)
    const started = previous !== undefined && previous.at <= instant ? previous : undefined
    const offset = started?.after ?? next?.before ?? this.#offset(instant)
    return {
      from: started?.at ?? yearStart(year - 1) + EDGE_MS,
      until: next?.at ?? yearStart(year + 2) - EDGE_MS,
      offset,
      before: started?.before ?? offset,
      after: next?.after ?? offset,
    }
  }

  #changesIn(year: number): readonly Change[] {
    const known = this.#years.get(year)
    if (known) return known
    const changes: Change[] = []
    const end = yearStart(year + 1)
    const step = year < RULED_FROM_YEAR ? STEP_MS : RULED_STEP_MS
    let at = yearStart(year)
    let before = this.#offset(at)
    while (at < end) {
      const next = Math.min(at + step, end)
      const after = this.#offset(next)
      if (after !== before) changes.push({ at: this.#changeBetween(at, next, before), before, after })
      at = next
      before = after
    }
    if (this.#years.size >= MAX_YEARS_KEPT) this.#years.clear()
    this.#years.set(year, changes)
    return changes
  }

  #changeBetween(low: number, high: number, before: number): number {
    const quarter = this.#halve(low, high, before, 900_000)
    // Nearly all changes are on a quarter of an hour; a few historic ones are on a second.
    return this.#offset(quarter - 1000) === before ? quarter : this.#halve(quarter - 900_000, quarter, before, 1000)
  }

  #halve(low: number, high: number, before: number, unit: number): number {
    let from = low / unit
    let until = high / unit
    while (until - from > 1) {
      const middle = Math.floor((from + until) / 2)
      if (this.#offset(middle * unit) === before) from = middle
      else until = middle
    }
    return until * unit
  }

  #offset(instant: number): number {
    return Math.round(this.#luxon.offset(instant) * 60_000)
  }
}

function yearStart(year: number): number {
  return dayNumber(year, 1, 1) * DAY_MS
}
