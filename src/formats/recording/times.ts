/** Reads the times of a recording in order, including repeated clock readings. */
import { type EpochUnit, msOf } from '#kernel'
import { copyOf, isEqual, textOf } from './byte-texts.ts'

export interface EpochSpan {
  least: number
  most: number
}

/** A repeated clock reading is the first instant not before the previous line, as recorders pass through both. */
export class RecordingTimes {
  readonly #zone: ClockZone
  readonly #unit: EpochUnit
  /** undefined: no epoch numbers */
  epochs: EpochSpan | undefined
  #last = Number.NEGATIVE_INFINITY
  #lastText: unknown
  #lastBytes: Uint8Array | undefined
  /** epoch ms of the last time's midnight, if written as `2025-01-31T08:00:00.000Z` */
  #day: number | undefined

  constructor(zone: ClockZone, unit: EpochUnit = 'ms') {
    this.#zone = zone
    this.#unit = unit
  }

  read(value: unknown): number | Exclude<TimeReading, { times: readonly number[] }> {
    if (value === this.#lastText) return this.#last
    const reading = readTime(value, this.#zone, this.#unit)
    const epoch = epochNumber(value)
    if (epoch !== undefined) this.#sawEpoch(epoch)
    if (!('times' in reading)) return reading
    const time = reading.times.find((candidate) => candidate >= this.#last) ?? reading.times[0] ?? 0
    this.#last = time
    this.#lastText = value
    this.#lastBytes = undefined
    return time
  }

  /** Reads a time as bytes. Returns undefined where `read` must parse or report it. */
  readBytes(bytes: Uint8Array, start: number, end: number): number | undefined {
    if (this.#lastBytes !== undefined && isEqual(this.#lastBytes, bytes, start, end)) return this.#last
    const sameDay = this.#day !== undefined && this.#isSameDay(bytes, start, end)
    const ms = sameDay ? msOfDay(bytes, start, end) : undefined
    if (ms !== undefined && this.#day !== undefined) this.#last = this.#day + ms
    else {
      const time = this.read(wholeNumber(bytes, start, end) ?? textOf(bytes, start, end))
      if (typeof time !== 'number') return undefined
      const isUtc = bytes[start + T_AT] === T && bytes[end - 1] === Z
      this.#day = isUtc ? Math.floor(time / DAY_MS) * DAY_MS : undefined
    }
    this.#lastText = undefined
    this.#lastBytes = copyOf(bytes, start, end)
    return this.#last
  }

  #sawEpoch(epoch: number): void {
    if (this.epochs === undefined) this.epochs = { least: epoch, most: epoch }
    else {
      this.epochs.least = Math.min(this.epochs.least, epoch)
      this.epochs.most = Math.max(this.epochs.most, epoch)
    }
  }

  #isSameDay(bytes: Uint8Array, start: number, end: number): boolean {
    if (bytes[end - 1] !== Z) return false
    for (let i = 0; i <= T_AT; i += 1) if (this.#lastBytes?.[i] !== bytes[start + i]) return false
    return true
  }
}

const DAY_MS = 86_400_000
const [ZERO, NINE, COLON, POINT, T, Z] = [48, 57, 58, 46, 84, 90]
const T_AT = 10
const [TO_SECONDS, TO_MS] = [20, 24]
const MAX_DIGITS = 15

/** Returns the time of day of `....-..-..T08:00:00Z` or with `.000`; undefined for other forms and invalid times. */
function msOfDay(bytes: Uint8Array, start: number, end: number): number | undefined {
  const length = end - start
  if (length !== TO_SECONDS && (length !== TO_MS || bytes[start + 19] !== POINT)) return undefined
  if (bytes[start + 13] !== COLON || bytes[start + 16] !== COLON) return undefined
  const hours = digits(bytes, start + 11, 2)
  const minutes = digits(bytes, start + 14, 2)
  const seconds = digits(bytes, start + 17, 2)
  const ms = length === TO_MS ? digits(bytes, start + 20, 3) : 0
  // rejects NaN too
  if (!(hours < 24 && minutes < 60 && seconds < 60 && ms >= 0)) return undefined
  return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + ms
}

function wholeNumber(bytes: Uint8Array, start: number, end: number): number | undefined {
  const length = end - start
  const number = length > 0 && length <= MAX_DIGITS ? digits(bytes, start, length) : Number.NaN
  return Number.isNaN(number) ? undefined : number
}

function digits(bytes: Uint8Array, start: number, count: number): number {
  let number = 0
  for (let at = start; at < start + count; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte < ZERO || byte > NINE) return Number.NaN
    number = number * 10 + (byte - ZERO)
  }
  return number
}

/** A time zone. Clock readings are epoch ms as if the clock showed UTC. */
export interface ClockZone {
  readonly name: string
  /** none in a spring gap, two in an autumn overlap, otherwise one */
  instantsOf(reading: number): readonly number[]
}

export const UTC: ClockZone = { name: 'UTC', instantsOf: (reading) => [reading] }

export function epochNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const text = typeof value === 'string' ? value.trim() : ''
  return NUMBER.test(text) ? Number(text) : undefined
}

const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(?:([Zz])|([+-])(\d{2}):?(\d{2})?)?)?$/
const NUMBER = /^-?\d+(?:\.\d+)?$/
/** day, month and year, as spreadsheets in many countries write them */
const DOTTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?=$| )/
/** The last instant that a Date can represent. */
const LAST = 8_640_000_000_000_000

