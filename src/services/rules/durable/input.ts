/**
 * Inputs of a tenant's tasks in its log, oldest first. Everything from outside is an input; what tasks do by themselves
 * (timers, plugs that answer at once) follows from them and is not written.
 */
import type { Ignored, Reply } from '#core/spi'
import { encodeNumbers, type Json, messageOf } from '#kernel'
import { isInput, messageBody, type NewEntry } from '#log'
import type { Message, Sent } from '#core'
import type { IntakePost, RunnableTask } from '../runner.ts'

/** `at`: epoch ms of its arrival, never less than that of the input before. `t`: id of the task, `e`: its epoch. */
export type Input =
  | {
      readonly k: 'data'
      readonly at: number
      readonly m: Message | readonly Message[]
      /** channel; absent: broker data */
      readonly c?: string
      readonly h?: number
      /** with hops: the root; absent: unknown */
      readonly r?: string
      /** indexes of messages whose timestamp is that of their arrival; absent: none */
      readonly u?: readonly number[]
      /** keys ignored when messages are compared; absent: those of the host */
      readonly g?: Ignored
    }
  | { readonly k: 'push'; readonly at: number; readonly t: string; readonly n: string; readonly v: PushedValue }
  | { readonly k: 'command'; readonly at: number; readonly t: string; readonly n: string; readonly o: NodeOperation }
  | { readonly k: 'resync'; readonly at: number; readonly t: string }
  /** Tasks forget identities of messages before a time, epoch ms: too many were remembered. */
  | { readonly k: 'trim'; readonly at: number; readonly before: number }
  | {
      readonly k: 'begin'
      readonly at: number
      readonly t: string
      readonly e: number
      /** resolved resources, in the order of the graph */
      readonly r: readonly string[]
      readonly d: number
    }
  /** The run continues under another rule, that of its document or of the next change. */
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
  /** of a plug that did not answer at once: execution, number of its call, outcome */
  | {
      readonly k: 'answer'
      readonly at: number
      readonly t: string
      readonly e: number
      readonly x: number
      readonly c: number
      readonly o: unknown
    }
  /** of a call that began before its turn: number of the input in its task, label of the sensor, outcome */
  | {
      readonly k: 'ahead'
      readonly at: number
      readonly t: string
      readonly e: number
      readonly i: number
      readonly n: string
      readonly o: unknown
    }
  /** The runner was opened again; the last one was alive until `until`. Tasks are absent until their `resume`. */
  | { readonly k: 'open'; readonly at: number; readonly until: number }
  | { readonly k: 'resume'; readonly at: number; readonly ts: readonly string[] }
  /** Calls of that kind (`laterKind`) are not answered at once: a replay does not make them. */
  | { readonly k: 'later'; readonly at: number; readonly p: string }
  /** The process was suspended: due timers are late. `since`: as in `still` */
  | { readonly k: 'jump'; readonly at: number; readonly since?: number }
  /**
   * The store was unresponsive since then: that time does not count toward call deadlines. Without time left out it is
   * a sign of life.
   */
  | { readonly k: 'still'; readonly at: number; readonly since: number }

export interface PushedValue {
  readonly state?: string
  readonly rawData?: Record<string, unknown>
}

export type NodeOperation = 'start' | 'resume'

export type Untimed<I extends Input = Input> = I extends Input ? Omit<I, 'at'> : never

/** The input of a log entry; undefined: tasks received nothing of it. */
export function inputOf(body: Json): Input | undefined {
  return isInput(body) ? (body as unknown as Input) : undefined
}

export function messagesOf(one: Message | readonly Message[]): readonly Message[] {
  return Array.isArray(one) ? (one as readonly Message[]) : [one as Message]
}

/** Origin of messages, with the indexes of those stamped at arrival. */
type DataSent = Sent & Pick<IntakePost, 'unstamped' | 'identityIgnores'>

export type Data = Untimed<Extract<Input, { k: 'data' }>>

/** Messages as an input, defaults left out. */
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

/** An input as a log entry. `post`: the origin of its messages. */
export function entryOf(input: Input, post?: IntakePost): NewEntry {
  if (post === undefined || input.k !== 'data') return { body: input as unknown as Json, input }
  const { k: _k, m: _m, ...about } = input
  return { body: messageBody(post, about), input }
}

export function plain(outcome: Reply): unknown {
  try {
    return JSON.parse(JSON.stringify(encodeNumbers(outcome)))
  } catch (error) {
    return { ok: false, error: `the answer is not plain JSON: ${messageOf(error)}` }
  }
}
