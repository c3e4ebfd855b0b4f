/**
 * The inputs of a tenant's tasks as its log keeps them, oldest first. Everything from outside is one of these; what the
 * tasks do by themselves (timers, plugs that answer at once) follows from them and is not written.
 */
import type { Ignored, Reply } from '#core/spi'
import { encodeNumbers, type Json, messageOf } from '#kernel'
import { isInput, messageBody, type NewEntry } from '#log'
import type { Message, Sent } from '#core'
import type { IntakePost, RunnableTask } from '../runner.ts'

/** `at`: epoch ms at which it was taken; never less than that of the one before. `t`: id of the task, `e`: its epoch. */
export type Input =
  | {
      readonly k: 'data'
      readonly at: number
      readonly m: Message | readonly Message[]
      /** channel; absent: broker data */
      readonly c?: string
      /** hops; absent: none */
      readonly h?: number
      /** with hops: the root; absent: not known */
      readonly r?: string
      /** places of messages whose timestamp is that of their arrival; absent: none */
      readonly u?: readonly number[]
      /** what of them does not count when they are compared with others; absent: keys that the host names */
      readonly g?: Ignored
    }
  | { readonly k: 'push'; readonly at: number; readonly t: string; readonly n: string; readonly v: PushedValue }
  | { readonly k: 'command'; readonly at: number; readonly t: string; readonly n: string; readonly o: NodeOperation }
  /** The task forgets the times of its readings. */
  | { readonly k: 'resync'; readonly at: number; readonly t: string }
  /** Tasks forget what they would know again of what they took before a time, epoch ms: too much was remembered. */
  | { readonly k: 'trim'; readonly at: number; readonly before: number }
  | {
      readonly k: 'begin'
      readonly at: number
      readonly t: string
      readonly e: number
      /** resolved resources by place in the graph */
      readonly r: readonly string[]
      /** deliveries of earlier runs */
      readonly d: number
    }
  /** The run goes on under another rule, that of its document or of the next change. */
  | {
      readonly k: 'change'
      readonly at: number
      readonly t: string
      readonly e: number
      /** resolved resources by place in the new graph */
      readonly r: readonly string[]
      /** what the run was made of before */
      readonly b: Pick<RunnableTask, 'source' | 'settings'>
    }
  | { readonly k: 'end'; readonly at: number; readonly t: string; readonly e: number }
  | { readonly k: 'forget'; readonly at: number; readonly t: string }
  /** of a plug that did not answer at once: execution, number of its call, what it gave */
  | {
      readonly k: 'answer'
      readonly at: number
      readonly t: string
      readonly e: number
      readonly x: number
      readonly c: number
      readonly o: unknown
    }
  /** of a call that began before its turn: number of the input in its task, label of the sensor, what it gave */
  | {
      readonly k: 'ahead'
      readonly at: number
      readonly t: string
      readonly e: number
      readonly i: number
      readonly n: string
      readonly o: unknown
    }
  /** The runner was opened again after it had been there up to `until`: no task is there until it is resumed. */
  | { readonly k: 'open'; readonly at: number; readonly until: number }
  /** Tasks go on where they were. */
  | { readonly k: 'resume'; readonly at: number; readonly ts: readonly string[] }
  /** Calls of that kind (`laterKind`) are not answered at once: they are not made when the log is played again. */
  | { readonly k: 'later'; readonly at: number; readonly p: string }
  /** Nobody was there for a while, though the process was: what was due comes late. `since`: as of `still` */
  | { readonly k: 'jump'; readonly at: number; readonly since?: number }
  /** The store said nothing since then: that time counts for no limit of a call. With nothing left out it is a sign of life. */
  | { readonly k: 'still'; readonly at: number; readonly since: number }

export interface PushedValue {
  readonly state?: string
  readonly rawData?: Record<string, unknown>
}

export type NodeOperation = 'start' | 'resume'

/** Every input but the moment at which it is taken. */
export type Untimed<I extends Input = Input> = I extends Input ? Omit<I, 'at'> : never

/** What tasks took of an entry of the log; undefined: nothing. */
export function inputOf(body: Json): Input | undefined {
  return isInput(body) ? (body as unknown as Input) : undefined
}

export function messagesOf(one: Message | readonly Message[]): readonly Message[] {
  return Array.isArray(one) ? (one as readonly Message[]) : [one as Message]
}

/** How messages came, and places of those whose timestamp is that of their arrival. */
type DataSent = Sent & Pick<IntakePost, 'unstamped' | 'identityIgnores'>

export type Data = Untimed<Extract<Input, { k: 'data' }>>

/** Messages as an input: what is as always is left out. */
export function dataOf(
  m: Message | readonly Message[],
  { channel, hops = 0, root, unstamped, identityIgnores }: DataSent,
): Data {
  const led = hops > 0 ? { h: hops, ...(root !== undefined && { r: root }) } : undefined
  return {
    k: 'data',
    m,
    ...(channel !== undefined && { c: channel }),
    ...led,
    ...(unstamped && { u: unstamped }),
    ...(identityIgnores && { g: identityIgnores }),
  }
}

/** An input as the log gets it. `post`: how its messages came. */
export function entryOf(input: Input, post?: IntakePost): NewEntry {
  if (post === undefined || input.k !== 'data') return { body: input as unknown as Json, input }
  const { k: _k, m: _m, ...about } = input
  return { body: messageBody(post, about), input }
}

/** An outcome as the log can keep it. */
export function plain(outcome: Reply): unknown {
  try {
    return JSON.parse(JSON.stringify(encodeNumbers(outcome)))
  } catch (error) {
    return { ok: false, error: `the answer is not plain JSON: ${messageOf(error)}` }
  }
}
