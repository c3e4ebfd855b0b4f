/** Replays the kept inputs of one task on a copy; nothing outside is called, and outcomes come from the log. */
import { createRegistry, type PlugRegistry, type Ports } from '#core'
import { type Execution, type LiveTask, Preparer, type SavedState } from '#core/spi'
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { DeterministicEngine, type EngineHooks, type EngineSettings } from '../durable/deterministic-engine.ts'
import type { Input } from '../durable/input.ts'
import { isLater, isLaterPlug } from '../durable/later-calls.ts'
import { asCalled, callKey } from '../durable/recovery.ts'
import type { RunnableTask } from '../runner.ts'
import type { InputCheckpoint, InputRange, KeptInput, KeptInputs } from './contract.ts'
import { fitsRows, isRun, type RulesOfRuns, rulesOfRuns } from './replay-rules.ts'

const never = new Promise<never>(() => undefined)
/** Never respond: a replay takes responses from the log. */
export const SILENT: Ports = { latestValue: () => never, metadata: () => never, secret: () => never }

export interface ReplayDependencies {
  /** settings with plugs that do not act, and ports that do not respond */
  readonly settings: EngineSettings
  readonly inputs: KeptInputs
  /** kinds of calls that are asynchronous */
  readonly later: ReadonlySet<string>
  current(id: string): RunnableTask | undefined
  /** Returns the resources of a live task. */
  bound?(id: string): readonly string[] | undefined
}

/** Where a replay ends: before the first input beyond this point. */
export type ReplayEnd = { readonly at: number } | { readonly position: number }

/** What is known of a task before it is replayed. */
interface PastOfTask {
  readonly checkpoint: InputCheckpoint | undefined
  /** inputs of this task only, from the checkpoint to the end of the log */
  readonly own: readonly KeptInput[]
  readonly rules: RulesOfRuns
  /** undefined: inputs are read again */
  readonly held: HeldInputs | undefined
}

/** Inputs in memory, from the checkpoint until the end of the replay. */
class HeldInputs {
  readonly list: KeptInput[] = []
  readonly #resources: ReadonlySet<string>

  constructor(resources: readonly string[]) {
    this.#resources = new Set(resources)
  }

  /** Returns undefined if there are too many. */
  with(kept: KeptInput): HeldInputs | undefined {
    return this.list.push(kept) > MAX_HELD ? undefined : this
  }

  covers(resources: readonly string[]): boolean {
    return resources.every((one) => this.#resources.has(one))
  }
}

const MAX_HELD = 50_000

export class TaskReplay {
  readonly #dependencies: ReplayDependencies
  readonly #id: string
  readonly #engine: DeterministicEngine
  readonly #past: PastOfTask
  readonly #withheld = new Set<string>()
  #isBegun = false
  #isWithoutRule = false
  #isOver = false
  position: number

  private constructor(dependencies: ReplayDependencies, id: string, past: PastOfTask) {
    this.#dependencies = dependencies
    this.#id = id
    this.#past = past
    const { checkpoint, own } = past
    this.position = checkpoint?.position ?? 0
    const answers = new Set(
      own.flatMap(({ input }) => (input.k === 'answer' ? [callKey(id, input.e, input.x, input.c)] : [])),
    )
    const later = new Set(dependencies.later)
    const inRows = preparerForRows(dependencies, past)
    const mayCall: EngineHooks['mayCall'] = (task, epoch, execution) => {
      const key = callKey(task, epoch, execution.id, execution.calls)
      return !answers.has(key) && !this.#withheld.has(key) && !isLater(execution, later)
    }
    this.#engine = new DeterministicEngine(
      { ...dependencies.settings, ...(inRows && { plugs: inRows.plugs, preparer: inRows }) },
      {
        touched: nothing,
        // rows cannot ask: there, calls whose outcomes are in the log do not return
        ...(inRows === undefined && { mayCall }),
        opened: (kind) => void later.add(kind),
        answered: nothing,
        answeredAhead: nothing,
        ended: nothing,
      },
      checkpoint?.at ?? 0,
    )
  }

  /**
   * At its last checkpoint before `start`. `end`: the only point to which it will be run, so that inputs are read once.
   * Throws `NOT_FOUND` if later inputs are not kept.
   */
  static async from(
    dependencies: ReplayDependencies,
    id: string,
    start: ReplayEnd,
    end?: ReplayEnd,
  ): Promise<TaskReplay> {
    const { inputs, current, bound } = dependencies
    const since = await inputs.since()
    const found = await inputs.checkpoint(id, start)
    const isGone = found !== undefined && since !== undefined && found.position < since.position - 1
    const checkpoint = isGone ? undefined : found
    const resources = checkpoint?.record.resources ?? bound?.(id) ?? []
    let after = checkpoint?.position ?? 0
    const own: KeptInput[] = []
    let held = end && new HeldInputs(resources)
    if (end !== undefined) {
      const range = { after, ...('position' in end && { upTo: end.position }), resources, tasks: [id] }
      read: for await (const batch of inputs.read(range)) {
        for (const kept of batch) {
          if (isBeyond(kept, end)) break read
          if (kept.input.k !== 'data') own.push(kept)
          held = held?.with(kept)
          after = kept.position
        }
      }
    }
    for await (const batch of inputs.read({ after, resources: [], tasks: [id] })) own.push(...batch)
    const rules = await rulesOfRuns(own, current(id), (position) => inputs.checkpoint(id, { position }))
    const replay = new TaskReplay(dependencies, id, { checkpoint, own, rules, held })
    await replay.#restore()
    return replay
  }

