/**
 * Messages into rows: functions per shape that read the message once and go through the rows that it concerns. Made as
 * source where code may be generated, as closures where it may not; both do the same.
 */
import {
  AFTER,
  AT_BITS,
  AT_COUNT,
  AT_EARLIER,
  AT_FIRES,
  AT_SINCE,
  BEFORE,
  blockAt,
  COUNT,
  FIRED,
  FIRED_BEFORE,
  FIRES_BEFORE,
  TIME,
  type Layout,
} from './layout.ts'
import type { Message } from '../task/origin.ts'
import type { Generate } from './generate.ts'
import { fieldsSource, type Fields } from './fields.ts'
import type { RawData, RowStore, SensorCall } from './row-store.ts'
import type { QuietSensor, QuietShape, QuietSteps } from './shape.ts'

/** Where a row's message leads: the lane. */
export interface RowEvents {
  /** something follows from this row's new states */
  follow(row: number, what: number, message: Values): void
  /** Sensors' plugs are about to be called; gives the row's raw data by position, null when the row is gone. */
  beginCalls(row: number, message: Values): RawData[] | null
  /**
   * Calls the plug of a sensor, with the properties when they are known. Gives its state index; -1 when the row has
   * gone another way.
   */
  call(sensor: SensorCall, position: number, bits: number, rawData: RawData[], filled: Values | undefined): number
  endCalls(): void
}

export type Values = Readonly<Record<string, unknown>>

/** Takes a message into one row. False, and nothing is done, when it has other fields, or no number where the row compares one. */
export type TakeOne = (rows: RowStore, lane: RowEvents, row: number, message: Values) => boolean

export interface RowCode {
  takeOne(fields: Fields): TakeOne
  /** The same for a list of rows from a place on. Gives the first place that is not done, else its length. */
  takeAll(rows: RowStore, lane: RowEvents, list: readonly number[], from: number, message: Values): number
  /** Copies what a rebuild needs of the message at which the actuator of a block fires. */
  keep(rows: RowStore, row: number, block: number, count: number): void
}

export function rowCode(shape: QuietShape, layout: Layout, generate: Generate | undefined): RowCode {
  if (generate === undefined) return interpreted(shape, layout)
  const source = new SourceWriter(shape, layout)
  return {
    takeOne: (fields) => generate(['rows', 'lane', 'row', 'message'], source.takeOne(fields.names)) as TakeOne,
    takeAll: generate(['rows', 'lane', 'list', 'from', 'message'], source.takeAll()) as RowCode['takeAll'],
    keep: generate(['rows', 'row', 'block', 'count'], source.keep()),
  }
}

function interpreted(shape: QuietShape, layout: Layout): RowCode {
  const parameters = parametersOf(shape)
  const readers = shape.sensors.map(({ steps }) => (steps ? parameters.indexOf(steps.parameter) : -1))
  const keyMask = 2 ** shape.keyBits - 1
  const values: number[] = parameters.map(() => 0)
  const isCalled = layout.earlier !== -1

  const read = (message: Values): boolean => {
    for (let i = 0; i < parameters.length; i++) {
      const value = message[parameters[i] ?? '']
      if (typeof value !== 'number' || !Number.isFinite(value)) return false
      values[i] = value
    }
    return true
  }
  const take = (rows: RowStore, lane: RowEvents, row: number, message: Values): void => {
    const d = row * layout.size
    const before = rows.ints[2 * d + AFTER] ?? 0
    if (layout.earlier !== -1) {
      rows.nums[d + layout.earlier] = rows.ints[2 * d + BEFORE] ?? 0
      rows.nums[d + layout.earlier + 1] = rows.nums[d + TIME] ?? 0
    }
    shift(rows, shape, layout, d)
    const count = (rows.nums[d + COUNT] ?? 0) + 1
    rows.nums[d + COUNT] = count
    rows.nums[d + TIME] = rows.clock[0] ?? 0
    let bits = 0
    const rawData = isCalled ? lane.beginCalls(row, message) : []
    if (rawData === null) return
    for (let p = 0; p < shape.sensors.length; p++) {
      const { steps, shift: at } = shape.sensors[p] as QuietSensor
      const state =
        steps === undefined
          ? lane.call(rows.sensorCalls[row * shape.sensors.length + p] as SensorCall, p, bits, rawData, undefined)
          : stateOf(steps, values[readers[p] ?? 0] ?? 0, rows.nums, d + layout.constants + steps.constant)
      if (state < 0) return
      bits |= state << at
    }
    if (isCalled) lane.endCalls()
    rows.ints[2 * d + AFTER] = bits
    const what = rows.table[((before & keyMask) << shape.keyBits) | (bits & keyMask)] ?? 0
    if (what !== 1) lane.follow(row, what, message)
  }
  return {
    takeOne: (fields) => (rows, lane, row, message) => {
      if (!fields.areThoseOf(message as Message) || !read(message)) return false
      take(rows, lane, row, message)
      return true
    },
    takeAll(rows, lane, list, from, message) {
      if (!read(message)) return from
      for (let i = from; i < list.length; i++) take(rows, lane, list[i] ?? 0, message)
      return list.length
    },
    keep({ nums, ints }, row, block, count) {
      const d = row * layout.size
      const b = d + block
      nums[b + FIRED_BEFORE] = nums[b + FIRED] ?? 0
      nums[b + AT_EARLIER] = nums[b + AT_COUNT] === -1 ? 0 : 1
      nums[b + AT_COUNT] = count
      nums[b + AT_FIRES] = nums[d + layout.fires + FIRES_BEFORE] ?? 0
      ints[2 * (b + AT_BITS)] = ints[2 * d + BEFORE] ?? 0
      ints[2 * (b + AT_BITS) + 1] = ints[2 * d + AFTER] ?? 0
      for (let n = 0; n < layout.nodes; n++) nums[b + AT_SINCE + n] = nums[d + layout.since + n] ?? 0
      for (let a = 0; a < layout.actuators; a++) {
        const other = d + blockAt(layout, a)
        // One that fired earlier in this very message had fired before it when its own block says.
        const fired = nums[other + AT_COUNT] === count ? nums[other + FIRED_BEFORE] : nums[other + FIRED]
        nums[b + AT_SINCE + layout.nodes + a] = fired ?? 0
      }
    },
  }
}

