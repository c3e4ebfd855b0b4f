/** The inputs of a tenant's tasks, as they appear in its log; what tasks do by themselves is not logged. */
import type { Ignored, Reply } from '#core/spi'
import { encodeNumbers, type Json, messageOf } from '#kernel'
import { isInput, messageBody, type NewEntry } from '#log'
import type { Message, Sent } from '#core'
import type { IntakePost, RunnableTask } from '../runner.ts'

/** `at`: epoch ms of its arrival, never less than that of the previous input. `t`: task id; `e`: epoch of the task. */
export type Input =
  | {
      readonly k: 'data'
      readonly at: number
      readonly m: Message | readonly Message[]
      /** channel; absent: data from the broker */
      readonly c?: string
      readonly h?: number
      /** if there are hops: id of the first arrival that led to the messages; absent: unknown */
      readonly r?: string
      /** indexes of messages that took their arrival as timestamp; absent: none */
      readonly u?: readonly number[]
      /** keys to ignore when comparing messages; absent: the host's default */
      readonly g?: Ignored
    }
  | { readonly k: 'push'; readonly at: number; readonly t: string; readonly n: string; readonly v: PushedValue }
  | { readonly k: 'command'; readonly at: number; readonly t: string; readonly n: string; readonly o: NodeOperation }
  /** Members join or leave a group of the task. `g`: the canonical text of the group */
  | {
      readonly k: 'members'
      readonly at: number
      readonly t: string
      readonly e: number
      readonly g: string
      readonly c: readonly { readonly id: string; readonly joins: boolean }[]
    }
  | { readonly k: 'resync'; readonly at: number; readonly t: string }
  /** Tasks forget identities of messages older than `before` (epoch ms), because they remembered too many. */
  | { readonly k: 'trim'; readonly at: number; readonly before: number }
  | {
      readonly k: 'begin'
      readonly at: number
      readonly t: string
      readonly e: number
      /** resolved resources, in the order of the graph */
      readonly r: readonly string[]
      readonly d: number
      /** a shadow: id of the task whose state it takes over; absent: it begins without a state */
      readonly f?: string
    }
  /** The run continues with another rule: the one in its document, or in the next `change` entry. */
  | {
      readonly k: 'change'
      readonly at: number
      readonly t: string
      readonly e: number
      readonly r: readonly string[]
      readonly b: Pick<RunnableTask, 'source' | 'settings'>
    }
  | { readonly k: 'end'; readonly at: number; readonly t: string; readonly e: number }
  | { readonly k: 'forget'; readonly at: number; readonly t: string }
  /** result of an asynchronous plug: execution, call number, outcome */
  | {
      readonly k: 'answer'
      readonly at: number
      readonly t: string
      readonly e: number
      readonly x: number
      readonly c: number
      readonly o: unknown
    }
  /** result of a call that began before its turn: number of the input in its task, label of the sensor, outcome */
  | {
      readonly k: 'ahead'
      readonly at: number
      readonly t: string
      readonly e: number
      readonly i: number
      readonly n: string
      readonly o: unknown
    }
  /** The runner was reopened; the previous runner was alive until `until`. Each task is absent until its `resume`. */
  | { readonly k: 'open'; readonly at: number; readonly until: number }
  | { readonly k: 'resume'; readonly at: number; readonly ts: readonly string[] }
  /** Calls of this kind (`laterKind`) are asynchronous: a replay does not make them. */
  | { readonly k: 'later'; readonly at: number; readonly p: string }
  /** The process was suspended, so that due timers are late. `since`: as in `still` */
  | { readonly k: 'jump'; readonly at: number; readonly since?: number }
  /** The store was unresponsive since `since`; that time does not count toward call deadlines. */
  | { readonly k: 'still'; readonly at: number; readonly since: number }

export interface PushedValue {
  readonly state?: string
  readonly rawData?: Record<string, unknown>
}

export type NodeOperation = 'start' | 'resume'

export type Untimed<I extends Input = Input> = I extends Input ? Omit<I, 'at'> : never

export function inputOf(body: Json): Input | undefined {
  return isInput(body) ? (body as unknown as Input) : undefined
}

export function messagesOf(one: Message | readonly Message[]): readonly Message[] {
  return Array.isArray(one) ? (one as readonly Message[]) : [one as Message]
}

type DataSent = Sent & Pick<IntakePost, 'unstamped' | 'identityIgnores'>

export type Data = Untimed<Extract<Input, { k: 'data' }>>

/** Converts messages to an input, without fields that have their default. */
export function dataOf(
  m: Message | readonly Message[],
  { channel, hops = 0, root, unstamped, identityIgnores }: DataSent,
): Data {
  const causation = hops > 0 ? { h: hops, ...(root !== undefined && { r: root }) } : undefined
  return {
    k: 'data',
    m,
    ...(channel !== undefined && { c: channel }),
    ...causation,
    ...(unstamped && { u: unstamped }),
    ...(identityIgnores && { g: identityIgnores }),
  }
}

export function entryOf(input: Input, post?: IntakePost): NewEntry {
  if (post === undefined || input.k !== 'data') return { body: input as unknown as Json, input }
  const { k: _k, m: _m, ...about } = input
  return { body: messageBody(post, about), input }
}

export function plain(outcome: Reply): unknown {
  try {
    return JSON.parse(JSON.stringify(encodeNumbers(outcome)))
  } catch (error) {
    return { ok: false, error: `the result is not plain JSON: ${messageOf(error)}` }
  }
}
