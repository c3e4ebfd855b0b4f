/** Reads log entries for kept inputs: inputs that tasks received, and messages that no task received. */
import { isPlainObject, type Json } from '#kernel'
import { ARRIVAL_TIME, isInput, type KeptMessage } from '#log'
import { type Input, inputOf } from '../durable/input.ts'

export interface LoggedInput {
  readonly input: Input
  /** epoch ms */
  readonly expires?: number
}

type LoggedData = Writable<Extract<Input, { k: 'data' }>> & Partial<KeptMessage> & { readonly [ARRIVAL_TIME]?: number }
type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** undefined for entries that no rule could receive: arrays that are only stored, messages without an arrival */
export function loggedInput(body: Json): LoggedInput | undefined {
  if (!isPlainObject(body)) return undefined
  if (body['k'] !== 'data') {
    const input = inputOf(body)
    return input && { input }
  }
  const { m, c, h, r, u, g, x, at, [ARRIVAL_TIME]: arrived } = body as unknown as LoggedData
  const moment = isInput(body) ? at : arrived
  if (moment === undefined || m === undefined) return undefined
  const input: LoggedData = { k: 'data', at: moment, m }
  if (c !== undefined) input.c = c
  if (h !== undefined) input.h = h
  if (r !== undefined) input.r = r
  if (u !== undefined) input.u = u
  if (g !== undefined) input.g = g
  return x === undefined ? { input } : { input, expires: x }
}