/** What a row showed becomes what it showed before; nodes that had changed have their state since the last message. */
function shift({ ints, nums, gateBits }: RowStore, shape: QuietShape, layout: Layout, d: number): void {
  const before = ints[2 * d + BEFORE] ?? 0
  const after = ints[2 * d + AFTER] ?? 0
  const changed = before ^ after
  if (changed === 0) return
  const last = nums[d + TIME] ?? 0
  const since = d + layout.since
  for (const { slot, shift: at, mask } of shape.sensors) if (changed & (mask << at)) nums[since + slot] = last
  const keyMask = 2 ** shape.keyBits - 1
  const gates = (gateBits[before & keyMask] ?? 0) ^ (gateBits[after & keyMask] ?? 0)
  for (let g = 0; g < shape.gates; g++) if (gates & (1 << g)) nums[since + shape.sensors.length + g] = last
  ints[2 * d + BEFORE] = after
}

function stateOf(steps: QuietSteps, value: number, nums: Float64Array, at: number): number {
  for (let i = 0; i < steps.cuts; i++) {
    const cut = nums[at + i] ?? 0
    if (value < cut) return steps.states[2 * i] ?? 0
    if (value === cut) return steps.states[2 * i + 1] ?? 0
  }
  return steps.states[2 * steps.cuts] ?? 0
}

function parametersOf({ sensors }: QuietShape): readonly string[] {
  return [...new Set(sensors.flatMap(({ steps }) => (steps ? [steps.parameter] : [])))]
}

/** The same as source. Nothing of a user's stands in it but names of parameters, as JSON texts. */
class SourceWriter {
  readonly #shape: QuietShape
  readonly #layout: Layout
  readonly #parameters: readonly string[]
  readonly #keyMask: number

  constructor(shape: QuietShape, layout: Layout) {
    this.#shape = shape
    this.#layout = layout
    this.#parameters = parametersOf(shape)
    this.#keyMask = 2 ** shape.keyBits - 1
  }

  takeOne(fields: readonly string[]): string {
    const check = fieldsSource(fields, 'return false')
    return [check, ...this.#read('return false'), ...this.#arrays(), ...this.#row('return true'), 'return true'].join(
      '\n',
    )
  }

  takeAll(): string {
    return [
      ...this.#read('return from'),
      ...this.#arrays(),
      'const to = list.length',
      'for (let i = from; i < to; i++) {',
      'const row = list[i]',
      ...this.#row('continue'),
      '}',
      'return to',
    ].join('\n')
  }

  keep(): string {
    const { size, since, nodes, fires, actuators } = this.#layout
    const copy = (n: number) => `nums[b + ${AT_SINCE + n}] = nums[d + ${since + n}]`
    const other = (a: number) => {
      const block = `d + ${blockAt(this.#layout, a)}`
      const fired = `nums[${block} + ${AT_COUNT}] === count ? nums[${block} + ${FIRED_BEFORE}] : nums[${block} + ${FIRED}]`
      return `nums[b + ${AT_SINCE + nodes + a}] = ${fired}`
    }
    return [
      'const { ints, nums } = rows',
      `const d = row * ${size}`,
      'const b = d + block',
      `nums[b + ${FIRED_BEFORE}] = nums[b + ${FIRED}]`,
      `nums[b + ${AT_EARLIER}] = nums[b + ${AT_COUNT}] === -1 ? 0 : 1`,
      `nums[b + ${AT_COUNT}] = count`,
      `nums[b + ${AT_FIRES}] = nums[d + ${fires + FIRES_BEFORE}]`,
      // two whole numbers at once
      `ints[2 * b + ${2 * AT_BITS}] = ints[2 * d + ${BEFORE}]`,
      `ints[2 * b + ${2 * AT_BITS + 1}] = ints[2 * d + ${AFTER}]`,
      ...Array.from({ length: nodes }, (_, n) => copy(n)),
      ...Array.from({ length: actuators }, (_, a) => other(a)),
    ].join('\n')
  }

