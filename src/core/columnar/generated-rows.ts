/** Generates the code of rows as source text, with the constants of the shape written into it. */
import type { RowCode, RowEvents, TakeAll, TakeOne, TakePart } from './row-code.ts'
import { fieldsSource } from './message-fields.ts'
import { readSource, stepsSource, parametersOf, typesOf } from './value-source.ts'
import type { ParameterType } from './sensor-formula.ts'
import { type Part } from './message-parts.ts'
import type { Generate } from '../engine/executor.ts'
import {
  AFTER,
  AT_BITS,
  AT_COUNT,
  AT_FIRES,
  AT_SINCE,
  BEFORE,
  blockAt,
  COUNT,
  FIELD_SETS,
  FIRED,
  FIRED_AFTER,
  FIRED_BY,
  firedBeforeAt,
  FIRES,
  FLAG,
  HEAD,
  HELD,
  HELD_BY,
  holdAt,
  LAST,
  NOWHERE,
  objectsAt,
  HANDLE,
  TIME,
  type Layout,
} from './row-layout.ts'
import { isCalled } from './computed-sensors.ts'
import { NOTHING, type RowStore } from './row-store.ts'
import type { ShapeSensor, BatchShape } from './batch-shape.ts'
import { numbersToCheck, sourceOf, stateSource, type FormulaNames } from './formula-code.ts'

/**
 * Generates row code that is valid until the store grows. The code captures the store's arrays, so that the optimizer
 * can embed their addresses.
 */
export function generatedRows(rows: RowStore, batch: RowEvents, generate: Generate): RowCode {
  const source = new SourceWriter(rows.shape, rows.layout, rows.beginMask, batch.history !== undefined)
  const made = (parameters: string, body: string, more: Readonly<Record<string, unknown>> = {}): unknown => {
    const { nums, ints, past, pastInts, table, gateBits, edgeBits, clock, objects, oddGates, followings, waiting } =
      rows
    const tables = { table, gateBits, edgeBits, clock, oddGates, followings, waiting }
    const memory = { nums, ints, past, pastInts, objects, ...tables }
    const captured = { rows, batch, actuators: batch.actuators, ...memory, ...more }
    // Reused source text would share its optimizer feedback, including what counts as constant.
    const outer = generate(Object.keys(captured), `return (${parameters}) => {\n// ${rows.room} rows\n${body}\n}`)
    return (outer as (...captured: unknown[]) => unknown)(...Object.values(captured))
  }
  let following: unknown
  // an empty store needs no code yet
  const follow = (): unknown => (following ??= made('row, what, message', source.follow()))
  return {
    takeOne: (usual, others) => {
      const own = { follow: follow(), usual, usualFields: usual.fields, others }
      return made('row, message', source.takeOne(usual.fields.names), own) as TakeOne
    },
    takePart: (part) =>
      made('row, message, fields, part', source.takePart(part), { follow: follow(), table: part.table }) as TakePart,
    takeAll: (part) =>
      made('list, from, message, part, isFirst', source.takeAll(part), {
        follow: follow(),
        table: part.table,
      }) as TakeAll,
    get follow() {
      return follow() as RowCode['follow']
    },
  }
}

/** The only user input in the source is parameter names, as JSON strings. */
class SourceWriter {
  readonly #shape: BatchShape
  readonly #layout: Layout
  readonly #parameters: readonly string[]
  readonly #types: ReadonlyMap<string, ParameterType>
  readonly #keyMask: number
  readonly #beginMask: number
  readonly #hasHistory: boolean

  /** `hasHistory`: whether the last messages of rows are kept */
  constructor(shape: BatchShape, layout: Layout, beginMask: number, hasHistory: boolean) {
    this.#hasHistory = hasHistory
    this.#beginMask = beginMask
    this.#shape = shape
    this.#layout = layout
    this.#parameters = parametersOf(shape)
    this.#types = typesOf(shape)
    this.#keyMask = 2 ** shape.keyBits - 1
  }

