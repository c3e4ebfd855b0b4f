/** What rows do, as source text: constants of the shape stand in it as they are. */
import {
  FOLLOWED,
  NOT_TAKEN,
  parametersOf,
  TAKEN,
  type RowCode,
  type RowEvents,
  type Taken,
  type TakeOne,
} from './evaluate.ts'
import { fieldsSource } from './fields.ts'
import type { Generate } from './generate.ts'
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
  HEAD,
  LAST,
  NOWHERE,
  TIME,
  type Layout,
} from './layout.ts'
import type { RowStore } from './row-store.ts'
import type { QuietSensor, QuietShape, QuietSteps } from './shape.ts'

/** Rows as generated code. What never changes is captured: then it is part of the machine's code, too. */
export function generatedRows(rows: RowStore, lane: RowEvents, generate: Generate): RowCode {
  const source = new SourceWriter(rows.shape, rows.layout)
  const { table, gateBits, clock } = rows
  const made = (parameters: string, body: string): unknown => {
    const outer = generate(['rows', 'lane', 'table', 'gateBits', 'clock'], `return (${parameters}) => {\n${body}\n}`)
    return (outer as (...captured: unknown[]) => unknown)(rows, lane, table, gateBits, clock)
  }
  return {
    takeOne: (fields) => made('row, message', source.takeOne(fields.names)) as TakeOne,
    takeAll: made('list, from, message', source.takeAll()) as RowCode['takeAll'],
    keep: made('row, block, count', source.keep()) as RowCode['keep'],
  }
}

/** Nothing of a user's stands in it but names of parameters, as JSON texts. */
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
    const leave = `return ${NOT_TAKEN}`
    const end = (taken: Taken) => [
      `rows.objects[row * ${this.#layout.objects} + ${LAST}] = message`,
      'lane.taken++',
      ...(taken === FOLLOWED ? ['lane.current = undefined'] : []),
      `return ${taken}`,
    ]
    return [
      // Numbers are asked for anyway, and a resource is there.
      fieldsSource(
        fields.length,
        fields.filter((name) => name !== 'resource' && !this.#parameters.includes(name)),
        leave,
      ),
      ...this.#read(leave),
      ...this.#arrays(),
      ...this.#row(`{ ${end(FOLLOWED).join('; ')} }`, end(FOLLOWED)),
      ...end(this.#layout.earlier === -1 ? TAKEN : FOLLOWED),
    ].join('\n')
  }

  takeAll(): string {
    return [
      ...this.#read('return from'),
      ...this.#arrays(),
      'const to = list.length',
      'for (let i = from; i < to; i++) {',
      'const row = list[i]',
      ...this.#row('continue', ['ints = rows.ints', 'nums = rows.nums']),
      '}',
      'return to',
    ].join('\n')
  }

  keep(): string {
    const { size, pastSize, since, nodes, actuators } = this.#layout
    const copy = (n: number) => `past[b + ${AT_SINCE + n}] = nums[d + ${since + n}]`
    const other = (a: number) => {
      const block = `p + ${blockAt(this.#layout, a)}`
      const fired = `past[${block} + ${AT_COUNT}] === count ? past[${block} + ${FIRED_BEFORE}] : past[${block} + ${FIRED}]`
      return `past[b + ${AT_SINCE + nodes + a}] = ${fired}`
    }
    return [
      'const { ints, nums, past, pastInts } = rows',
      `const d = ${HEAD} + row * ${size}`,
      `const p = ${HEAD} + row * ${pastSize}`,
      'const b = p + block',
      `past[b + ${FIRED_BEFORE}] = past[b + ${FIRED}]`,
      `past[b + ${AT_EARLIER}] = past[b + ${AT_COUNT}] === -1 ? 0 : 1`,
      `past[b + ${AT_COUNT}] = count`,
      `past[b + ${AT_FIRES}] = past[p + ${FIRES_BEFORE}]`,
      `pastInts[2 * b + ${2 * AT_BITS}] = ints[2 * d + ${BEFORE}]`,
      `pastInts[2 * b + ${2 * AT_BITS + 1}] = ints[2 * d + ${AFTER}]`,
      ...Array.from({ length: nodes }, (_, n) => copy(n)),
      ...Array.from({ length: actuators }, (_, a) => other(a)),
    ].join('\n')
  }

  #read(otherwise: string): readonly string[] {
    const parameters = this.#parameters
    if (parameters.length === 0) return []
    const others = [
      ...parameters.map((_, i) => `typeof v${i} !== 'number'`),
      // a sum is zero only when each is finite
      `${parameters.map((_, i) => `(v${i} - v${i})`).join(' + ')} !== 0`,
    ]
    return [
      ...parameters.map((parameter, i) => `const v${i} = message[${JSON.stringify(parameter)}]`),
      `if (${others.join(' || ')}) ${otherwise}`,
    ]
  }

  #arrays(): readonly string[] {
    return ['let { ints, nums } = rows', 'const now = clock[0]']
  }

  #row(leave: string, followed: readonly string[]): readonly string[] {
    return [
      `const d = ${HEAD} + row * ${this.#layout.size}`,
      `const after = ints[2 * d + ${AFTER}]`,
      `const before = ints[2 * d + ${BEFORE}]`,
      ...this.#earlier(),
      ...this.#shift(),
      `ints[2 * d + ${BEFORE}] = after`,
      `const count = nums[d + ${COUNT}] + 1`,
      `nums[d + ${COUNT}] = count`,
      `nums[d + ${TIME}] = now`,
      'let bits = 0',
      ...this.#sensors(leave),
      `ints[2 * d + ${AFTER}] = bits`,
      `const what = table[(after & ${this.#keyMask}) << ${this.#shape.keyBits} | bits & ${this.#keyMask}]`,
      'if (what !== 1) {',
      'lane.follow(row, what, message)',
      ...followed,
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
    const write = (hasChanged: string, place: number) =>
      `nums[${NOWHERE} + (0 - ${hasChanged} & d + ${place - NOWHERE})] = last`
    const ofSensors = sensors.map(({ slot, shift: at, mask }) =>
      write(`((changed & ${mask << at}) !== 0 | 0)`, since + slot),
    )
    const ofGates = Array.from({ length: gates }, (_, g) => write(`(gates >> ${g} & 1)`, since + sensors.length + g))
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

  /**
   * The state index, by how many cuts the value reaches and exceeds: arithmetic, since whether a measured value exceeds
   * a limit is what a processor guesses worst.
   */
  #state({ parameter, constant, cuts, states }: QuietSteps): string {
    const value = `v${this.#parameters.indexOf(parameter)}`
    const places = Array.from({ length: cuts }, (_, i) => `nums[d + ${this.#layout.constants + constant + i}]`)
    const range = places.map((cut) => `(${value} >= ${cut} | 0) + (${value} > ${cut} | 0)`).join(' + ')
    if (states.every((state, i) => state === i)) return range
    return `${JSON.stringify(String.fromCharCode(...states))}.charCodeAt(${range})`
  }
}
