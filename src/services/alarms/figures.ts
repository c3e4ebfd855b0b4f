/**
 * Figures of an alarm system after ISA-18.2 and EEMUA 191, from the alarms of a period in the order of their creation.
 * docs/reference/alarm-figures.md defines each figure.
 */
import type { RaisedFigures } from './figures-schema.ts'
import type { Severity } from './alarm-schema.ts'

/** Times are epoch ms. */
export interface Occurrence {
  readonly time: number
  readonly source: string
  readonly type: string
  readonly severity: Severity
  /** suppressed from its beginning, so not announced */
  readonly isHeld: boolean
}

export interface Period {
  readonly from: number
  readonly until: number
  readonly operators: number
}

const SLOT = 600_000
const HOUR = 3_600_000
const DAY = 86_400_000
/** alarms of an operator in a slot: a flood begins above the first and ends below the second */
const FLOOD_BEGINS = 10
const FLOOD_ENDS = 5
const CHATTER_RAISES = 3
const CHATTER_MS = 60_000
const LISTED = 10
const MAX_FLOODS = 100

interface Kind {
  readonly source: string
  readonly type: string
  alarms: number
  isChattering: boolean
  /** times of the last raises, oldest first, at most two */
  last: readonly number[]
}

export class FigureSum {
  readonly #period: Period
  readonly #slots: Uint32Array
  readonly #kinds = new Map<string, Kind>()
  readonly #severities: Record<Severity, number> = { CRITICAL: 0, MAJOR: 0, MINOR: 0, WARNING: 0 }
  #alarms = 0
  #held = 0

  constructor(period: Period) {
    this.#period = period
    this.#slots = new Uint32Array(Math.ceil((period.until - period.from) / SLOT))
  }

  /** Ignores alarms outside of the period. */
  add({ time, source, type, severity, isHeld }: Occurrence): void {
    const { from, until } = this.#period
    if (time < from || time >= until) return
    if (isHeld) {
      this.#held++
      return
    }
    this.#alarms++
    this.#severities[severity]++
    const slot = Math.floor((time - from) / SLOT)
    this.#slots[slot] = (this.#slots[slot] ?? 0) + 1
    const key = JSON.stringify([source, type])
    const kind = this.#kinds.get(key) ?? { source, type, alarms: 0, isChattering: false, last: [] }
    this.#kinds.set(key, kind)
    kind.alarms++
    const first = kind.last.at(1 - CHATTER_RAISES)
    if (first !== undefined && kind.last.length === CHATTER_RAISES - 1 && time - first <= CHATTER_MS)
      kind.isChattering = true
    kind.last = [...kind.last, time].slice(1 - CHATTER_RAISES)
  }

  figures(): RaisedFigures {
    const { from, until, operators } = this.#period
    const length = until - from
    const rate = (ms: number): number => rounded((this.#alarms * ms) / length / operators)
    const floods = floodsOf(this.#slots, this.#period)
    const inFlood = floods.reduce((sum, flood) => sum + flood.until - flood.from, 0)
    const kinds = [...this.#kinds.values()].sort(
      (a, b) => b.alarms - a.alarms || compare(a.source, b.source) || compare(a.type, b.type),
    )
    const top = kinds.slice(0, LISTED)
    const chattering = kinds.filter(({ isChattering }) => isChattering)
    const peak = this.#slots.reduce((most, count) => Math.max(most, count), 0)
    return {
      from: iso(from),
      until: iso(until),
      operators,
      alarms: this.#alarms,
      held: this.#held,
      perTenMinutes: rate(SLOT),
      perHour: rate(HOUR),
      perDay: rate(DAY),
      peak: {
        alarms: peak,
        perOperator: rounded(peak / operators),
        ...(peak > 0 && { from: iso(from + SLOT * this.#slots.indexOf(peak)) }),
      },
      flood: {
        count: floods.length,
        seconds: rounded(inFlood / 1000),
        share: rounded(inFlood / length),
        floods: floods
          .slice(0, MAX_FLOODS)
          .map((flood) => ({ ...flood, from: iso(flood.from), until: iso(flood.until) })),
      },
      severities: this.#severities,
      top: top.map((kind) => ({ ...shown(kind), share: rounded(kind.alarms / this.#alarms) })),
      topShare: rounded(top.reduce((sum, { alarms }) => sum + alarms, 0) / Math.max(1, this.#alarms)),
      chattering: { count: chattering.length, alarms: chattering.slice(0, LISTED).map(shown) },
    }
  }
}

interface Flood {
  readonly from: number
  readonly until: number
  readonly alarms: number
  readonly peak: number
}

function floodsOf(slots: Uint32Array, { from, until, operators }: Period): readonly Flood[] {
  const floods: Flood[] = []
  let current: Flood | undefined
  for (const [i, alarms] of slots.entries()) {
    const isIn = current === undefined ? alarms > FLOOD_BEGINS * operators : alarms >= FLOOD_ENDS * operators
    if (!isIn) {
      if (current !== undefined) floods.push(current)
      current = undefined
      continue
    }
    const begin = from + i * SLOT
    const { from: since, alarms: before, peak } = current ?? { from: begin, alarms: 0, peak: 0 }
    const end = Math.min(begin + SLOT, until)
    current = { from: since, until: end, alarms: before + alarms, peak: Math.max(peak, alarms) }
  }
  return current === undefined ? floods : [...floods, current]
}

function shown({ source, type, alarms }: Kind): { source: string; type: string; alarms: number } {
  return { source, type, alarms }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** To six digits after the point. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
