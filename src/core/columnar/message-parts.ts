/**
 * Determines from a message's fields which sensors of a row it runs: usually all, or a part while the others keep their
 * states. Each part has its own table of consequences.
 *
 * PART-1 a message must run all sensors if some are called, others read their numbers, triggers run them, or messages
 *   reset the whole task; a part includes everything that its sensors read
 * PART-2 rows with stamped messages accept only stamped messages that run all sensors: a sensor knows the last reading
 *   that it took, and a stamped message that runs no sensor is not an input
 */
import { integersInPlace } from './fixed-memory.ts'
import type { TaskModel } from '../task/run.ts'
import type { TriggerEdge } from '../graph/graph.ts'
import type { BatchShape, ShapeEdge, ShapeSensor } from './batch-shape.ts'
import type { Fields } from './message-fields.ts'
import { parametersOf } from './value-source.ts'

export interface Part {
  /** 0: all sensors */
  readonly place: number
  /** by slot: whether the part runs the sensor */
  readonly runs: readonly boolean[]
  /** state bits of the sensors that run */
  readonly mask: number
  /** number of sensors that do not run */
  readonly missing: number
  /** edge bits of the triggers whose sources are evaluated */
  readonly edges: number
  /** consequences by key bits before and now, like the table of a store */
  readonly table: Int32Array
  /** values that sensors calculate with and these messages lack; earlier messages may have them */
  readonly carried: readonly string[]
  /** values that a running sensor reads and these messages lack */
  readonly lacks: readonly string[]
}

/** Returns whether messages of the part run no sensor, and so begin no invocation. */
export function isSilent(part: Part | null): boolean {
  return part !== null && part.missing === part.runs.length
}

const MAX_PARTS = 64

export class PartTable {
  /** set when events of rows are numbered, which requires that messages run all sensors */
  isWholeOnly = false
  /** set when rows keep records, which do not know earlier messages */
  isCompleteOnly = false
  readonly whole: Part
  /** whether all messages of these rows are stamped; otherwise none is */
  readonly isStamped: boolean
  readonly #shape: BatchShape
  readonly #model: TaskModel
  /** by field list; null: no row takes such a message */
  readonly #byFields: (Part | null | undefined)[] = []
  readonly #parts: Part[] = []

  constructor(shape: BatchShape, model: TaskModel, table: Int32Array, isStamped: boolean) {
    this.isStamped = isStamped
    this.#shape = shape
    this.#model = model
    this.whole = { ...this.#describe(shape.sensors), place: 0, table, carried: [], lacks: [] }
    this.#parts.push(this.whole)
  }

  /** Returns the part that the next message runs, or null if no row takes it. */
  next(fields: Fields): Part | null {
    const part = this.of(fields)
    if (part === null || (part.missing > 0 && (this.isWholeOnly || this.isStamped))) return null
    if (this.isStamped && !fields.has('timestamp')) return null
    return part.carried.length > 0 && this.isCompleteOnly ? null : part
  }

  /** Returns the part that a message with these fields runs, or null if no row ever takes it. */
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
