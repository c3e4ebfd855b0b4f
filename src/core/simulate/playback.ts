/**
 * Plays messages to one or more rules side by side in virtual time. Each rule has its own engine with the same task id
 * and seed, so that it behaves as if it ran alone; reading, clock and waiting are shared.
 *
 * Asynchronous plugs take no virtual time: the clock waits for them.
 */
import { AppError, isInstant, type Logger, messageOf } from '#kernel'
import type { EngineOptions, SavedTask, Task } from '../engine/api.ts'
import { CoreEngine } from '../engine/engine.ts'
import type { EventBatch } from '../engine/event-batch.ts'
import type { EventFilter } from '../engine/event-filter.ts'
import type { CountsKind } from '../engine/event-subscriptions.ts'
import type { EngineEvent } from '../engine/events.ts'
import type { Generate } from '../engine/executor.ts'
import type { Preparer } from '../engine/prepare.ts'
import type { Plug } from '../plug/plug.ts'
import type { Ports } from '../ports.ts'
import type { Rule, TaskSettings, Template } from '../rule/rule.ts'
import type { Message, Sent } from '../task/origin.ts'
import type { DowntimeInterval } from '../task/saved.ts'
import { instantOf } from './instant.ts'
import { VirtualClock } from './virtual-clock.ts'

export interface PlaybackOptions {
  readonly plugs: readonly Plug[]
  /**
   * messages in order, each with a `timestamp` (epoch ms or ISO 8601); a message older than the clock counts as late
   * and is processed at the clock's time
   */
  readonly messages?: Iterable<Message> | AsyncIterable<Message>
  /** returns the channel of a message; undefined: broker data. Default: all messages are broker data */
  readonly channelOf?: (message: Message) => string | undefined
  /**
   * returns the arrival of a message, epoch ms; undefined: its timestamp. Default: all messages arrive at their
   * timestamps
   */
  readonly arrivalOf?: (message: Message) => number | undefined
  /**
   * downtime of the host, epoch ms: messages during it arrive at its end, and waits of sensors follow their `downtime`
   * setting. `VALIDATION` when the downtime is not within the run
   */
  readonly down?: { readonly from: number; readonly until: number }
  /** default: time of the first message, else 0 */
  readonly from?: number | string
  /** default: time of the last message */
  readonly until?: number | string
  readonly resource?: string
  readonly variables?: Readonly<Record<string, unknown>>
  readonly settings?: TaskSettings
  /** default 1; equal seeds produce equal runs */
  readonly seed?: number
  readonly ports?: Ports
  /** metadata by resource, for `META.$.<key>` and `${task.resource.meta.*}` */
  readonly metadata?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** default true: `fired` events contain their why */
  readonly why?: boolean
  /** called from time to time */
  readonly onProgress?: (done: { messages: number; time: number }) => void
  readonly logger?: Logger
  /** ms of virtual time that delay each result of a plug, by label of the node or name of the plug */
  readonly latency?: Readonly<Record<string, number>>
  /**
   * Limits the real time of asynchronous plugs: calls `giveUp` when virtual time should continue without them; returns
   * a function that cancels the limit. Default: no limit
   */
  readonly patience?: (giveUp: () => void) => () => void
  /** called after each message and each timer; a promise pauses the playback, an error ends it */
  readonly breathe?: () => Promise<void> | undefined
  readonly generate?: Generate
}

/** One of the rules that are played side by side. */
export interface Lane {
  readonly rule: Rule | Template
  readonly name?: string
  /** default: the settings of the playback */
  readonly settings?: TaskSettings
  /** compiles the rule with its own plugs, for several playbacks; default: the plugs of the playback */
  readonly preparer?: Preparer
  /** default: the setting of the playback */
  readonly why?: boolean
  readonly onEvent?: ((event: EngineEvent) => void) | undefined
  readonly batches?: LaneBatches | undefined
}

/** Receives events in batches, which create them when they are read: slows the lane down less than `onEvent`. */
export interface LaneBatches {
  readonly filter?: Pick<EventFilter, 'types' | 'why'>
  next(batch: EventBatch): void
  /** as in `EventSubscriptions` */
  readonly countsKind?: CountsKind
}

