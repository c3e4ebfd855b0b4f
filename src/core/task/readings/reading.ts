/** Determines the measurement time of a message, and recognizes repeated messages. */
import { hashText, isoInstant } from '#kernel'
import type { Message } from '../origin.ts'

const UNSTAMPED = new WeakSet<Message>()

export function withoutStamp(message: Message): void {
  UNSTAMPED.add(message)
}

export function unstampedIndexes(messages: readonly Message[]): readonly number[] {
  return messages.flatMap((message, index) => (UNSTAMPED.has(message) ? [index] : []))
}

/** Keys ignored in comparisons, besides the engine's. `all`: an idempotency key identifies the message instead. */
export type Ignored = readonly string[] | 'all'

const IGNORED = new WeakMap<Message, Ignored>()

export function ignoring(message: Message, ignored: Ignored): void {
  IGNORED.set(message, ignored)
}

export function ignoredOf(message: Message): Ignored | undefined {
  return IGNORED.get(message)
}

export function mayComeAgain(message: Message): boolean {
  return stampOf(message) !== undefined && IGNORED.get(message) !== 'all'
}

export function isStamped(message: Message): boolean {
  return message.timestamp !== undefined && !UNSTAMPED.has(message)
}

/** Returns the timestamp of a message, epoch ms; undefined if it is missing or invalid. */
export function stampOf(message: Message): number | undefined {
  return isStamped(message) ? readStamp(message) : undefined
}

/** Returns the measurement time, epoch ms, at most the time of arrival; undefined if missing or invalid. */
export function measuredAt(message: Message, arrived: number): number | undefined {
  const stamp = readStamp(message)
  return stamp === undefined ? undefined : Math.min(stamp, arrived)
}

function readStamp({ timestamp }: Message): number | undefined {
  const time = typeof timestamp === 'string' ? isoInstant(timestamp) : timestamp
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined
}

/** Per measurement time; the first ones are kept. */
export const MAX_KEPT = 16

/** A reading that a sensor processed: the message, or after a restore only its identity. */
export type KnownReading = Message | string

/** What a sensor processed last: the highest measurement time so far, and the readings with that time. */
export interface LastProcessed {
  readonly time: number
  readonly known: readonly KnownReading[]
}

export type Verdict = 'taken' | 'late' | 'duplicate'

/** Classifies a reading for a sensor. `time`: of the reading; `ignores`: keys that comparisons ignore. */
export function verdictOf(
  taken: LastProcessed | null,
  time: number,
  message: Message,
  ignores: readonly string[],
): Verdict {
  if (taken === null || time > taken.time) return 'taken'
  if (time < taken.time) return 'late'
  return isAmong(taken.known, message, ignores) ? 'duplicate' : 'taken'
}

export function withReading(taken: LastProcessed | null, time: number, message: Message): LastProcessed | null {
  if (taken !== null && time < taken.time) return taken
  const single = mayComeAgain(message) ? [message] : NONE
  if (taken === null || time > taken.time) return { time, known: single }
  return taken.known.length >= MAX_KEPT ? taken : { time, known: [...taken.known, ...single] }
}

const NONE: readonly KnownReading[] = []

export function isAmong(all: readonly KnownReading[], message: Message, ignores: readonly string[]): boolean {
  if (!mayComeAgain(message)) return false
  return all.some((one) =>
    typeof one === 'string' ? one === identityOf(message, ignores) : isSameMessage(one, message, ignores),
  )
}

/** Whether two messages are equal except for ignored keys; false if an idempotency key identifies `one` instead. */
export function isSameMessage(one: Message, other: Message, ignores: readonly string[]): boolean {
  if (IGNORED.get(one) === 'all') return false
  return canonical(without(one, ignores)) === canonical(without(other, ignores))
}

function without(message: Message, ignores: readonly string[]): object {
  const ignored = IGNORED.get(message)
  if (ignored === undefined && ignores.length === 0) return message
  const isIgnored = (key: string): boolean => ignores.includes(key) || ignored?.includes(key) === true
  return Object.fromEntries(Object.entries(message).filter(([key]) => !isIgnored(key)))
}

/** A hash of 64 bits. */
export function identityOf(known: KnownReading, ignores: readonly string[]): string {
  if (typeof known === 'string') return known
  return identityHash(known, ignores).map(hex).join('')
}

export function identityHash(message: Message, ignores: readonly string[]): readonly [number, number] {
  const text = canonical(without(message, ignores))
  return [hashText(text), hashText(`${text.length}/${text}`)]
}

function hex(hash: number): string {
  return hash.toString(16).padStart(8, '0')
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`
}
