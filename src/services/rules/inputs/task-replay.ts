/** Replays the kept inputs of one task on a copy; nothing outside is called, and outcomes come from the log. */
import type { Ports } from '#core'
import type { Execution, LiveTask, SavedState } from '#core/spi'
import { Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { DeterministicEngine, type EngineSettings } from '../durable/deterministic-engine.ts'
import type { Input } from '../durable/input.ts'
import { isLater } from '../durable/later-calls.ts'
import { asCalled, callKey } from '../durable/recovery.ts'
import type { RunnableTask } from '../runner.ts'
import type { InputCheckpoint, InputRange, KeptInput, KeptInputs } from './contract.ts'

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
}

/** Where a replay ends: before the first input beyond this point. */
export type ReplayEnd = { readonly at: number } | { readonly position: number }

type RunInput = Extract<Input, { k: 'begin' | 'change' }>

export class TaskReplay {
  readonly #dependencies: ReplayDependencies
  readonly #id: string
  readonly #engine: DeterministicEngine
  readonly #checkpoint: InputCheckpoint | undefined
  /** inputs of this task only, from the checkpoint to the end of the log */
  readonly #own: readonly KeptInput[]
  readonly #withheld = new Set<string>()
  #isBegun = false
  #isWithoutRule = false
  #isOver = false
  position: number

  private constructor(
    dependencies: ReplayDependencies,
    id: string,
    checkpoint: InputCheckpoint | undefined,
    own: readonly KeptInput[],
  ) {
    this.#dependencies = dependencies
    this.#id = id
    this.#checkpoint = checkpoint
    this.#own = own
    this.position = checkpoint?.position ?? 0
    const answers = new Set(
      own.flatMap(({ input }) => (input.k === 'answer' ? [callKey(id, input.e, input.x, input.c)] : [])),
    )
    const later = new Set(dependencies.later)
    this.#engine = new DeterministicEngine(
      dependencies.settings,
      {
        touched: nothing,
        mayCall: (task, epoch, execution) => {
          const key = callKey(task, epoch, execution.id, execution.calls)
          return !answers.has(key) && !this.#withheld.has(key) && !isLater(execution, later)
        },
        opened: (kind) => void later.add(kind),
        answered: nothing,
        answeredAhead: nothing,
        ended: nothing,
      },
      checkpoint?.at ?? 0,
    )
  }

  /** At its last checkpoint before `end`. Throws `NOT_FOUND` if later inputs are not kept. */
  static async from(dependencies: ReplayDependencies, id: string, end: ReplayEnd): Promise<TaskReplay> {
    const { inputs } = dependencies
    const since = await inputs.since()
    const checkpoint = await inputs.checkpoint(id, end)
    const isGone = checkpoint !== undefined && since !== undefined && checkpoint.position < since.position - 1
    const usable = isGone ? undefined : checkpoint
    const own: KeptInput[] = []
    const range = { after: usable?.position ?? 0, resources: [], tasks: [id] }
    for await (const batch of inputs.read(range)) own.push(...batch)
    const replay = new TaskReplay(dependencies, id, usable, own)
    await replay.#restore()
    return replay
  }

  /** Whether the task may have run with a rule, or from a state, that is not kept. */
  get isUnknown(): boolean {
    if (this.#checkpoint !== undefined || this.#isBegun) return this.#isWithoutRule
    const first = this.#own.find(({ input }) => 't' in input)?.input
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
    const range: InputRange = {
      after: this.position,
      ...('position' in end && { upTo: end.position }),
      resources: this.resources(end),
      tasks: [this.#id],
    }
    const yielder = new Yielder(machineTimers)
    for await (const batch of this.#dependencies.inputs.read(range)) {
      for (const kept of batch) {
        if (isBeyond(kept, end)) return this.#advance(end)
        const { input } = kept
        if (input.k !== 'jump' && input.k !== 'still' && input.k !== 'open') this.advanceTo(input.at)
        reached()
        await this.apply(kept)
        if (!visit(kept)) return
        await yielder.due()
      }
    }
    this.#advance(end)
  }

  async close(): Promise<void> {
    await this.#engine.engine.close()
  }

  #advance(end: ReplayEnd): void {
    if ('at' in end) this.advanceTo(end.at)
  }

  async #restore(): Promise<void> {
    const checkpoint = this.#checkpoint
    if (checkpoint === undefined) return
    const { task, record } = checkpoint
    const state: SavedState = asCalled(task, record.state, this.#withheld)
    await this.#engine.restore({ task, record: { ...record, state } })
  }

  async apply({ position, input }: KeptInput): Promise<void> {
    if (isRun(input)) {
      const rule = await this.#ruleAt(position, input)
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

  /** Returns every resource that the task is bound to until `end`. */
  resources(end: ReplayEnd): readonly string[] {
    const all = new Set(this.#checkpoint?.record.resources)
    for (const kept of this.#own) {
      if (isBeyond(kept, end)) break
      if (isRun(kept.input)) for (const resource of kept.input.r) all.add(resource)
    }
    return [...all]
  }

  /** Uses the previous rule in each `change` entry; undefined for a run that ended before its first checkpoint. */
  async #ruleAt(position: number, { e: epoch }: RunInput): Promise<RunnableTask | undefined> {
    const { current, inputs } = this.#dependencies
    const later = this.#own.filter((kept) => kept.position > position && isRun(kept.input))
    const change = later.find(({ input }) => input.k === 'change' && input.e === epoch)?.input
    const next = later.find(({ input }) => isRun(input) && input.e !== epoch)
    const now = current(this.#id)
    const before = { position: next === undefined ? Number.MAX_SAFE_INTEGER : next.position - 1 }
    const known = now?.epoch === epoch ? now : (await inputs.checkpoint(this.#id, before))?.task
    const base = known ?? now
    if (change?.k === 'change' && base !== undefined) return { ...base, epoch, ...change.b }
    return known?.epoch === epoch ? known : undefined
  }
}

export function openCallOf(task: LiveTask | undefined, label: string): Execution | undefined {
  for (const execution of task?.lane?.state.open ?? []) {
    const { node, phase } = execution
    if (node.label === label && (phase === 'called' || phase === 'rendering')) return execution
  }
  return undefined
}

function isRun(input: Input): input is RunInput {
  return input.k === 'begin' || input.k === 'change'
}

function isBeyond({ position, input }: KeptInput, end: ReplayEnd): boolean {
  return 'at' in end ? input.at > end.at : position > end.position
}

function nothing(): void {
  // a replay must not affect live tasks, so these hooks do nothing
}
