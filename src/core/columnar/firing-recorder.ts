/** Records firings and holds of rows for subscribers to batches (firing-records.ts). */
import { HELD } from '../engine/event-filter.ts'
import type { ExecutorHost } from '../engine/executor.ts'
import type { Message } from '../task/origin.ts'
import type { TaskModel } from '../task/run.ts'
import type { FiringMessage, FiringTask } from './firing-events.ts'
import type { Graph } from '../graph/graph.ts'
import type { RowHandle } from './row-handle.ts'
import { RowTexts } from './row-texts.ts'
import { FiringRecord, type FiringPart } from './firing-records.ts'
import type { EpochSource, FiringRecords, RecordEpoch } from './row-code.ts'
import { COUNT, TIME } from './row-layout.ts'
import type { Fires, Following } from './followings.ts'
import type { RowStore } from './row-store.ts'
import { FiringEpoch } from './vector-firings.ts'

export class FiringRecorder implements FiringRecords {
  readonly #rows: RowStore
  readonly #model: TaskModel
  readonly #host: ExecutorHost
  /** by row; undefined until the row fires */
  #tasks: (FiringTask | undefined)[] = []
  readonly #texts = new WeakMap<Graph, RowTexts>()
  #hasWhy = false
  #recordsHeld = false
  #firedRow = -1
  #firedNumber = -1
  #firedPosition = -1
  #firedPlace = 0

  /** `model`: of any task of the shape. */
  constructor(rows: RowStore, model: TaskModel, host: ExecutorHost) {
    this.#rows = rows
    this.#model = model
    this.#host = host
    this.listenersChanged()
  }

  listenersChanged(): void {
    const { why, events } = this.#host
    this.#hasWhy = why && events.needsWhy
    this.#recordsHeld = (events.recordedFirings & HELD) !== 0
  }

  /** Forgets the task of a row, which changed or left the row. */
  forget(row: number): void {
    this.#tasks[row] = undefined
    if (row === this.#firedRow) this.#firedRow = -1
  }

  firing(row: number, message: Message, list: readonly Following[], one: Following, until: number): void {
    const rows = this.#rows
    const time = rows.nums[rows.at(row) + TIME] as number
    const isHeld = time < until
    if (isHeld && !this.#recordsHeld) return
    const of = this.#taskOf(row)
    const at = this.#rows.clockOf(row, time)
    const place = isHeld || list.length === 1 ? 0 : this.#placeOf(row, one.position)
    const own = list.length === 1 ? list : [one]
    const part = isHeld || at !== time || place > 0 ? { at, place, until: isHeld ? until : undefined } : undefined
    this.#record(row, of, message, own, part, rows.after(row))
  }

  #placeOf(row: number, position: number): number {
    const number = this.#rows.count(row)
    const isNext = row === this.#firedRow && number === this.#firedNumber && position === this.#firedPosition
    this.#firedRow = row
    this.#firedNumber = number
    this.#firedPosition = position
    return (this.#firedPlace = isNext ? this.#firedPlace + 1 : 0)
  }

  /** Records the sensors fired by other sensors, up to a position. `bits`: their states. */
  inner(row: number, message: Message, position: number, bits: number): void {
    const { inner, innerBefore } = this.#taskOf(row).texts
    const to = innerBefore[position] as number
    if (to > 0) this.#recordInner(row, message, inner.slice(0, to), bits)
  }

  allInner(row: number, message: Message, bits: number): void {
    this.#recordInner(row, message, this.#taskOf(row).texts.inner, bits)
  }

  #recordInner(row: number, message: Message, list: readonly Fires[], bits: number): void {
    const time = this.#rows.time(row)
    const at = this.#rows.clockOf(row, time)
    const part = at === time ? undefined : { at, place: 0, until: undefined }
    this.#record(row, this.#taskOf(row), message, list, part, bits)
  }

  beginEpoch(from: EpochSource): RecordEpoch {
    const tasks = from.rows.map((row) => this.#taskOf(row))
    return new FiringEpoch(from, this.#rows, tasks, this.#model, this.#host)
  }

  /** `after`: the state bits known after the message. */
  #record(
    row: number,
    of: FiringTask,
    message: Message,
    list: readonly Fires[],
    part: FiringPart | undefined,
    after: number,
  ): void {
    const rows = this.#rows
    const { nums } = rows
    const d = rows.at(row)
    const number = nums[d + COUNT] as number
    const time = nums[d + TIME] as number
    let explained: FiringMessage | undefined
    if (this.#hasWhy) {
      const first = d + rows.layout.since
      const since: number[] = []
      for (let n = 0; n < rows.layout.nodes; n++) since.push(nums[first + n] as number)
      explained = { number, time, message, before: rows.before(row), after, since }
    }
    this.#host.events.recordFirings(new FiringRecord(of, number, time, list, part, explained))
  }

  #taskOf(row: number): FiringTask {
    return (this.#tasks[row] ??= this.#newTask(row))
  }

  #newTask(row: number): FiringTask {
    const { task, materializedCount } = this.#rows.handle(row) as RowHandle // a firing row has a handle
    const { id, graph } = task.model
    const { run, inputs, invocations } = task.state
    let texts = this.#texts.get(graph)
    if (texts === undefined) this.#texts.set(graph, (texts = new RowTexts(this.#rows, task.model)))
    return {
      task: id,
      texts,
      effects: `${id}/${run}/`,
      inputs: inputs - materializedCount * (1 + this.#rows.shape.sensors.length),
      invocations: invocations - materializedCount,
    }
  }
}
