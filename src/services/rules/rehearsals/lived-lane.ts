/**
 * Runs a rule over kept inputs as a live task received them: each at its arrival, with the verdicts and downtimes of
 * that time.
 */
import type { Generate, Lane, LiveTask, Preparer } from '#core/spi'
import type { Ports } from '#core'
import { AppError, messageOf, sameJson } from '#kernel'
import { DeterministicEngine, type EngineLimits } from '../durable/deterministic-engine.ts'
import { type Input, plain } from '../durable/input.ts'
import type { InputCheckpoint, KeptInput } from '../inputs/contract.ts'
import { openCallOf, type TaskReplay } from '../inputs/task-replay.ts'
import type { RunnableTask } from '../runner.ts'

/** Where a lane begins: with every state unknown at `from`, or as the live task was. */
export type LaneStart =
  | { readonly from: number }
  | { readonly checkpoint: InputCheckpoint }
  /** the live task begins in the inputs */
  | { readonly begins: KeptInput }

export interface LaneOptions {
  readonly preparer: Preparer
  readonly limits: EngineLimits
  readonly ports: Ports
  readonly start: LaneStart
  /** undefined: the rule that the live task had at each time, according to `live` */
  readonly rule: RunnableTask | undefined
  readonly id: string
  /** in the order of the graph of the rule */
  readonly resources: readonly string[]
  /** a copy of the live task, which received each input before: its calls have outcomes that the log has */
  readonly live: TaskReplay | undefined
  readonly why: boolean
  readonly generate?: Generate | undefined
  readonly batches?: Lane['batches']
  readonly patience: (giveUp: () => void) => () => void
}

type Answer = Extract<Input, { k: 'answer' | 'ahead' }>

export class LivedLane {
  readonly #options: LaneOptions
  readonly #engine: DeterministicEngine
  readonly #answers: Answer[] = []
  /** calls whose outcome comes from the live task, as `execution/call` */
  readonly #withheld = new Set<string>()
  #wake: () => void = () => undefined
  #failure: string | undefined

