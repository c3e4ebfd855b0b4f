/** Shows tasks at past instants and now, in the same form. */
import type { Observable } from 'rxjs'
import type { Explanation, FiredEvent, Plug } from '#core'
import { followPlugs, type LiveTask, type SavedState } from '#core/spi'
import { AppError, makeIssue, refuse } from '#kernel'
import type { EngineSettings } from '../durable/deterministic-engine.ts'
import { messagesOf } from '../durable/input.ts'
import type { LiveTasks } from '../durable/live-tasks.ts'
import type { TaskPast } from '../runner.ts'
import { dryPlugs } from '../tools/dry-plugs.ts'
import type { KeptInput, KeptPast, KeptSince } from './contract.ts'
import type { InputKeeper } from './input-keeper.ts'
import {
  INPUT_KINDS,
  type InputEntry,
  type InputsPage,
  type InputsQuery,
  type TaskStateView,
  type TaskTimer,
} from './inputs-schema.ts'
import { readingTime } from './select-input.ts'
import { type ReplayDependencies, type ReplayEnd, SILENT, TaskReplay } from './task-replay.ts'

export interface PastDependencies {
  /** undefined: no inputs are kept */
  readonly inputs: InputKeeper | undefined
  readonly settings: Omit<EngineSettings, 'plugs' | 'ports'>
  readonly plugs: () => readonly Plug[]
  tasks(): Promise<LiveTasks>
}

const DEFAULT_LIMIT = 100

export class Past implements TaskPast {
  readonly #dependencies: PastDependencies
  readonly #settings: EngineSettings

  constructor(dependencies: PastDependencies) {
    this.#dependencies = dependencies
    const { logger: _logger, timed: _timed, history: _history, ...settings } = dependencies.settings
    this.#settings = { ...settings, plugs: followPlugs(dryList(dependencies.plugs)), ports: SILENT }
  }

  /** undefined: no inputs are kept */
  get kept(): KeptPast | undefined {
    const { inputs, tasks } = this.#dependencies
    const { plugs: _plugs, ports: _ports, generate: _generate, ...limits } = this.#settings
    return inputs && { inputs, limits, later: async () => [...(await tasks()).laterKinds] }
  }

  async state(id: string, at: number | undefined): Promise<TaskStateView> {
    const tasks = await this.#dependencies.tasks()
    tasks.catchUp()
    const { now } = tasks.deterministic
    const since = await this.#dependencies.inputs?.since()
    const kept = since && { keptSince: since.at }
    if (at === undefined) {
      const { position } = tasks
      return { at: now, position, ...viewOf(tasks.deterministic.engine.tasks.get(id)), ...kept }
    }
    return this.#replayTo(id, at, ({ position, task }) => ({ at, position, ...viewOf(task), ...kept }))
  }

