/** Reads the times of a recording in order, including repeated clock readings. */
import { copyOf, isEqual, textOf } from './byte-texts.ts'
import type { EpochUnit } from '#kernel'
import { epochNumber, readTime, type ClockZone, type TimeReading } from './read-time.ts'

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