  /** Whether the task may have run with a rule, or from a state, that is not kept. */
  get isUnknown(): boolean {
    if (this.#past.checkpoint !== undefined || this.#isBegun) return this.#isWithoutRule
    const first = this.#past.own.find(({ input }) => 't' in input)?.input
    return first === undefined ? this.#dependencies.current(this.#id) !== undefined : first.k !== 'begin' || first.e > 1
  }

  get task(): LiveTask | undefined {
    return this.#engine.engine.tasks.get(this.#id)
  }

  get engine(): DeterministicEngine['engine'] {
    return this.#engine.engine
  }

  /** The rule that the task has at this point of the replay. */
  get running(): RunnableTask | undefined {
    return this.#engine.task(this.#id)
  }

  get nextAt(): number | undefined {
    return this.#engine.nextAt
  }

  advanceTo(time: number): void {
    this.#engine.advanceTo(Math.max(this.#engine.now, time))
  }

  /** Whether a call of the node is open, whose outcome may come from the log. */
  awaits(label: string): boolean {
    return openCallOf(this.task, label) !== undefined
  }

  /** Returns the node whose call an answer ends. */
  answeredNode({ e, x, c }: Extract<Input, { k: 'answer' }>): string | undefined {
    const execution = this.#engine.epochOf(this.#id) === e ? this.task?.execution(x) : undefined
    return execution?.calls === c ? execution.node.label : undefined
  }

  /**
   * Applies inputs up to `end`, or until `visit` returns false for one. `reached`: called before each input, when the
   * timers that are due by then have acted.
   */
  async run(
    end: ReplayEnd,
    visit: (kept: KeptInput) => boolean = () => true,
    reached: () => void = nothing,
  ): Promise<void> {
    const yielder = new Yielder(machineTimers)
    for await (const batch of this.#inputs(end)) {
      for (const kept of batch) {
        if (isBeyond(kept, end)) return this.#advance(end)
        const { input } = kept
        if (input.k !== 'jump' && input.k !== 'still' && input.k !== 'open') this.advanceTo(input.at)
        reached()
        if (input.k === 'data') this.#take(kept)
        else await this.apply(kept)
        if (!visit(kept)) return
        if (yielder.isOver) await yielder.next()
      }
    }
    this.#advance(end)
  }

  async close(): Promise<void> {
    await this.#engine.engine.close()
  }

  #inputs(end: ReplayEnd): AsyncIterable<readonly KeptInput[]> | readonly (readonly KeptInput[])[] {
    const resources = this.resources(end)
    const { held } = this.#past
    if (held?.covers(resources) === true) return [held.list]
    const range: InputRange = { after: this.position, resources, tasks: [this.#id] }
    return this.#dependencies.inputs.read({ ...range, ...('position' in end && { upTo: end.position }) })
  }

  #advance(end: ReplayEnd): void {
    if ('at' in end) this.advanceTo(end.at)
  }

  async #restore(): Promise<void> {
    const checkpoint = this.#past.checkpoint
    if (checkpoint === undefined) return
    const { task, record } = checkpoint
    const state: SavedState = asCalled(task, record.state, this.#withheld)
    await this.#engine.restore({ task, record: { ...record, state } })
  }

  async apply({ position, input }: KeptInput): Promise<void> {
    if (isRun(input)) {
      const rule = this.#past.rules.get(position)
      this.#isBegun ||= input.k === 'begin'
      this.#isWithoutRule = rule === undefined
      const { beginning, changing } = this.#engine
      if (rule !== undefined) (input.k === 'begin' ? beginning : changing).set(this.#id, rule)
    }
    if (isRun(input) || input.k === 'end') this.#isOver = input.k === 'end'
    // an ended task is shown until the runner opens again
    if (input.k === 'forget' || (input.k === 'open' && this.#isOver)) this.#isWithoutRule = false
    try {
      await this.#engine.apply(input, position)
    } catch {
      // the sender received the error at that time
    }
    this.position = position
  }

  /** Messages have nothing to wait for. */
  #take({ position, input }: KeptInput): void {
    this.#engine.apply(input, position)
    this.position = position
  }

  /** Returns every resource that the task is bound to until `end`. */
  resources(end: ReplayEnd): readonly string[] {
    const all = new Set(this.#past.checkpoint?.record.resources)
    for (const kept of this.#past.own) {
      if (isBeyond(kept, end)) break
      if (isRun(kept.input)) for (const resource of kept.input.r) all.add(resource)
    }
    return [...all]
  }
}

/** Returns undefined if a rule of the task does not fit into rows. */
function preparerForRows(
  { settings, later }: ReplayDependencies,
  { checkpoint, rules }: PastOfTask,
): Preparer | undefined {
  if (settings.generate === undefined) return undefined
  const preparer = new Preparer(withoutOutcomes(settings.plugs, later), settings)
  try {
    for (const rule of [checkpoint?.task, ...rules.values()]) {
      if (rule !== undefined && !fitsRows(preparer.prepare(rule.source, rule.settings), later)) return undefined
    }
  } catch {
    // reported when the task begins
    return undefined
  }
  return preparer
}

function withoutOutcomes(plugs: PlugRegistry, later: ReadonlySet<string>): PlugRegistry {
  return createRegistry(
    plugs.list().map((plug) => (isLaterPlug(plug, later) ? { ...plug, steps: undefined, execute: () => never } : plug)),
  )
}

export function openCallOf(task: LiveTask | undefined, label: string): Execution | undefined {
  for (const execution of task?.lane?.state.open ?? []) {
    const { node, phase } = execution
    if (node.label === label && (phase === 'called' || phase === 'rendering')) return execution
  }
  return undefined
}

function isBeyond({ position, input }: KeptInput, end: ReplayEnd): boolean {
  return 'at' in end ? input.at > end.at : position > end.position
}

function nothing(): void {
  // a replay must not affect live tasks, so these hooks do nothing
}