  async explain(id: string, node: string, at: number): Promise<Explanation> {
    return this.#replayTo(id, at, ({ task }) => {
      if (task === undefined) {
        throw new AppError('WRONG_STATUS', `task ${id} did not run at ${new Date(at).toISOString()}`)
      }
      return task.explain(node)
    })
  }

  async inputs(id: string, query: InputsQuery): Promise<InputsPage> {
    const since = this.#keptSince(await this.#dependencies.inputs?.since())
    const { limit = DEFAULT_LIMIT, after = 0, from = -Infinity, until = Infinity } = query
    const values: InputEntry[] = []
    const start: ReplayEnd =
      after > 0 || from === -Infinity ? { position: Math.max(after, since.position - 1) } : { at: from }
    return this.#replay(id, [start], async (replay) => {
      const fired: FiredEvent[] = []
      const events = replay.engine.events({ tasks: [id], types: ['fired'] }) as Observable<FiredEvent>
      const subscription = events.subscribe((event) => fired.push(event))
      let isLast = true
      const visit = (kept: KeptInput): boolean => {
        const effects = fired.splice(0)
        const entry = kept.position > after ? entryOf(kept, effects) : undefined
        if (entry === undefined || entry.time < from || entry.time > until) return true
        isLast = values.length < limit
        if (isLast) values.push(entry)
        return isLast
      }
      await replay.run({ position: Number.MAX_SAFE_INTEGER }, visit, () => void (fired.length = 0))
      subscription.unsubscribe()
      const next = isLast ? undefined : values.at(-1)?.position
      return { values, ...(next !== undefined && { next }), keptSince: since.at }
    })
  }

  /** Throws `NOT_FOUND` if no inputs are kept for the instant. */
  async #replayTo<T>(id: string, at: number, read: (replay: TaskReplay) => T): Promise<T> {
    const tasks = await this.#dependencies.tasks()
    tasks.catchUp()
    const instant = new Date(at).toISOString()
    if (at > tasks.deterministic.now) {
      const message = `${instant} is in the future`
      throw refuse('the query', [makeIssue('QUERY', '/at', message, 'use an instant in the past')])
    }
    const first = this.#keptSince(await this.#dependencies.inputs?.since())
    if (at < first.at) throw notKept(`inputs of ${instant}`, first)
    const end = { at }
    return this.#replay(id, [end, end], async (replay) => {
      await replay.run(end)
      if (replay.isUnknown) throw notKept(`a checkpoint of task ${id} before ${instant}`, first)
      return read(replay)
    })
  }

  async deleteResource(resource: string): Promise<void> {
    await this.#dependencies.inputs?.deleteResource(resource)
  }

  #keptSince(since: KeptSince | undefined): KeptSince {
    if (since !== undefined) return since
    throw new AppError(
      'NOT_FOUND',
      'This host does not keep inputs, because of --keep-inputs 0; start it with --keep-inputs 7d,4GB',
    )
  }

  async #replay<T>(
    id: string,
    span: readonly [start: ReplayEnd, end?: ReplayEnd],
    work: (replay: TaskReplay) => Promise<T>,
  ): Promise<T> {
    const { inputs } = this.#dependencies
    if (inputs === undefined) throw new AppError('NOT_FOUND', 'Inputs are not kept')
    const tasks = await this.#dependencies.tasks()
    const dependencies: ReplayDependencies = {
      settings: this.#settings,
      inputs,
      later: tasks.laterKinds,
      current: (one) => tasks.deterministic.task(one),
      bound: (one) => tasks.deterministic.engine.tasks.get(one)?.resources,
    }
    const replay = await TaskReplay.from(dependencies, id, ...span)
    try {
      return await work(replay)
    } finally {
      await replay.close()
    }
  }
}

function viewOf(task: LiveTask | undefined): Pick<TaskStateView, 'isRunning' | 'nodes' | 'timers'> {
  if (task === undefined) return { isRunning: false, nodes: [], timers: [] }
  const nodes = [...task.nodes()]
  return { isRunning: task.status === 'running', nodes, timers: timersOf(task.save().state) }
}

function timersOf({ nextTickAt, sensors, executing = [] }: SavedState): TaskTimer[] {
  const timers: TaskTimer[] = []
  const add = (kind: TaskTimer['kind'], at: number | undefined, node?: string): void => {
    if (at !== undefined) timers.push({ kind, ...(node !== undefined && { node }), at })
  }
  add('clock', nextTickAt)
  for (const [node, { evictAt, ownTickAt, follow }] of Object.entries(sensors)) {
    add('clock', ownTickAt, node)
    add('expiry', evictAt, node)
    add('follow', follow?.at, node)
  }
  for (const { node, wakeAt } of executing) add('call', wakeAt, node)
  return timers.sort((a, b) => a.at - b.at)
}

function entryOf({ position, input }: KeptInput, effects: readonly FiredEvent[]): InputEntry | undefined {
  const { k, at: arrival, ...rest } = input
  if (k === 'later' || k === 'trim') return undefined
  const shown = effects.map(({ node, source, effect }) => ({ node, source, effect }))
  const common = { position, kind: INPUT_KINDS[k], arrival, effects: shown }
  if (input.k !== 'data') return { ...common, time: arrival, input: rest }
  const time = Math.min(...messagesOf(input.m).map((message) => readingTime(message, arrival)))
  return { ...common, time, message: input.m }
}

function notKept(what: string, { at }: KeptSince): AppError {
  return new AppError(
    'NOT_FOUND',
    `The host does not have ${what}; inputs are kept since ${new Date(at).toISOString()}`,
  )
}

/** Returns the same array until the plugs change. */
function dryList(plugs: () => readonly Plug[]): () => readonly Plug[] {
  let of: readonly Plug[] | undefined
  let dry: readonly Plug[] = []
  return () => {
    const list = plugs()
    if (of !== list) dry = dryPlugs(list, new Set())
    of = list
    return dry
  }
}
