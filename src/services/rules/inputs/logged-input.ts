/** Reads log entries for kept inputs: inputs that tasks received, and messages that no task received. */
import { isPlainObject, type Json } from '#kernel'
import { ARRIVAL_TIME, isInput, type KeptMessage } from '#log'
import { type Input, inputOf } from '../durable/input.ts'

export interface LoggedInput {
  readonly input: Input
  /** epoch ms */
  readonly expires?: number
}

type LoggedData = Extract<Input, { k: 'data' }> & Partial<KeptMessage> & { readonly [ARRIVAL_TIME]?: number }

/** undefined for entries that no rule could receive: arrays that are only stored, messages without an arrival */
export function loggedInput(body: Json): LoggedInput | undefined {
  if (!isPlainObject(body)) return undefined
  if (body['k'] !== 'data') {
    const input = inputOf(body)
    return input && { input }
  }
  const { k, m, c, h, r, u, g, x, at, [ARRIVAL_TIME]: arrived } = body as unknown as LoggedData
  const moment = isInput(body) ? at : arrived
  if (moment === undefined || m === undefined) return undefined
  const sent = { c, h, r, u, g }
  const input: Record<string, unknown> = { k, at: moment, m }
  for (const [name, value] of Object.entries(sent)) if (value !== undefined) input[name] = value
  return { input: input as unknown as Input, ...(x !== undefined && { expires: x }) }
}
