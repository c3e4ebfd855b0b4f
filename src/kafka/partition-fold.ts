/**
 * Applies the records of one partition, in the order of their offsets, to the tasks of that partition.
 *
 * FOLD-1 states and outputs follow from the records alone: the same records, in any portions and after any restart from
 *   checkpoints, lead to the same states, and each output is produced for exactly one record
 * FOLD-2 outputs of records before `committed` are not produced again
 */
import type { CoreEngine, Message } from '#core'
import { requireMessages } from '#core/spi'
import { AppError, isPlainObject, messageOf } from '#kernel'
import {
  asCalled,
  callKey,
  DeterministicEngine,
  type EngineSettings,
  plain,
  type RunnableTask,
  type TaskStateRecord,
} from '#services/rules/deterministic'
import {
  type ControlInput,
  HEADERS,
  type InputKind,
  type Mark,
  MARK_KEY,
  STATE_FORMAT,
  type StateValue,
  type TaskVersion,
} from './contract.ts'
import type { LogRecord, NewRecord } from './log.ts'
import { effectOf, type SeenCall } from './outside-calls.ts'
import type { OutputTarget } from './output-services.ts'

export interface PartitionOptions {
  readonly partition: number
  readonly engine: EngineSettings
  /** Returns the rule or template with that hash; undefined: unknown. */
  source(hash: string): RunnableTask['source'] | undefined
  /** Returns other partitions with tasks that observe the resource. */
  observers?(resource: string): Iterable<number>
  /** Notes which fold applies an input, since plugs are shared. */
  entered(fold: PartitionEngine): void
}

export interface KnownTask {
  readonly version: TaskVersion
  readonly resources: readonly string[]
  /** why the task could not begin */
  readonly error?: string
}

interface Arrival {
  readonly id: string
  readonly state: StateValue
}

type Answer = Extract<ControlInput, { k: 'answer' }>

/** Thrown by `apply`; the record is not applied, and the same record may be applied again. */
export class UnknownSource extends AppError {
  constructor(task: string, hash: string) {
    const text = `task ${task} needs the rule with hash ${hash}, which the topic of rules does not have; publish it again`
    super('NOT_FOUND', text)
  }
}

export class PartitionEngine implements OutputTarget {
  readonly partition: number
  /** running tasks, and tasks that could not begin */
  readonly tasks = new Map<string, KnownTask>()
  outputs: NewRecord[] = []
  /** offset of the next record */
  position: number
  /** Outputs of earlier records are already produced. */
  committed: number
  records = 0
  readonly #options: PartitionOptions
  readonly #deterministic: DeterministicEngine
  readonly #arrivals: Arrival[]
  readonly #dirtyTasks = new Set<string>()
  readonly #dirtyResources = new Set<string>()
  readonly #gone = new Set<string>()
  /** open outside calls */
  readonly #outside = new Set<{ readonly isOpen: boolean }>()
  /** outside calls that were open in the restored state, whose effects are already produced */
  readonly #withheld = new Set<string>()
  #seen: SeenCall | undefined
  #answers: (Answer & { readonly at: number })[] = []
  #wake: () => void = () => undefined
  #newest: number
  #offset = 0
  #failure: string | undefined

  private constructor(options: PartitionOptions, start: Mark, arrivals: Arrival[], committed: number) {
    this.partition = options.partition
    this.#options = options
    this.#arrivals = arrivals
    this.position = start.offset
    this.committed = committed
    this.#newest = start.newest ?? Number.NEGATIVE_INFINITY
    const hooks = {
      touched: (task: string) => void this.#dirtyTasks.add(task),
      opened: (_kind: string, task: string, execution: Parameters<typeof effectOf>[3]) => this.#opened(task, execution),
      answered: (t: string, e: number, x: number, c: number, reply: Parameters<typeof plain>[0]) => {
        this.#answers.push({ k: 'answer', at: this.now, t, e, x, c, o: plain(reply) })
        this.#wake()
      },
      answeredAhead: () => undefined,
      ended: ({ status, error }: { readonly status: string; readonly error?: string }) => {
        if (status === 'failed') this.#failure = error ?? 'unknown'
      },
    }
    this.#deterministic = new DeterministicEngine({ ...options.engine, wholeStates: true }, hooks, start.time)
  }