/** A crash of the engines of a playback. */
export interface Crash {
  /** ms until the engines resume from their saved state; timers due by then act late */
  readonly down: number
  /** true: before plugs have answered the message, so that their calls are repeated; false: afterwards */
  readonly inFlight: boolean
}

export interface Step {
  readonly kind: 'start' | 'message' | 'clock'
  readonly time: number
  readonly message?: Message
}

export interface PlaybackHooks {
  readonly onStep?: (step: Step, tasks: readonly Task[]) => void
  /** returns the crash after that many messages, if any */
  readonly restartAfter?: (messages: number) => Crash | undefined
  /**
   * returns the plugs of each engine, which may be new so that a crash loses their memory; default: the plugs of the
   * options
   */
  readonly preparer?: (() => Preparer) | undefined
  readonly detail?: boolean
  /** whether an occurrence of a schedule at the start itself counts; default true */
  readonly runsAtStart?: boolean
  /** used instead of `messages` */
  readonly source?: MessageIterator | undefined
  /** called at the end, before the engines close and open calls are aborted; absent: the engines stay open */
  readonly onEnd?: (tasks: readonly Task[]) => void
}

export interface Played {
  readonly messages: number
  /** number of messages older than the clock */
  readonly late: number
  readonly from: number
  readonly until: number
  /** longest time, in ms, that an input waited for earlier inputs of its task */
  readonly maxLag: number
  readonly tasks: readonly Task[]
}

/** number of messages times lanes between two progress calls */
const PROGRESS_EVERY = 4096
const TASK_ID = 'task'
const MAX_TOLD = 20

/** Plays messages to all lanes. Throws like `engine.start`, and `BAD_RECORDING` for a message without a time. */
export async function play(
  lanes: readonly Lane[],
  options: PlaybackOptions,
  hooks: PlaybackHooks = {},
): Promise<Played> {
  const iterator = hooks.source ?? iteratorOf(options.messages ?? [])
  const first = await iterator.next()
  const timeOf = (message: Message, number: number) => options.arrivalOf?.(message) ?? instantOf(message, number)
  const firstTime = first.done === true ? undefined : timeOf(first.value, 1)
  const from = options.from === undefined ? (firstTime ?? 0) : instant(options.from, 'from')
  requireWithin(options.down, from, options.until === undefined ? undefined : instant(options.until, 'until'))
  let { down } = options
  const reportEvery = Math.max(1, Math.floor(PROGRESS_EVERY / Math.max(1, lanes.length)))
  const playback = new Playback(lanes, options, hooks, from)
  try {
    await playback.start()
    let { next, count, late } = { next: first, count: 0, late: 0 }
    while (next.done !== true) {
      count++
      const time = timeOf(next.value, count)
      if (down !== undefined && time >= down.from) {
        await playback.goAway(down)
        down = undefined
      }
      if (time < playback.now) late++
      else if (playback.isDue(time)) await playback.advanceTo(time)
      else playback.jumpTo(time)
      playback.take(next.value)
      const crash = hooks.restartAfter?.(count)
      if (crash?.inFlight === true) await playback.restart(0)
      if (playback.mustWait) await playback.wait()
      hooks.onStep?.({ kind: 'message', time: playback.now, message: next.value }, playback.tasks)
      if (crash !== undefined && (!crash.inFlight || crash.down > 0)) await playback.restart(crash.down)
      if (count % reportEvery === 0) options.onProgress?.({ messages: count, time: playback.now })
      const breath = options.breathe?.()
      if (breath !== undefined) await breath
      const following = iterator.next()
      next = following instanceof Promise ? await following : following
    }
    const until = options.until === undefined ? playback.now : instant(options.until, 'until')
    if (playback.mustWait) await playback.wait()
    if (down !== undefined) await playback.goAway(down)
    await playback.advanceTo(until)
    await playback.finish()
    options.onProgress?.({ messages: count, time: playback.now })
    const { maxLag, tasks } = playback
    hooks.onEnd?.(tasks)
    return { messages: count, late, from, until: playback.now, maxLag, tasks }
  } catch (error) {
    await iterator.return?.(undefined)
    throw error
  } finally {
    if (hooks.onEnd !== undefined) await playback.close()
  }
}

