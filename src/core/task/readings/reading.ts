/** What a message says of its own time, and by what it is known when it comes again. */
import { hashText, isoInstant } from '#kernel'
import type { Message } from '../origin.ts'

/** Messages to which their host gave a timestamp, because they came with none. */
const UNSTAMPED = new WeakSet<Message>()

/** From now on a message counts as one that does not say when it was measured, whatever timestamp it shows. */
export function withoutStamp(message: Message): void {
  UNSTAMPED.add(message)
}

/** Places of such messages. */
export function unstampedPlaces(messages: readonly Message[]): readonly number[] {
  return messages.flatMap((message, place) => (UNSTAMPED.has(message) ? [place] : []))
}

/**
 * What of a message does not count when it is compared with others, besides keys that the engine names. `all`: the message
 * is not compared, because its idempotency key identifies it.
 */
export type Ignored = readonly string[] | 'all'

const IGNORED = new WeakMap<Message, Ignored>()

/** From now on so much of a message does not count when it is compared with others. */
export function ignoring(message: Message, ignored: Ignored): void {
  IGNORED.set(message, ignored)
}

/** That of a message. */
export function ignoredOf(message: Message): Ignored | undefined {
  return IGNORED.get(message)
}

/** Whether a message may be one that came before. */
export function mayComeAgain(message: Message): boolean {
  return stampOf(message) !== undefined && IGNORED.get(message) !== 'all'
}

/** Whether a message says when it was measured. */
export function isStamped(message: Message): boolean {
  return message.timestamp !== undefined && !UNSTAMPED.has(message)
}

/** When a message says it was measured, epoch ms; undefined for one that is not stamped, or whose stamp cannot be read. */
export function stampOf(message: Message): number | undefined {
  return isStamped(message) ? readStamp(message) : undefined
}

/** When a stamped message was measured, but never later than it came, epoch ms; undefined when its stamp cannot be read. */
export function measuredAt(message: Message, arrived: number): number | undefined {
  const stamp = readStamp(message)
  return stamp === undefined ? undefined : Math.min(stamp, arrived)
}

function readStamp({ timestamp }: Message): number | undefined {
  const time = typeof timestamp === 'string' ? isoInstant(timestamp) : timestamp
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined
}

/** Readings that are kept of one time; the first ones count. */
export const MAX_KEPT = 16

/** A reading that was taken: itself, or its identity after it came back from a saved state. */
export type KnownReading = Message | string

/** What a sensor has taken last: the highest time so far, and the readings of that time. */
export interface Taken {
  /** epoch ms */
  readonly time: number
  readonly known: readonly KnownReading[]
}

export type Verdict = 'taken' | 'late' | 'duplicate'

/** What a reading is to a sensor. `time`: of the reading; `ignores`: keys that do not count. */
export function verdictOf(taken: Taken | null, time: number, message: Message, ignores: readonly string[]): Verdict {
  if (taken === null || time > taken.time) return 'taken'
  if (time < taken.time) return 'late'
  return isAmong(taken.known, message, ignores) ? 'duplicate' : 'taken'
}

/** What a sensor has taken after a reading. */
export function withReading(taken: Taken | null, time: number, message: Message): Taken | null {
  if (taken !== null && time < taken.time) return taken
  const own = mayComeAgain(message) ? [message] : NONE
  if (taken === null || time > taken.time) return { time, known: own }
  return taken.known.length >= MAX_KEPT ? taken : { time, known: [...taken.known, ...own] }
}

const NONE: readonly KnownReading[] = []

/** Whether a message is one of those that are known. */
export function isAmong(all: readonly KnownReading[], message: Message, ignores: readonly string[]): boolean {
  if (!mayComeAgain(message)) return false
  return all.some((one) =>
    typeof one === 'string' ? one === identityOf(message, ignores) : isSameMessage(one, message, ignores),
  )
}

/** Whether a message that may have come before says the same as one that did, keys aside that do not count. */
export function isSameMessage(one: Message, other: Message, ignores: readonly string[]): boolean {
  if (IGNORED.get(one) === 'all') return false
  return canonical(without(one, ignores)) === canonical(without(other, ignores))
}

function without(message: Message, ignores: readonly string[]): object {
  const own = IGNORED.get(message)
  if (own === undefined && ignores.length === 0) return message
  const isIgnored = (key: string): boolean => ignores.includes(key) || own?.includes(key) === true
  return Object.fromEntries(Object.entries(message).filter(([key]) => !isIgnored(key)))
}

/** 64 bits of all that a message says, as text. */
export function identityOf(known: KnownReading, ignores: readonly string[]): string {
  if (typeof known === 'string') return known
  return identityHash(known, ignores).map(hex).join('')
}

/** The same as two numbers of 32 bits. */
export function identityHash(message: Message, ignores: readonly string[]): readonly [number, number] {
  const text = canonical(without(message, ignores))
  return [hashText(text), hashText(`${text.length}/${text}`)]
}

function hex(hash: number): string {
  return hash.toString(16).padStart(8, '0')
}

/** JSON whose objects have their keys in order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`
}