  /**
   * Creates the fold from what is stored in a partition of `state`. `UNSUPPORTED_FORMAT` as `SAVED_STATE` if a newer
   * version wrote a state. `fallback`: where an unused partition begins.
   */
  static open(
    options: PartitionOptions,
    states: ReadonlyMap<string, string>,
    { committed, fallback }: { readonly committed: number | undefined; readonly fallback: number },
  ): PartitionEngine {
    const { partition } = options
    const stored = states.get(MARK_KEY)
    const mark = stored === undefined ? undefined : readValue<Mark>(stored, partition, MARK_KEY)
    if (mark === undefined && committed !== undefined)
      throw new AppError(
        'SAVED_STATE',
        `the states of partition ${partition} are missing, though its records are processed up to ${committed}; restore the topic of states, or start with another prefix`,
      )
    const start = mark ?? { format: STATE_FORMAT, offset: fallback, time: 0 }
    const arrivals = [...states]
      .filter(([id]) => id !== MARK_KEY)
      .map(([id, text]) => ({ id, state: readValue<StateValue>(text, partition, id) }))
      .sort((a, b) => a.state.offset - b.state.offset)
    return new PartitionEngine(options, start, arrivals, committed ?? start.offset)
  }

  get now(): number {
    return this.#deterministic.now
  }

  get origin(): string {
    return `${this.partition}/${this.#offset}`
  }

  /** when the next timer is due, epoch ms; undefined: none */
  get nextAt(): number | undefined {
    return this.#deterministic.nextAt
  }

  get engine(): CoreEngine {
    return this.#deterministic.engine
  }

  get isReplaying(): boolean {
    return this.position < this.committed
  }

  /** Whether stored states wait for their offset. */
  get hasArrivals(): boolean {
    return this.#arrivals.length > 0
  }

  get isDirty(): boolean {
    return this.#dirtyTasks.size + this.#dirtyResources.size + this.#gone.size > 0
  }