  takeOne(fields: readonly string[]): string {
    const leave = 'return others(row, message)'
    return [
      `const fieldSets = objects[row * ${this.#layout.objects} + ${FIELD_SETS}]`,
      `if (fieldSets !== usual && fieldSets.fields !== usualFields) ${leave}`,
      ...this.#unlessWaiting(leave),
      // Numbers are checked anyway, and the resource is always present.
      fieldsSource(
        fields.length,
        fields.filter((name) => name !== 'resource' && !this.#parameters.includes(name)),
        leave,
      ),
      ...this.#read(leave),
      ...this.#one(leave),
    ].join('\n')
  }

  /** Takes a message that runs only some sensors, or has other fields than usual. */
  takePart(part: Part): string {
    const leave = 'return false'
    return [
      ...this.#unlessWaiting(leave),
      ...this.#read(leave, part),
      ...this.#unlessUnknown(leave, part),
      `const fieldSets = objects[row * ${this.#layout.objects} + ${FIELD_SETS}]`,
      `const turns = fieldSets.fields !== fields`,
      `if (turns && !rows.fieldSetHistories.turn(row, fields, part)) ${leave}`,
      ...(part.missing === 0 ? [] : ['rows.takesPart(row, part, turns && rows.ranAll(fieldSets))']),
      ...this.#carried(leave, part),
      ...this.#one(leave, part),
    ].join('\n')
  }

  #one(refuse: string, part?: Part): readonly string[] {
    const end = (mayHaveCalled: boolean) => [
      `objects[row * ${this.#layout.objects} + ${LAST}] = message`,
      'batch.taken++',
      ...(mayHaveCalled ? ['batch.current = undefined'] : []),
      'return true',
    ]
    const set = ['rows.fieldSets = undefined']
    return [
      'const now = clock[0]',
      ...this.#row(refuse, `{ ${end(true).join('; ')} }`, set, end(true), part),
      ...end(this.#layout.isCalled),
    ]
  }

  takeAll(part: Part): string {
    return [
      ...this.#read('return from', part),
      'const now = clock[0]',
      'const to = list.length',
      'for (let i = from; i < to; i++) {',
      'const row = list[i]',
      ...this.#unlessWaiting('return i'),
      ...this.#unlessUnknown('return i', part),
      ...(part.missing === 0 ? [] : ['rows.takesPart(row, part, isFirst)']),
      ...this.#row('return i', 'continue', [], [], part),
      '}',
      'return to',
    ].join('\n')
  }

  /** `follow(row, what, message)`: fires the actuators that have cooled down. */
  follow(): string {
    const { size, pastSize, objects, actuators } = this.#layout
    const { edgeMask } = this.#shape
    const only = actuators === 1
    return [
      `const own = row * ${objects}`,
      `const handle = objects[own + ${HANDLE}]`,
      'if (handle === undefined) return',
      'batch.current = message',
      'batch.currentRow = row',
      'const now = clock[0]',
      `const d = ${HEAD} + row * ${size}`,
      `const p = ${HEAD} + row * ${pastSize}`,
      `const list = followings[what > ${NOTHING} ? what : rows.known(row, what)]`,
      `if (batch.records !== undefined) batch.records.follows(row, list, ${this.#before('p')})`,
      ...(this.#hasHistory ? ['batch.history.follows(row)'] : []),
      'const { freed } = rows',
      'let firings = 0',
      'let held = 0',
      'for (let i = 0; i < list.length; i++) {',
      'const one = list[i]',
      ...(only ? [] : ['const { actuator } = one']),
      `const count = nums[d + ${COUNT}]`,
      `const b = ${only ? 'p' : `p + actuator * ${this.#layout.blockSize}`}`,
      `const fired = past[b + ${FIRED}]`,
      'const until = fired + one.policyMs',
      'if (now < until) {',
      'if (batch.firings !== undefined) batch.firings.firing(row, message, list, one, until)',
      `const hold = p + ${holdAt(this.#layout, 0)}${only ? '' : ` + ${holdAt(this.#layout, 1) - holdAt(this.#layout, 0)} * actuator`}`,
      `past[hold + ${HELD}] = now`,
      `past[hold + ${HELD_BY}] = one.trigger`,
      `pastInts[2 * b + ${2 * AT_BITS + 1}] |= ${FLAG}`,
      'held++',
      'continue',
      '}',
      'if (batch.firings !== undefined) batch.firings.firing(row, message, list, one, until)',
      `const place = own + ${objectsAt(0)}${only ? '' : ` + ${objectsAt(1) - objectsAt(0)} * actuator`}`,
      ...this.#keep(),
      `objects[place + ${FIRED_BY}] = message`,
      `objects[place + ${FIRED_AFTER}] = rows.firedAfter(row)`,
      ...(edgeMask === 0 ? [] : [`ints[2 * d + ${AFTER}] = ints[2 * d + ${AFTER}] & ~one.edgeMask | one.edges`]),
      `objects[own + ${FIRES}]++`,
      `past[b + ${FIRED}] = now`,
      'firings++',
      `if (!actuators.fire(row, place, ${only ? 0 : 'actuator'}, one.trigger)) return`,
      // comparing handles would access their memory
      `if (rows.freed !== freed && objects[own + ${HANDLE}] !== handle) break`,
      '}',
      'batch.followed(firings, held)',
    ].join('\n')
  }

  #before(past: string): string {
    const { nodes, since, actuators } = this.#layout
    const nodeTimes = Array.from({ length: nodes }, (_, n) => `nums[d + ${since + n}]`)
    const fired = Array.from({ length: actuators }, (_, a) => `past[${past} + ${blockAt(this.#layout, a) + FIRED}]`)
    return `[${[...nodeTimes, ...fired].join(', ')}]`
  }

  #keep(): readonly string[] {
    const { since, nodes, actuators } = this.#layout
    const all = Array.from({ length: actuators }, (_, a) => ({
      at: blockAt(this.#layout, a),
      before: firedBeforeAt(this.#layout, a),
    }))
    const others = actuators === 1 ? [] : all
    const copy = (n: number) => `past[b + ${AT_SINCE + n}] = nums[d + ${since + n}]`
    // If an actuator's own block says that it fired at this message, use the firing before.
    const fires = others
      .map(({ at }) => `past[p + ${at + AT_COUNT}] === count ? past[p + ${at + AT_FIRES}] : `)
      .join('')
    const fired = others.map(
      ({ at, before }) =>
        `past[b + ${before}] = past[p + ${at} + (past[p + ${at + AT_COUNT}] === count ? ${before} : ${FIRED})]`,
    )
    return [
      `past[b + ${AT_FIRES}] = ${fires}objects[own + ${FIRES}]`,
      ...(actuators === 1 ? [`past[b + ${firedBeforeAt(this.#layout, 0)}] = past[b + ${FIRED}]`] : fired),
      `pastInts[2 * b + ${2 * AT_BITS}] = ints[2 * d + ${BEFORE}] | ((past[b + ${AT_COUNT}] !== -1 | 0) << 30)`,
      `pastInts[2 * b + ${2 * AT_BITS + 1}] = ints[2 * d + ${AFTER}]`,
      `past[b + ${AT_COUNT}] = count`,
      ...Array.from({ length: nodes }, (_, n) => copy(n)),
    ]
  }

  #read(otherwise: string, part?: Part): readonly string[] {
    const values = this.#places(part).map((i) => ({ value: `v${i}`, name: this.#parameters[i] as string }))
    return readSource(values, this.#types, otherwise)
  }

  #carried(otherwise: string, { carried }: Part): readonly string[] {
    return carried.flatMap((name) => {
      const value = `v${this.#parameters.indexOf(name)}`
      const type = this.#types.get(name)
      const others = [`typeof ${value} !== '${type}'`, ...(type === 'number' ? [`${value} - ${value} !== 0`] : [])]
      return [
        `const ${value} = rows.fieldSetHistories.carried(row, ${JSON.stringify(name)})`,
        `if (${others.join(' || ')}) ${otherwise}`,
      ]
    })
  }

  #places(part: Part | undefined): readonly number[] {
    const sensors = this.#runs(part)
    return this.#parameters.flatMap((name, place) => {
      const isRead = part === undefined || parametersOf({ ...this.#shape, sensors }).includes(name)
      return isRead && part?.carried.includes(name) !== true ? [place] : []
    })
  }

  #runs(part: Part | undefined): readonly ShapeSensor[] {
    const { sensors } = this.#shape
    return part === undefined ? sensors : sensors.filter(({ slot }) => part.runs[slot])
  }

  /**
   * `refuse`: runs when the row cannot take the message. `leave`: runs when the row moved elsewhere meanwhile. `before`
   * and `followed` run before and after the consequences.
   */
  #row(
    refuse: string,
    leave: string,
    before: readonly string[],
    followed: readonly string[],
    part?: Part,
  ): readonly string[] {
    const isWhole = part === undefined || part.missing === 0
    const { edgeMask } = this.#shape
    return [
      `const d = ${HEAD} + row * ${this.#layout.size}`,
      ...this.#numbers(refuse),
      `const after = ints[2 * d + ${AFTER}]`,
      `const before = ints[2 * d + ${BEFORE}]`,
      ...this.#earlier(),
      ...this.#shift(),
      `ints[2 * d + ${BEFORE}] = after`,
      `const count = nums[d + ${COUNT}] + 1`,
      `nums[d + ${COUNT}] = count`,
      `nums[d + ${TIME}] = now`,
      `let bits = ${isWhole ? (edgeMask === 0 ? '0' : `after & ${edgeMask}`) : `after & ${~part.mask}`}`,
      ...this.#sensors(refuse, leave, this.#runs(part)),
      ...this.#setAfter(part),
      `if (batch.records !== undefined) batch.records.add(row, message, count, now, after, bits, ${this.#shape.inner ? this.#before(`${HEAD} + row * ${this.#layout.pastSize}`) : 'undefined'})`,
      ...(this.#hasHistory ? this.#kept() : []),
      `const what = table[(after & ${this.#keyMask}) << ${this.#shape.keyBits} | bits & ${this.#keyMask}]`,
      `if (what !== ${NOTHING}) {`,
      ...before,
      `follow(row, ${isWhole ? 'what' : 'rows.knownOf(row, part, what)'}, message)`,
      ...followed,
      '}',
    ]
  }

  /** Same as `RowStore.seen`. */
  #setAfter(part: Part | undefined): readonly string[] {
    const { edgeMask } = this.#shape
    const after = `ints[2 * d + ${AFTER}]`
    if (edgeMask === 0) return [`${after} = bits`]
    const edges = part?.edges ?? edgeMask
    const beginMask = this.#beginMask
    return [
      `const seen = edgeBits[bits & ${this.#keyMask}]`,
      `${after} = bits & ${~edges} | (bits & seen & ${beginMask} | (bits | seen) & ${~beginMask}) & ${edges}`,
    ]
  }

  #kept(): readonly string[] {
    return [
      'batch.history.add(row, message, count, now, after, bits)',
      ...(this.#layout.isCalled ? ['batch.history.sensorsAnswered(row, count)'] : []),
      ...(this.#shape.inner ? ['batch.history.follows(row)'] : []),
    ]
  }

  #unlessWaiting(leave: string): readonly string[] {
    return this.#layout.isCalled ? [`if (waiting[row] !== undefined) ${leave}`] : []
  }

  #unlessUnknown(leave: string, { missing }: Part): readonly string[] {
    return [
      missing === 0
        ? `if (oddGates.size !== 0 && oddGates.has(row)) ${leave}`
        : `if (rows.hadUnknown && rows.hasUnknown(row)) ${leave}`,
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
    const skipsUnchanged = sensors.length >= MANY_SENSORS
    const gateBits = `const gates = gateBits[before & ${this.#keyMask}] ^ gateBits[after & ${this.#keyMask}]`
    return [
      'const changed = before ^ after',
      `const last = nums[d + ${TIME}]`,
      ...(skipsUnchanged ? ['if (changed !== 0) {'] : []),
      ...ofSensors,
      ...(gates > 0 ? [gateBits, ...ofGates] : []),
      ...(skipsUnchanged ? ['}'] : []),
    ]
  }

  /** Evaluates computed sensors first, so that a row that waited for a call need not. */
  #sensors(refuse: string, leave: string, sensors: readonly ShapeSensor[]): readonly string[] {
    const lines = sensors.flatMap(({ steps, formula, shift }) => {
      if (steps !== undefined) return [`bits |= (${stepsSource(steps, this.#parameters, this.#limit)}) << ${shift}`]
      return formula === undefined ? [] : [`bits |= ${stateSource(formula, this.#names)} << ${shift}`]
    })
    if (!this.#layout.isCalled) {
      const recorded = 'if (batch.firings !== undefined) batch.firings.allInner(row, message, bits)'
      return this.#shape.inner ? [...lines, recorded] : lines
    }
    return [
      'const rawData = batch.beginCalls(row, message)',
      `if (rawData === null) ${refuse}`,
      `const base = row * ${sensors.length}`,
      ...lines,
      ...sensors.flatMap((sensor, p) => (isCalled(sensor) ? [this.#call(sensor, p, leave)] : [])),
      'batch.endCalls(row, bits)',
    ]
  }

  #numbers(refuse: string): readonly string[] {
    const all = this.#shape.sensors.flatMap(({ formula }) => formula?.numbers ?? [])
    if (all.length === 0) return []
    return [
      ...all.map((number, n) => `const n${n} = ${sourceOf(number, this.#names)}`),
      // the sum of `n - n` is zero only if each number is finite
      `if (${numbersToCheck(all)
        .map((n) => `(n${n} - n${n})`)
        .join(' + ')} !== 0) ${refuse}`,
    ]
  }

  readonly #names: FormulaNames = {
    parameter: (name) => `v${this.#parameters.indexOf(name)}`,
    constant: (place) => this.#limit(place),
    number: (place) => `n${place}`,
  }

  #call({ shift: at }: ShapeSensor, position: number, leave: string): string {
    return [
      '{',
      `const state = batch.call(rows.sensorCalls[base + ${position}], ${position}, bits, rawData)`,
      `if (state < 0) ${leave}`,
      `bits |= state << ${at}`,
      '}',
    ].join('\n')
  }

  readonly #limit = (constant: number): string => `nums[d + ${this.#layout.constants + constant}]`
}

/** From this many sensors on, writing when each entered its state costs more than a mispredicted branch. */
const MANY_SENSORS = 8