interface Running {
  readonly lane: Lane
  engine: CoreEngine
}

/** Rules in virtual time, one step after the other. */
export class Playback {
  tasks: readonly Task[] = []
  readonly #options: PlaybackOptions
  readonly #hooks: PlaybackHooks
  readonly #clock: VirtualClock
  readonly #lanes: readonly Running[]

  constructor(lanes: readonly Lane[], options: PlaybackOptions, hooks: PlaybackHooks, from: number) {
    this.#options = options
    this.#hooks = hooks
    this.#clock = new VirtualClock(from)
    this.#lanes = lanes.map((lane) => ({ lane, engine: this.#engine(lane) }))
  }

  get now(): number {
    return this.#clock.now()
  }

  get mustWait(): boolean {
    for (const { engine } of this.#lanes) if (engine.openCalls > 0) return true
    return false
  }

  /** Starts all lanes, and reports the problems of all lanes at once. */
  async start(): Promise<void> {
    const { resource, variables } = this.#options
    const tasks: Task[] = []
    const failures: { name: string | undefined; error: unknown }[] = []
    for (const { lane, engine } of this.#lanes) {
      const { settings = this.#options.settings } = lane
      try {
        const task = await engine.start(lane.rule, {
          ...settings,
          ...(resource !== undefined && { resource }),
          ...(variables && { variables: { ...settings?.variables, ...variables } }),
          start: true,
        })
        tasks.push(task)
      } catch (error) {
        failures.push({ name: lane.name, error })
      }
    }
    if (failures.length > 0) throw together(failures)
    this.tasks = tasks
    if (this.mustWait) await this.wait()
    this.#hooks.onStep?.({ kind: 'start', time: this.now }, tasks)
  }

  take(message: Message): void {
    const channel = this.#options.channelOf?.(message)
    this.receive(message, channel === undefined ? undefined : { channel })
  }

  receive(messages: Message | readonly Message[], sent?: Sent): void {
    for (const { engine } of this.#lanes) engine.receive(messages, sent)
  }

  /** Returns the time of the next timer, epoch ms. */
  nextAt(): number | undefined {
    return this.#clock.nextAt()
  }

  isDue(time: number): boolean {
    const at = this.#clock.nextAt()
    return at !== undefined && at <= time
  }

  /** Moves the clock over a span in which no timers are due. */
  jumpTo(time: number): void {
    this.#clock.advanceTo(time)
  }

  /** Moves the clock, stopping at each timer. */
  async advanceTo(time: number): Promise<void> {
    for (let at = this.#clock.nextAt(); at !== undefined && at <= time; at = this.#clock.nextAt()) {
      this.#clock.advanceTo(at)
      if (this.mustWait) await this.wait()
      this.#hooks.onStep?.({ kind: 'clock', time: this.now }, this.tasks)
      const breath = this.#options.breathe?.()
      if (breath !== undefined) await breath
    }
    this.#clock.advanceTo(time)
  }

  /** Waits for asynchronous plugs and the calls that follow, while virtual time stands still. */
  async wait(): Promise<void> {
    let cancel: (() => void) | undefined
    const outOfPatience = new Promise<boolean>((resolve) => {
      cancel = this.#options.patience?.(() => resolve(false))
    })
    for (let patient = true; patient && this.mustWait;) {
      const settled = Promise.all(this.#lanes.map(({ engine }) => engine.settled())).then(() => true)
      patient = await Promise.race([settled, outOfPatience])
    }
    cancel?.()
    for (const { engine } of this.#lanes) engine.giveUp()
  }

  async finish(): Promise<void> {
    for (const { engine } of this.#lanes) {
      while (engine.delays.size > 0) {
        engine.delays.hurry()
        if (this.mustWait) await this.wait()
      }
    }
  }

  async close(): Promise<void> {
    for (const { engine } of this.#lanes) await engine.close()
  }

  get maxLag(): number {
    return Math.max(0, ...this.#lanes.map(({ engine }) => engine.takeMaxLag()))
  }

  /** Simulates a downtime of the host. */
  async goAway(away: DowntimeInterval): Promise<void> {
    await this.advanceTo(away.from)
    if (this.mustWait) await this.wait()
    await this.restart(away.until - this.now, away)
  }

  /**
   * Moves every lane to a new engine with its saved state, after `down` ms. `away`: the host was down during that
   * interval.
   */
  async restart(down: number, away?: DowntimeInterval): Promise<void> {
    const saved = this.tasks.map((task) => JSON.parse(JSON.stringify(task.save())) as SavedTask)
    for (const { engine } of this.#lanes) await engine.close()
    const tasks: Task[] = []
    this.#clock.advanceTo(this.now + down)
    for (const [index, running] of this.#lanes.entries()) {
      running.engine = this.#engine(running.lane)
      const kept = saved[index]
      if (kept !== undefined) tasks.push(await running.engine.restore(kept, away && { away }))
    }
    this.tasks = tasks
    if (this.mustWait) await this.wait()
    if (down > 0) await this.advanceTo(this.now)
  }

  #engine(lane: Lane): CoreEngine {
    const { plugs, seed, ports, metadata, logger, latency, generate } = this.#options
    const { preparer = this.#hooks.preparer?.(), why = this.#options.why ?? true } = lane
    const options: EngineOptions = {
      plugs,
      scheduler: this.#clock,
      ids: () => TASK_ID,
      seed: seed ?? 1,
      runsAtStart: this.#hooks.runsAtStart ?? true,
      ports: {
        metadata: (resource) => (metadata && Object.hasOwn(metadata, resource) ? metadata[resource] : undefined),
        ...ports,
      },
      why,
      detail: this.#hooks.detail ?? true,
      ...(logger && { logger }),
      ...(generate && { generate }),
      ...(latency && {
        latency: ({ node }) => latencyOf(latency, node.label) ?? latencyOf(latency, node.call.plug.name) ?? 0,
      }),
    }
    const engine = preparer === undefined ? new CoreEngine(options) : new CoreEngine(options, preparer.plugs, preparer)
    if (lane.onEvent) engine.events$.subscribe(lane.onEvent)
    const { batches } = lane
    if (batches) engine.eventBatches(batches.filter, batches.countsKind).subscribe((batch) => batches.next(batch))
    return engine
  }
}

function latencyOf(latency: Readonly<Record<string, number>>, name: string): number | undefined {
  return Object.hasOwn(latency, name) ? latency[name] : undefined
}

type Next = IteratorResult<Message, unknown>

/** Reads messages; returns a promise only when it must wait. */
export interface MessageIterator {
  next(): Next | Promise<Next>
  return?(value: unknown): unknown
}

/** plain iterables are read without promises */
function iteratorOf(messages: Iterable<Message> | AsyncIterable<Message>): MessageIterator {
  return Symbol.asyncIterator in messages ? messages[Symbol.asyncIterator]() : messages[Symbol.iterator]()
}

/** Combines the errors of all lanes that failed to start; equal failures are reported once. */
function together(failures: readonly { name: string | undefined; error: unknown }[]): unknown {
  const [first] = failures
  const texts = new Map<string, string>()
  for (const { name, error } of failures) {
    const text = messageOf(error)
    if (!texts.has(text)) texts.set(text, name === undefined ? text : `${name}: ${text}`)
  }
  if (texts.size <= 1 || !(first?.error instanceof AppError)) return first?.error
  const reported = [...texts.values()].slice(0, MAX_TOLD)
  if (texts.size > MAX_TOLD) reported.push(`and ${texts.size - MAX_TOLD} more`)
  const issues = failures.flatMap(({ error }) => (error instanceof AppError ? error.issues : []))
  return new AppError(first.error.code, reported.join('\n'), { issues, cause: first.error })
}

function requireWithin(down: DowntimeInterval | undefined, from: number, until = Number.POSITIVE_INFINITY): void {
  if (down === undefined || (down.from >= from && down.from < down.until && down.until <= until)) return
  throw new AppError('VALIDATION', 'the downtime is not within the run; use one that begins and ends in it')
}

function instant(value: number | string, name: string): number {
  const time = typeof value === 'number' ? value : Number.NaN
  if (typeof value === 'string') return instantOf({ resource: '', timestamp: value }, name)
  if (isInstant(time)) return time
  throw new AppError('VALIDATION', `${name}: ${String(value)} is not a valid time; use epoch milliseconds or ISO 8601`)
}