const TIME_FORMS = 'use 2025-01-31T08:00:00Z, 2025-01-31 08:00:00, or epoch milliseconds'

function dashed(_text: string, day: string, month: string, year: string): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}

/** The possible instants (two for a repeated clock reading), or the problem. */
type TimeReading = { times: readonly number[] } | { message: string; suggestion: string }

/** ISO 8601, also with a blank for the T, a date alone, or an epoch number in `unit`; `zone`: without an offset. */
export function readTime(value: unknown, zone: ClockZone, unit: EpochUnit = 'ms'): TimeReading {
  if (typeof value === 'number') return epoch(value, String(value), unit)
  if (typeof value !== 'string')
    return { message: `${JSON.stringify(value)} is not a valid time`, suggestion: TIME_FORMS }
  const common = commonInstant(value)
  if (common !== undefined) return { times: [common] }
  const text = value.trim()
  if (text === '') return { message: 'the time is empty', suggestion: TIME_FORMS }
  const match = TIME.exec(text.replace(DOTTED, dashed))
  if (match === null) {
    if (NUMBER.test(text)) return epoch(Number(text), text, unit)
    return { message: `"${shorten(text)}" is not a valid time`, suggestion: TIME_FORMS }
  }
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', utc, sign, offHours, offMinutes] =
    match
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const parts = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const
  const reading = Date.UTC(...parts, ms)
  if (!sameReading(reading, parts) || Number(offHours ?? 0) > 18 || Number(offMinutes ?? 0) > 59) {
    return { message: `"${text}" does not exist in the calendar or on the clock`, suggestion: TIME_FORMS }
  }
  if (utc !== undefined) return { times: [reading] }
  if (sign !== undefined) {
    const offset = (Number(offHours) * 60 + Number(offMinutes ?? 0)) * 60_000
    return { times: [sign === '-' ? reading + offset : reading - offset] }
  }
  const times = zone.instantsOf(reading)
  if (times.length > 0) return { times }
  return {
    message: `"${text}" does not exist in ${zone.name}: clocks skip it`,
    suggestion: 'use --zone for the zone of the times, or times with their offset',
  }
}

const DAYS_IN_ALL = 28

/** Fast path for `2025-01-31T08:00:00.000Z`, which the runtime parses correctly. */
function commonInstant(text: string): number | undefined {
  if (!text.endsWith('Z') || text[10] !== 'T' || (text.length !== 24 && text.length !== 20)) return undefined
  if (Number(text.slice(8, 10)) > DAYS_IN_ALL || text.startsWith('24', 11)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

function epoch(value: number, text: string, unit: EpochUnit): TimeReading {
  const ms = msOf(value, unit)
  if (Number.isFinite(ms) && Math.abs(ms) <= LAST) return { times: [ms] }
  return { message: `${shorten(text)} is beyond the range of dates`, suggestion: TIME_FORMS }
}

function sameReading(reading: number, parts: readonly [number, number, number, number, number, number]): boolean {
  const date = new Date(reading)
  const back = [
    date.getUTCFullYear(),
    date.getUTCMonth(),
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ]
  return back.every((part, index) => part === parts[index])
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
