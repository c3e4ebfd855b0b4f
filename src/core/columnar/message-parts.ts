/**
 * The sensors of a row that a message runs, by its fields: mostly all; or a part, and the others keep their states. Each
 * part has its own table of what follows from states.
 *
 * PART-1 rows with called sensors, with sensors whose numbers others read or that triggers run, and rows whose messages
 *   reset the whole task take the whole only; a part has all that its sensors read
 * PART-2 rows whose messages are stamped take the whole only, and only messages with a timestamp: a sensor knows the last
 *   reading that it took, and a stamped message that runs no sensor is not an input
 */
import { integersInPlace } from './fixed-memory.ts'
import type { TaskModel } from '../task/run.ts'
import type { TriggerEdge } from '../graph/graph.ts'
import type { BatchShape, ShapeEdge, ShapeSensor } from './batch-shape.ts'
import type { Fields } from './message-fields.ts'
import { parametersOf } from './read-parameters.ts'

export interface Part {
  /** 0: the whole */
  readonly place: number
  /** by slot: whether it is run */
  readonly runs: readonly boolean[]
  /** state bits of the sensors that are run */
  readonly mask: number
  /** sensors that are not run */
  readonly missing: number
  /** edges of triggers whose sources are looked at, as bits */
  readonly edges: number
  /** what follows, as the table of a store, by key bits before and now */
  readonly table: Int32Array
  /** names that sensors calculate with and that such messages lack: earlier ones may have them */
  readonly carried: readonly string[]
  /** names that a sensor reads and that such messages lack, though they run it */
  readonly lacks: readonly string[]
}

/** Whether messages run nothing: then they do not begin an invocation. */
export function isSilent(part: Part | null): boolean {
  return part !== null && part.missing === part.runs.length
}

const MAX_PARTS = 64

export class PartTable {
  /** events of rows are numbered, which counts on messages that run all sensors */
  isWholeOnly = false
  /** rows keep records, which know no earlier messages */
  isCompleteOnly = false
  readonly whole: Part
  /** all messages of its rows are stamped; else none is */
  readonly isStamped: boolean
  readonly #shape: BatchShape
  readonly #model: TaskModel
  /** by number of fields; null: no row takes them */
  readonly #byFields: (Part | null | undefined)[] = []
  readonly #parts: Part[] = []

  constructor(shape: BatchShape, model: TaskModel, table: Int32Array, isStamped: boolean) {
    this.isStamped = isStamped
    this.#shape = shape
    this.#model = model
    this.whole = { ...this.#describe(shape.sensors), place: 0, table, carried: [], lacks: [] }
    this.#parts.push(this.whole)
  }

  /** What the next message runs, by its fields; null when no row takes it. */
  next(fields: Fields): Part | null {
    const part = this.of(fields)
    if (part === null || (part.missing > 0 && (this.isWholeOnly || this.isStamped))) return null
    if (this.isStamped && !fields.has('timestamp')) return null
    return part.carried.length > 0 && this.isCompleteOnly ? null : part
  }

  /** What a message with these fields runs; null when no row ever takes it. */
  of(fields: Fields): Part | null {
    const known = this.#byFields[fields.id]
    return known === undefined ? (this.#byFields[fields.id] = this.#find(fields)) : known
  }

  #find(fields: Fields): Part | null {
    const { sensors, takesParts } = this.#shape
    const run = sensors.filter(({ waitsFor }) => waitsFor?.some((name) => fields.has(name)) ?? true)
    if (run.some(({ steps }) => steps !== undefined && !fields.has(steps.parameter))) return null
    const lacks = run.flatMap(({ reads }) => reads.filter((name) => !fields.has(name)))
    if (run.length === sensors.length) return { ...this.#wholeWith(fields), lacks }
    if (!takesParts || parametersOf({ sensors: run }).some((name) => !fields.has(name))) return null
    const described = this.#describe(run)
    const same = this.#parts.find(
      ({ mask, missing, carried }) => carried.length === 0 && mask === described.mask && missing === described.missing,
    )
    if (same !== undefined) return { ...same, lacks }
    if (this.#parts.length >= MAX_PARTS) return null
    const part = {
      ...described,
      place: this.#parts.length,
      table: integersInPlace(this.whole.table.length),
      carried: [],
      lacks,
    }
    this.#parts.push(part)
    return part
  }

  #wholeWith(fields: Fields): Part {
    const { sensors } = this.#shape
    const calculating = sensors.filter(({ formula }) => formula !== undefined)
    const carried = parametersOf({ ...this.#shape, sensors: calculating }).filter((name) => !fields.has(name))
    if (carried.length === 0) return this.whole
    const text = carried.join('\n')
    let part = this.#parts.find((one) => one.carried.join('\n') === text)
    if (part === undefined) this.#parts.push((part = { ...this.whole, place: this.#parts.length, carried }))
    return part
  }

  #describe(run: readonly ShapeSensor[]): Pick<Part, 'runs' | 'mask' | 'missing' | 'edges'> {
    const { sensors } = this.#shape
    const { graph } = this.#model
    const nodes = new Set(run.map(({ slot }) => graph.sensors[slot]))
    const isLookedAt = ({ trigger }: ShapeEdge): boolean =>
      (graph.triggers[trigger] as TriggerEdge).behind.some((node) => node.kind === 'sensor' && nodes.has(node))
    const runs: boolean[] = sensors.map(() => false)
    for (const { slot } of run) runs[slot] = true
    const mask = run.reduce((bits, { mask: own, shift }) => bits | (own << shift), 0)
    const edges = this.#shape.edges.reduce((all, edge) => all | (isLookedAt(edge) ? 1 << edge.shift : 0), 0)
    return { runs, mask, missing: sensors.length - run.length, edges }
  }
}