  #read(otherwise: string): readonly string[] {
    return this.#parameters.flatMap((parameter, i) => [
      `const v${i} = message[${JSON.stringify(parameter)}]`,
      `if (typeof v${i} !== 'number' || v${i} - v${i} !== 0) ${otherwise}`,
    ])
  }

  #arrays(): readonly string[] {
    return ['let { ints, nums } = rows', 'const { table, gateBits } = rows', 'const now = rows.clock[0]']
  }

  #row(leave: string): readonly string[] {
    return [
      `const d = row * ${this.#layout.size}`,
      `const after = ints[2 * d + ${AFTER}]`,
      `const before = ints[2 * d + ${BEFORE}]`,
      ...this.#earlier(),
      'if (after !== before) {',
      ...this.#shift(),
      `ints[2 * d + ${BEFORE}] = after`,
      '}',
      `const count = nums[d + ${COUNT}] + 1`,
      `nums[d + ${COUNT}] = count`,
      `nums[d + ${TIME}] = now`,
      'let bits = 0',
      ...this.#sensors(leave),
      `ints[2 * d + ${AFTER}] = bits`,
      `const what = table[(after & ${this.#keyMask}) << ${this.#shape.keyBits} | bits & ${this.#keyMask}]`,
      'if (what !== 1) {',
      'lane.follow(row, what, message)',
      'ints = rows.ints',
      'nums = rows.nums',
      '}',
    ]
  }

  #earlier(): readonly string[] {
    const { earlier } = this.#layout
    return earlier === -1 ? [] : [`nums[d + ${earlier}] = before`, `nums[d + ${earlier + 1}] = nums[d + ${TIME}]`]
  }

  #shift(): readonly string[] {
    const { since } = this.#layout
    const { sensors, gates } = this.#shape
    const ofSensors = sensors.map(
      ({ slot, shift: at, mask }) => `if (changed & ${mask << at}) nums[d + ${since + slot}] = last`,
    )
    const ofGates = Array.from(
      { length: gates },
      (_, g) => `if (gates & ${1 << g}) nums[d + ${since + sensors.length + g}] = last`,
    )
    const gateBits = `const gates = gateBits[before & ${this.#keyMask}] ^ gateBits[after & ${this.#keyMask}]`
    return [
      'const changed = before ^ after',
      `const last = nums[d + ${TIME}]`,
      ...ofSensors,
      ...(gates > 0 ? [gateBits, ...ofGates] : []),
    ]
  }

  #sensors(leave: string): readonly string[] {
    const { sensors } = this.#shape
    const lines = sensors.map((sensor, p) =>
      sensor.steps === undefined
        ? this.#call(sensor, p, leave)
        : `bits |= (${this.#state(sensor.steps)}) << ${sensor.shift}`,
    )
    if (this.#layout.earlier === -1) return lines
    return [
      'const rawData = lane.beginCalls(row, message)',
      `if (rawData === null) ${leave}`,
      `const base = row * ${sensors.length}`,
      ...lines,
      'lane.endCalls()',
      // a call may have made room for more rows
      'ints = rows.ints',
      'nums = rows.nums',
    ]
  }

  #call({ fill, shift: at }: QuietSensor, position: number, leave: string): string {
    const lines = [`const sensor = rows.sensorCalls[base + ${position}]`, 'let filled']
    if (fill !== undefined) {
      lines.push(...fill.values.map((value, i) => `const x${i} = ${value}`))
      lines.push(`if (${fill.checks.join(' && ')}) {`, 'filled = sensor.toFill')
      lines.push(...fill.properties.map((property, i) => `filled[${property}] = x${i}`), '}')
    }
    lines.push(`const state = lane.call(sensor, ${position}, bits, rawData, filled)`)
    lines.push(`if (state < 0) ${leave}`, `bits |= state << ${at}`)
    return `{\n${lines.join('\n')}\n}`
  }

  #state(steps: QuietSteps): string {
    const value = `v${this.#parameters.indexOf(steps.parameter)}`
    let expression = String(steps.states[2 * steps.cuts])
    for (let i = steps.cuts - 1; i >= 0; i--) {
      const cut = `nums[d + ${this.#layout.constants + steps.constant + i}]`
      expression = `${value} < ${cut} ? ${steps.states[2 * i]} : ${value} === ${cut} ? ${steps.states[2 * i + 1]} : ${expression}`
    }
    return expression
  }
}
