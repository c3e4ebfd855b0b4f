/** Which part of an input belongs to a range: the definition that every reader of kept inputs follows. */
import type { Message } from '#core'
import { isoInstant } from '#kernel'
import { type Input, messagesOf } from '../durable/input.ts'
import type { InputRange, KeptInput } from './contract.ts'

export type DataInput = Extract<Input, { k: 'data' }>

/** The input without messages that do not belong to the range; undefined: none of it does. */
export function selectInput(kept: KeptInput, range: InputRange): KeptInput | undefined {
  const { position, input } = kept
  const { after = 0, upTo = Number.POSITIVE_INFINITY } = range
  if (position <= after || position > upTo) return undefined
  if (input.k !== 'data') return isOfTasks(input, range) ? kept : undefined
  const selected = selectMessages(input, (message) => isIn(message, input, range))
  return selected === input ? kept : selected && { position, input: selected }
}

/** The input with these of its messages; undefined: none of them. */
export function selectMessages(input: DataInput, isWanted: (message: Message) => boolean): DataInput | undefined {
  const messages = messagesOf(input.m)
  const places = messages.flatMap((message, place) => (isWanted(message) ? [place] : []))
  if (places.length === messages.length) return input
  return places.length === 0 ? undefined : withPlaces(input, places)
}

/** Only messages in these places remain; an array stays an array. */
function withPlaces(input: DataInput, places: readonly number[]): DataInput {
  const { u: unstamped, ...rest } = input
  const messages = messagesOf(input.m)
  const u = places.flatMap((place, i) => (unstamped?.includes(place) === true ? [i] : []))
  return { ...rest, m: places.flatMap((place) => messages[place] ?? []), ...(u.length > 0 && { u }) }
}

/** Epoch ms of the reading: the message's `timestamp` if it can be read, but never later than the arrival. */
export function readingTime({ timestamp }: Message, at: number): number {
  const time = typeof timestamp === 'string' ? isoInstant(timestamp) : timestamp
  return typeof time === 'number' && time < at ? time : at
}

function isIn(message: Message, { at }: DataInput, { from, until, resources }: InputRange): boolean {
  if (resources !== undefined && !resources.includes(message.resource)) return false
  const time = readingTime(message, at)
  return time >= (from ?? Number.NEGATIVE_INFINITY) && time <= (until ?? Number.POSITIVE_INFINITY)
}

/** Inputs other than messages have one time, that of their arrival. */
function isOfTasks(input: Exclude<Input, DataInput>, { from, until, tasks }: InputRange): boolean {
  if (tasks === undefined) return false
  if (input.at < (from ?? Number.NEGATIVE_INFINITY) || input.at > (until ?? Number.POSITIVE_INFINITY)) return false
  return 't' in input ? tasks.includes(input.t) : true
}