  private constructor(options: LaneOptions) {
    this.#options = options
    const { preparer, limits, ports, start, live, why, batches, generate } = options
    const settings = { ...limits, ports, why, plugs: preparer.plugs, preparer, ...(generate && { generate }) }
    const at = 'from' in start ? start.from : 'checkpoint' in start ? start.checkpoint.at : start.begins.input.at
    this.#engine = new DeterministicEngine(
      settings,
      {
        touched: nothing,
        ...(live && {
          mayCall: (_task, _epoch, { id, calls, node }) => {
            const isMade = node.kind === 'actuator' || !live.awaits(node.label)
            if (!isMade) this.#withheld.add(`${id}/${calls}`)
            return isMade
          },
        }),
        opened: nothing,
        answered: (t, e, x, c, reply) => this.#answered({ k: 'answer', at: 0, t, e, x, c, o: plain(reply) }),
        answeredAhead: (t, e, i, n, reply) => this.#answered({ k: 'ahead', at: 0, t, e, i, n, o: plain(reply) }),
        ended: ({ status, error }) => {
          if (status === 'failed') this.#failure = error
        },
      },
      at,
    )
    const { engine } = this.#engine
    if (batches) engine.eventBatches(batches.filter, batches.countsKind).subscribe((batch) => batches.next(batch))
  }

  /** Throws `VALIDATION` if the rule cannot begin. */
  static async begin(options: LaneOptions): Promise<LivedLane> {
    const lane = new LivedLane(options)
    const { start, rule, id, resources } = options
    if ('from' in start && rule !== undefined) {
      await lane.#run('begin', { k: 'begin', at: start.from, t: id, e: rule.epoch, r: resources, d: 0 }, rule)
    } else if ('checkpoint' in start) await lane.#restore(start.checkpoint)
    await lane.#settled()
    return lane
  }

  get now(): number {
    return this.#engine.now
  }

  get nextAt(): number | undefined {
    return this.#engine.nextAt
  }

  get task(): LiveTask | undefined {
    return this.#engine.engine.tasks.get(this.#options.id)
  }

  get maxLag(): number {
    return this.#engine.engine.takeMaxLag()
  }

  /** Returns a promise only if it must wait, as `take` does. */
  advanceTo(time: number): Promise<void> | undefined {
    this.#engine.advanceTo(Math.max(time, this.now))
    return this.#isWaiting ? this.#settled() : undefined
  }

  /** `answered`: node whose live call an answer ends. */
  take(kept: KeptInput, answered?: string): Promise<void> | undefined {
    const { position, input } = kept
    const { id } = this.#options
    if (input.k === 'data') {
      if (this.#engine.waiting.has(id) && 'from' in this.#options.start) return this.#resumed(input.at, kept)
      this.#engine.apply(input, position)
    } else if ('t' in input) {
      if (input.t === id) return this.#takeOwn(position, input, answered)
    } else if (input.k === 'open') return this.#changed(input)
    else if (input.k === 'resume') {
      // a rule that begins here is not among the tasks of that time
      const isMine = 'from' in this.#options.start || input.ts.includes(id)
      if (isMine && this.#engine.waiting.has(id)) return this.#resumed(input.at)
    } else this.#engine.apply(input, position)
    return this.#isWaiting ? this.#settled() : undefined
  }

  async close(): Promise<void> {
    await this.#engine.engine.close()
  }

  async #takeOwn(position: number, input: Extract<Input, { t: string }>, answered?: string): Promise<void> {
    const { live, start, rule } = this.#options
    const isOfRun = input.k === 'begin' || input.k === 'change' || input.k === 'end' || input.k === 'forget'
    if (isOfRun && 'from' in start) return
    if (input.k === 'begin') {
      const next = rule === undefined ? live?.running : { ...rule, epoch: input.e }
      if (next !== undefined) await this.#run('begin', { ...input, r: rule ? this.#options.resources : input.r }, next)
    } else if (input.k === 'change') {
      if (rule === undefined && live?.running !== undefined) await this.#run('change', input, live.running)
    } else if (input.k === 'answer' || input.k === 'ahead') this.#answer(input, answered)
    else if (isOfRun || this.task !== undefined) {
      try {
        await this.#engine.apply(input, position)
      } catch {
        // the sender received the error at that time, or the node exists only in the live rule
      }
    }
    await this.#settled()
  }

  /** Ends the call of a node here with the outcome that the call of the same node had live. */
  #answer(input: Answer, node: string | undefined): void {
    const e = this.#engine.epochOf(this.#options.id)
    if (input.k === 'ahead') return void this.#engine.apply({ ...input, e }, 0)
    const call = node === undefined ? undefined : openCallOf(this.task, node)
    if (call === undefined || !this.#withheld.has(`${call.id}/${call.calls}`)) return
    this.#engine.apply({ ...input, e, x: call.id, c: call.calls }, 0)
  }

  async #restore({ task, record }: InputCheckpoint): Promise<void> {
    const { rule, id, resources } = this.#options
    try {
      await this.#engine.restore({ task, record })
    } catch (error) {
      const text = `the stored state of task ${id} does not match the plugs of this host: ${messageOf(error)}`
      throw new AppError('VALIDATION', `${text}; set "initialState": "cold"`)
    }
    if (rule === undefined) return
    if (sameJson([task.source, task.settings], [rule.source, rule.settings])) return
    await this.#run(
      'change',
      {
        k: 'change',
        at: this.now,
        t: id,
        e: task.epoch,
        r: resources,
        b: { source: task.source, settings: task.settings },
      },
      { ...rule, epoch: task.epoch },
    )
  }

  async #run(
    kind: 'begin' | 'change',
    input: Extract<Input, { k: 'begin' | 'change' }>,
    task: RunnableTask,
  ): Promise<void> {
    const { beginning, changing } = this.#engine
    ;(kind === 'begin' ? beginning : changing).set(task.id, task)
    await this.#changed(input)
  }

  async #changed(input: Input): Promise<void> {
    await this.#engine.apply(input, 0)
    if (this.#failure !== undefined) throw new AppError('VALIDATION', this.#failure)
    await this.#settled()
  }

  async #resumed(at: number, kept?: KeptInput): Promise<void> {
    await this.#changed({ k: 'resume', at, ts: [this.#options.id] })
    if (kept !== undefined) await this.take(kept)
  }

  #answered(answer: Answer): void {
    this.#answers.push(answer)
    this.#wake()
  }

  get #isWaiting(): boolean {
    const { openCalls } = this.#engine.engine
    if (openCalls === 0 || this.#withheld.size === 0) return openCalls > 0
    let withheld = 0
    for (const { id, calls } of this.task?.lane?.state.open ?? []) if (this.#withheld.has(`${id}/${calls}`)) withheld++
    return openCalls > withheld
  }

  /** Waits for calls that were made here; time stands still meanwhile. */
  async #settled(): Promise<void> {
    while (this.#isWaiting) {
      const answer = this.#answers.shift()
      if (answer !== undefined) this.#engine.apply({ ...answer, at: this.now }, 0)
      else if (!(await this.#nextAnswer())) return this.#engine.engine.giveUp()
    }
  }

  /** Resolves to false when patience ends first. */
  async #nextAnswer(): Promise<boolean> {
    let cancel: () => void = nothing
    const isHere = await new Promise<boolean>((resolve) => {
      this.#wake = () => resolve(true)
      cancel = this.#options.patience(() => resolve(false))
    })
    cancel()
    return isHere
  }
}

function nothing(): void {
  // a rehearsal does not affect anything outside
}
