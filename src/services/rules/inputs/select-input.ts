/** Selects the part of an input that belongs to a range. Every reader of kept inputs uses this definition. */
import type { Message } from '#core'
import { isoInstant } from '#kernel'
import { type Input, messagesOf } from '../durable/input.ts'
import type { InputRange, KeptInput } from './contract.ts'

export type DataInput = Extract<Input, { k: 'data' }>

export function selectInput(kept: KeptInput, range: InputRange): KeptInput | undefined {
  const { position, input } = kept
  const { after = 0, upTo = Number.POSITIVE_INFINITY } = range
  if (position <= after || position > upTo) return undefined
  if (input.k !== 'data') return isOfTasks(input, range) ? kept : undefined
  const selected = selectMessages(input, (message) => isIn(message, input, range))
  return selected === input ? kept : selected && { position, input: selected }
}

export function selectMessages(input: DataInput, isWanted: (message: Message) => boolean): DataInput | undefined {
  const { m } = input
  // by far the most frequent case
  if (!Array.isArray(m)) return isWanted(m as Message) ? input : undefined
  const messages = messagesOf(m)
  const places = messages.flatMap((message, place) => (isWanted(message) ? [place] : []))
  if (places.length === messages.length) return input
  return places.length === 0 ? undefined : withPlaces(input, places)
}

/** Keeps only the messages at the given indexes; an array stays an array. */
function withPlaces(input: DataInput, places: readonly number[]): DataInput {
  const { u: unstamped, ...rest } = input
  const messages = messagesOf(input.m)
  const u = places.flatMap((place, i) => (unstamped?.includes(place) === true ? [i] : []))
  return { ...rest, m: places.flatMap((place) => messages[place] ?? []), ...(u.length > 0 && { u }) }
}

/** Returns the epoch ms of a reading: the message's `timestamp` if it is valid, but never later than the arrival. */
export function readingTime({ timestamp }: Message, at: number): number {
  const time = typeof timestamp === 'string' ? isoInstant(timestamp) : timestamp
  return typeof time === 'number' && time < at ? time : at
}

function isIn(message: Message, { at }: DataInput, { from, until, resources }: InputRange): boolean {
  if (resources !== undefined && !resources.includes(message.resource)) return false
  const time = readingTime(message, at)
  return time >= (from ?? Number.NEGATIVE_INFINITY) && time <= (until ?? Number.POSITIVE_INFINITY)
}

/** Selects inputs other than messages, whose only time is their arrival. */
function isOfTasks(input: Exclude<Input, DataInput>, { from, until, tasks }: InputRange): boolean {
  if (tasks === undefined) return false
  if (input.at < (from ?? Number.NEGATIVE_INFINITY) || input.at > (until ?? Number.POSITIVE_INFINITY)) return false
  return 't' in input ? tasks.includes(input.t) : true
}
