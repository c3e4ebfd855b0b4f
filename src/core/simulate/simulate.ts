/**
 * A rule over recorded or made-up messages in virtual time, by the engine that also runs live. Between two instants
 * nothing passes but virtual time: asynchronous plugs are waited for before the clock moves on.
 */
import { AppError } from '../../kernel/errors.ts'
import type { Task } from '../engine/api.ts'
import { CoreEngine } from '../engine/engine.ts'
import type { EngineEvent, EventType } from '../engine/events.ts'
import type { Plug } from '../plug/plug.ts'
import type { Logger, Ports } from '../ports.ts'
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'
import type { Explanation } from '../task/explain.ts'
import type { Message } from '../task/origin.ts'
import { instantOf } from './instant.ts'
import { VirtualClock } from './virtual-clock.ts'

export interface SimulateOptions {
  readonly plugs: readonly Plug[]
  /** each with a `timestamp` (epoch ms or ISO 8601), in order; an older one is taken late, at the clock's time */
  readonly messages?: Iterable<Message> | AsyncIterable<Message>
  /** default: the first message's time, else 0 */
  readonly from?: number | string
  /** default: the last message's time */
  readonly until?: number | string
  readonly resource?: string
  readonly variables?: Readonly<Record<string, unknown>>
  /** more task settings, over the rule's own */
  readonly settings?: TaskSettings
  /** default 1: equal seeds give equal runs */
  readonly seed?: number
  readonly ports?: Ports
  /** metadata by resource, for `META.$.<key>` and `${task.resource.meta.*}` */
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** default true */
  readonly why?: boolean
  /** which events `run.events` keeps; default all */
  readonly keep?: 'all' | 'none' | readonly EventType[]
  readonly onEvent?: (event: EngineEvent) => void
  /** now and then, for progress bars */
  readonly onProgress?: (done: { messages: number; time: number }) => void
  readonly logger?: Logger
  /**
   * How long, in real time, to wait for asynchronous plugs before virtual time goes on without them: calls `giveUp`
   * then, and gives a function that takes that back. Default: wait for ever
   */
  readonly patience?: (giveUp: () => void) => () => void
}

export interface Run {
  readonly events: readonly EngineEvent[]
  readonly messages: number
  /** messages older than the clock */
  readonly late: number
  /** epoch ms */
  readonly from: number
  readonly until: number
  readonly task: Task
  explain(node: string): Explanation
}

const PROGRESS_EVERY = 4096
const TASK_ID = 'task'

/** Runs a rule or template in virtual time. Errors: as `engine.start`, and `BAD_RECORDING` for a message without a time. */
export async function simulate(rule: Rule | Template, options: SimulateOptions): Promise<Run> {
  const iterator = iteratorOf(options.messages ?? [])
  const first = await iterator.next()
  const firstTime = first.done === true ? undefined : instantOf(first.value, 1)
  const from = options.from === undefined ? (firstTime ?? 0) : instant(options.from, 'from')
  const simulation = new Simulation(options, from)
  const task = await simulation.start(rule)
  let { next, count, late, time } = { next: first, count: 0, late: 0, time: from }
  while (next.done !== true) {
    count++
    time = instantOf(next.value, count)
    if (time < simulation.now) late++
    else if (simulation.isAhead(time)) await simulation.advanceTo(time)
    simulation.receive(next.value)
    if (simulation.mustWait) await simulation.wait()
    if (count % PROGRESS_EVERY === 0) options.onProgress?.({ messages: count, time: simulation.now })
    const following = iterator.next()
    next = following instanceof Promise ? await following : following
  }
  const until = options.until === undefined ? simulation.now : instant(options.until, 'until')
  if (simulation.mustWait) await simulation.wait()
  await simulation.advanceTo(until)
  options.onProgress?.({ messages: count, time: simulation.now })
  return {
    events: simulation.events,
    messages: count,
    late,
    from,
    until: simulation.now,
    task,
    explain: (node) => task.explain(node),
  }
}

class Simulation {
  readonly events: EngineEvent[] = []
  readonly #options: SimulateOptions
  readonly #clock: VirtualClock
  readonly #engine: CoreEngine
  /** calls that nobody waits for any more */
  #givenUp = 0

  constructor(options: SimulateOptions, from: number) {
    this.#options = options
    this.#clock = new VirtualClock(from)
    this.#engine = new CoreEngine({
      plugs: options.plugs,
      scheduler: this.#clock,
      ids: () => TASK_ID,
      seed: options.seed ?? 1,
      ports: { metadata: (resource) => options.metadata?.[resource], ...options.ports },
      why: options.why ?? true,
      ...(options.logger && { logger: options.logger }),
    })
    const listener = this.#listener()
    if (listener) this.#engine.events$.subscribe(listener)
  }

  get now(): number {
    return this.#clock.now()
  }

  get mustWait(): boolean {
    return this.#engine.openCalls > this.#givenUp
  }

  async start(rule: Rule | Template): Promise<Task> {
    const { settings, resource, variables } = this.#options
    const task = await this.#engine.start(rule, {
      ...settings,
      ...(resource !== undefined && { resource }),
      ...(variables && { variables: { ...settings?.variables, ...variables } }),
      start: true,
    })
    if (this.mustWait) await this.wait()
    return task
  }

  receive(message: Message): void {
    this.#engine.receive(message)
  }

  isAhead(time: number): boolean {
    return time > this.#clock.now()
  }

  /** Moves the clock, stopping at each instant at which something happens. */
  async advanceTo(time: number): Promise<void> {
    for (let at = this.#clock.nextAt(); at !== undefined && at <= time; at = this.#clock.nextAt()) {
      this.#clock.advanceTo(at)
      if (this.mustWait) await this.wait()
    }
    this.#clock.advanceTo(time)
  }

  /** Lets asynchronous plugs answer while virtual time stands still. */
  async wait(): Promise<void> {
    let cancel: (() => void) | undefined
    const outOfPatience = new Promise<void>((resolve) => {
      cancel = this.#options.patience?.(resolve)
    })
    await Promise.race([this.#engine.settled(), outOfPatience])
    cancel?.()
    this.#givenUp = this.#engine.openCalls
  }

  #listener(): ((event: EngineEvent) => void) | undefined {
    const { keep = 'all', onEvent } = this.#options
    if (keep === 'none') return onEvent
    const kept = keep === 'all' ? undefined : new Set<EventType>(keep)
    return (event) => {
      if (kept === undefined || kept.has(event.type)) this.events.push(event)
      onEvent?.(event)
    }
  }
}

type Next = IteratorResult<Message, unknown>

/** Plain iterables stay on a path without promises. */
function iteratorOf(messages: Iterable<Message> | AsyncIterable<Message>): { next(): Next | Promise<Next> } {
  return Symbol.asyncIterator in messages ? messages[Symbol.asyncIterator]() : messages[Symbol.iterator]()
}

function instant(given: number | string, name: string): number {
  const time = typeof given === 'number' ? given : Number.NaN
  if (typeof given === 'string') return instantOf({ resource: '', timestamp: given }, name)
  if (Number.isFinite(time)) return time
  throw new AppError('VALIDATION', `${name} is ${String(given)}; give epoch milliseconds or an ISO 8601 time`)
}