  /** Applies one record. Returns a promise only when plugs must be awaited. Throws `UnknownSource`. */
  apply(record: LogRecord): Promise<void> | undefined {
    this.#options.entered(this)
    const { offset } = record
    if (this.#arrivals.length > 0 && (this.#arrivals[0] as Arrival).state.offset <= offset)
      return this.#arrive(offset).then(() => this.#apply(record))
    return this.#apply(record)
  }

  /** Restores the states that reflect all records before the position, though no record follows. */
  async caughtUp(): Promise<void> {
    this.#options.entered(this)
    await this.#arrive(this.position)
  }

  emit(record: NewRecord): void {
    if (this.#offset < this.committed) return
    const headers = { ...record.headers, [HEADERS.from]: this.origin }
    this.outputs.push({ ...record, headers })
  }

  /** Takes the ids of tasks whose state has changed since it was last taken. */
  takeDirty(): string[] {
    for (const resource of this.#dirtyResources)
      for (const { id } of this.engine.listenersOf(resource)) this.#dirtyTasks.add(id)
    this.#dirtyResources.clear()
    const ids = [...this.#dirtyTasks]
    this.#dirtyTasks.clear()
    return ids
  }

  takeGone(): string[] {
    const ids = [...this.#gone]
    this.#gone.clear()
    return ids
  }

  /** Returns the record of the state of a task after all records so far; a tombstone when the task is gone. */
  checkpoint(id: string): NewRecord {
    const known = this.tasks.get(id)
    const record = known?.error === undefined ? this.#deterministic.save(id) : undefined
    this.#deterministic.ledger.fresh.clear()
    const value: StateValue | undefined =
      known === undefined || record === undefined
        ? undefined
        : { format: STATE_FORMAT, offset: this.position, time: this.now, task: known.version, record }
    return {
      topic: 'state',
      partition: this.partition,
      key: id,
      value: value === undefined ? null : JSON.stringify(value),
    }
  }

  mark(): Mark {
    const newest = Number.isFinite(this.#newest) ? { newest: this.#newest } : {}
    return { format: STATE_FORMAT, offset: this.position, time: this.now, ...newest }
  }

  /** Returns the state of every task, by id, as text. */
  states(): ReadonlyMap<string, string> {
    return new Map([...this.tasks.keys()].map((id) => [id, JSON.stringify(this.#deterministic.save(id)?.state)]))
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  #apply(record: LogRecord): Promise<void> | undefined {
    const { offset, headers } = record
    this.#offset = offset
    const kind = headers?.[HEADERS.kind] as InputKind | undefined
    const done = kind === undefined || kind === 'relay' ? this.#message(record, kind) : this.#control(record, kind)
    if (done !== undefined)
      return done.then(() => {
        this.#passed(offset)
      })
    if (this.engine.openCalls > 0 && this.#openHere > 0) return this.#settle().then(() => this.#passed(offset))
    this.#passed(offset)
    return undefined
  }

  #passed(offset: number): void {
    this.position = offset + 1
    this.records++
  }

  #message(record: LogRecord, kind: 'relay' | undefined): undefined {
    const { key, value, headers } = record
    let message: Message | readonly Message[]
    try {
      message = readMessage(key, value)
    } catch (error) {
      this.#reject(record, messageOf(error))
      return undefined
    }
    const at = Math.max(this.now, record.time)
    const hops = headers?.[HEADERS.hops]
    const root = headers?.[HEADERS.root]
    const stamp = this.#outOfOrder(message)
    const before = stamp ? this.engine.counts.late : 0
    this.#dirtyResources.add(key as string)
    const causation = hops === undefined ? undefined : { h: Number(hops), ...(root !== undefined && { r: root }) }
    try {
      this.#deterministic.apply({ k: 'data', at, m: message, ...causation }, record.offset)
    } catch (error) {
      this.#reject(record, messageOf(error))
      return
    }
    if (stamp && this.engine.counts.late > before)
      this.emit({ topic: 'late', key: key as string, value, ...(headers && { headers }) })
    if (kind === undefined) this.#relay(record)
    return undefined
  }

  #relay({ key, value, headers }: LogRecord): void {
    if (this.#offset < this.committed) return
    for (const partition of this.#options.observers?.(key as string) ?? []) {
      if (partition === this.partition) continue
      this.emit({ topic: 'in', partition, key: key as string, value, headers: { ...headers, [HEADERS.kind]: 'relay' } })
    }
  }

  /** Whether a message may be late: only one whose time is before that of an earlier one. */
  #outOfOrder(message: Message | readonly Message[]): boolean {
    if (Array.isArray(message)) return true
    const { timestamp } = message as Message
    if (timestamp === undefined) return false
    if (typeof timestamp !== 'number') return true
    if (timestamp < this.#newest) return true
    this.#newest = timestamp
    return false
  }

  async #control(record: LogRecord, kind: InputKind): Promise<void> {
    const at = Math.max(this.now, record.time)
    if (kind === 'tick') this.#deterministic.apply({ k: 'later', at, p: '' }, record.offset)
    else if (kind === 'input') {
      let input: ControlInput
      try {
        input = readControl(record.value)
      } catch (error) {
        this.#reject(record, messageOf(error))
        return
      }
      // a state that follows later already reflects the input
      if (!this.#arrivals.some(({ id }) => id === input.t)) await this.#input(record, input, at)
    } else
      this.#reject(record, `\`${HEADERS.kind}\`: ${JSON.stringify(kind)} is not a valid kind; use tick, relay or input`)
    await this.#settle()
  }

  async #input(record: LogRecord, input: ControlInput, at: number): Promise<void> {
    if (input.k === 'begin' || input.k === 'change') return this.#begin(input, at, record.offset)
    if (input.k === 'forget') {
      await this.#deterministic.apply({ k: 'forget', at, t: input.t }, record.offset)
      this.tasks.delete(input.t)
      this.#dirtyTasks.delete(input.t)
      this.#gone.add(input.t)
      return
    }
    try {
      await this.#deterministic.apply({ ...input, at } as Parameters<DeterministicEngine['apply']>[0], record.offset)
    } catch (error) {
      this.#reject(record, messageOf(error))
    }
  }

  async #begin(input: Extract<ControlInput, { k: 'begin' | 'change' }>, at: number, offset: number): Promise<void> {
    const { t, r, task } = input
    const known = this.tasks.get(t)
    // two owners may have asked for the same
    if (known?.version.epoch === task.epoch && known.version.version === task.version) return
    const runnable = this.#runnable(t, task)
    const goesOn = known?.error === undefined && known?.version.epoch === task.epoch
    this.#failure = undefined
    const { beginning, changing } = this.#deterministic
    if (goesOn) changing.set(t, runnable)
    else beginning.set(t, runnable)
    try {
      if (goesOn) await this.#deterministic.apply({ k: 'change', at, t, e: task.epoch, r, b: runnable }, offset)
      else await this.#deterministic.apply({ k: 'begin', at, t, e: task.epoch, r, d: 0 }, offset)
    } catch (error) {
      this.#failure = messageOf(error)
    } finally {
      beginning.delete(t)
      changing.delete(t)
    }
    this.tasks.set(t, { version: task, resources: r, ...(this.#failure !== undefined && { error: this.#failure }) })
    this.#dirtyTasks.add(t)
  }

  #runnable(id: string, { epoch, createTime, source, settings }: TaskVersion): RunnableTask {
    const found = this.#options.source(source)
    if (found === undefined) throw new UnknownSource(id, source)
    return { id, epoch, createTime, source: found, settings }
  }

  async #arrive(offset: number): Promise<void> {
    for (let next = this.#arrivals[0]; next !== undefined && next.state.offset <= offset; next = this.#arrivals[0]) {
      const { id, state } = next
      const task = this.#runnable(id, state.task)
      const record = state.record as TaskStateRecord
      this.#deterministic.advanceTo(state.time)
      const calls = new Set<string>()
      const called = { ...record, state: asCalled(task, record.state, calls) }
      for (const key of calls) this.#withheld.add(key)
      try {
        await this.#deterministic.restore({ task, record: called })
        this.tasks.set(id, { version: state.task, resources: record.resources })
      } catch (error) {
        this.tasks.set(id, { version: state.task, resources: record.resources, error: messageOf(error) })
      }
      this.#arrivals.shift()
    }
  }

  #opened(task: string, execution: Parameters<typeof effectOf>[3]): void {
    const seen = this.#seen
    this.#seen = undefined
    if (seen === undefined) return
    this.#outside.add(execution)
    const epoch = this.#deterministic.epochOf(task)
    if (this.#withheld.delete(callKey(task, epoch, execution.id, execution.calls))) return
    const { partition, origin } = this
    const own = seen.hops > 0 ? seen : { ...seen, root: origin }
    const effect = { ...effectOf(own, task, epoch, execution), partition }
    this.emit({ topic: 'effects', key: effect.effect, value: JSON.stringify(effect) })
  }

  /** Notes a call of an outside plug; the engine reports its execution next. */
  called(call: SeenCall): void {
    this.#seen = call
  }

  /** number of open calls that end within the slice */
  get #openHere(): number {
    for (const execution of this.#outside) if (!execution.isOpen) this.#outside.delete(execution)
    return this.engine.openCalls - this.#outside.size
  }

  async #settle(): Promise<void> {
    while (this.#openHere > 0) {
      if (this.#answers.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
      const answers = this.#answers
      this.#answers = []
      for (const answer of answers) this.#deterministic.apply({ ...answer }, this.#offset)
    }
  }

  #reject({ key, value, headers, offset }: LogRecord, reason: string): void {
    if (offset < this.committed) return
    this.emit({ topic: 'dead', key: key ?? '', value, headers: { ...headers, [HEADERS.reason]: reason } })
  }
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- because the caller states what the topic contains
function readValue<T extends { readonly format: number }>(text: string, partition: number, key: string): T {
  const value = JSON.parse(text) as T
  if (value.format === STATE_FORMAT) return value
  throw new AppError(
    'SAVED_STATE',
    `${key} in partition ${partition} of the states has format ${value.format}, and this version reads ${STATE_FORMAT}; update this worker`,
  )
}

function readMessage(key: string | undefined, value: string | null): Message | readonly Message[] {
  if (key === undefined || key === '') throw new Error('the key is missing; use the id of the resource as key')
  if (value === null) throw new Error('the value is missing; write a JSON object such as {"temperature": 21.5}')
  let parsed: unknown
  try {
    parsed = JSON.parse(value)
  } catch (error) {
    throw new Error(`the value is not JSON: ${messageOf(error)}`, { cause: error })
  }
  if (!Array.isArray(parsed)) return readOne(key, parsed)
  if (parsed.length === 0) throw new Error('the array is empty; write at least one message')
  const messages = parsed.map((one) => readOne(key, one))
  requireMessages(messages, undefined)
  return messages
}

function readOne(key: string, value: unknown): Message {
  if (!isPlainObject(value)) throw new Error('the value is not an object; write a form such as {"temperature": 21.5}')
  const message = value
  if (message['resource'] === undefined) message['resource'] = key
  else if (message['resource'] !== key)
    throw new Error(
      `\`resource\`: ${JSON.stringify(message['resource'])} differs from the key "${key}"; use the resource as key`,
    )
  return message as Message
}

const CONTROLS = new Set(['begin', 'change', 'forget', 'answer', 'push', 'command', 'resync'])

function readControl(value: string | null): ControlInput {
  const input: unknown = JSON.parse(value ?? 'null')
  if (!isPlainObject(input) || !CONTROLS.has(String(input['k'])) || typeof input['t'] !== 'string')
    throw new Error(`the input is not valid; \`k\` is one of ${[...CONTROLS].join(', ')}, \`t\` the id of a task`)
  return input as unknown as ControlInput
}
