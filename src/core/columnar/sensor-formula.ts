/**
 * Compiles sensors that only calculate with numbers (`calculates` of a plug) into formulas of a shape. They read the
 * message and numbers of earlier sensors; numbers that differ from task to task become constants.
 *
 * A formula applies while it reads finite numbers, or booleans and texts where it tests them, and all its results are
 * finite; otherwise the state machine calls the plug, with the same result as always.
 */
import type { NodeProperties } from '../graph/rule-properties.ts'
import type { DirectProperties } from '../language/placeholders/direct.ts'
import {
  type Calculation,
  type Formula,
  type Operator,
  type WrittenFormula,
  kindOf,
  OPERATORS,
} from '../plug/calculation.ts'
import { formulaOf } from '../language/expression/formula.ts'
import { numberOfText } from '#kernel'
import type { Plug } from '../plug/plug.ts'
import { finishProperties } from '../plug/properties.ts'

export type RowFormula =
  | boolean
  | { readonly parameter: string }
  /** tests whether the parameter equals this boolean or text */
  | { readonly parameter: string; readonly is: boolean | string }
  /** index among the constants of a task */
  | { readonly constant: number }
  /** a number that another sensor calculated: index among all numbers calculated for a message */
  | { readonly number: number }
  | { readonly op: Operator; readonly of: readonly RowFormula[] }

/** A calculation without its constants. */
export interface SensorFormula {
  /** index of its first number among all numbers calculated for a message */
  readonly first: number
  /** its numbers, in order, followed by numbers that must be finite because a decision depends on them */
  readonly numbers: readonly RowFormula[]
  /** state indexes by formula; the first formula that holds decides */
  readonly states: readonly (readonly [RowFormula, number])[]
  readonly otherwise: number
  /** properties that read the message: if one cannot be a number, the sensor fails without calling its plug */
  readonly properties: readonly MessageProperty[]
}

export interface MessageProperty {
  readonly parameter: string
  /** whether null fails too, because the property is mandatory and has no default */
  readonly isNeeded: boolean
}

/** Indexes of the numbers that sensors calculate, by label and name. */
export type Calculated = ReadonlyMap<string, ReadonlyMap<string, number>>

export interface FoundFormula {
  readonly formula: SensorFormula
  readonly constants: readonly number[]
  readonly names: ReadonlyMap<string, number>
}

const MAX_PARTS = 200
const HIDING: ReadonlySet<string> = new Set([...OPERATORS.order, ...OPERATORS.many, '/', '%', 'sign'])
const NUMBERS: ReadonlySet<string> = new Set(['double', 'float'])

/**
 * `first` and `constant`: how many numbers and constants the earlier sensors use. Returns undefined when the plug must
 * be called.
 */
export function sensorFormula(
  own: NodeProperties,
  states: readonly string[],
  calculated: Calculated,
  first: number,
  constant: number,
): FoundFormula | undefined {
  const direct = propertiesOf(own)
  if (direct === undefined) return undefined
  const calculation = calculationOf(own, direct.fixed)
  if (calculation === undefined) return undefined
  const resolver = new Resolver(direct, calculated, first, constant)
  for (const [name, written] of Object.entries(calculation.rawData ?? {})) {
    const formula = resolver.written(written, 'number')
    if (formula === undefined) return undefined
    resolver.names.set(name, resolver.add(formula))
  }
  const found: (readonly [RowFormula, number])[] = []
  for (const [state, written] of Object.entries(calculation.states ?? {})) {
    const formula = resolver.written(written as WrittenFormula, 'truth')
    const index = states.indexOf(state)
    // Numeric names come first in an object, so their position is lost.
    if (formula === undefined || index === -1 || /^\d+$/.test(state)) return undefined
    found.push([formula, index])
  }
  const otherwise = states.indexOf(calculation.otherwise)
  if (otherwise === -1 || !resolver.readsAll()) return undefined
  const formula = {
    first,
    numbers: resolver.numbers,
    states: found,
    otherwise,
    properties: messageProperties(own, direct),
  }
  return { formula, constants: resolver.constants, names: resolver.names }
}

function messageProperties({ plug }: NodeProperties, { reads }: DirectProperties): readonly MessageProperty[] {
  return reads.flatMap((read) => {
    const { mandatory, defaultValue } = plug.input[read.property] ?? {}
    return read.from === 'message'
      ? [{ parameter: read.key, isNeeded: mandatory === true && defaultValue === undefined }]
      : []
  })
}

/**
 * Returns whether a sensor fails because this property value is not a number. Returns false for values that may convert
 * to one.
 */
export function failsWith({ isNeeded }: MessageProperty, value: unknown): boolean {
  if (value === undefined) return false
  return value === null ? isNeeded : !Number.isFinite(value) && numberOfText(value) === undefined
}

function propertiesOf({ plug, compiled, constant }: NodeProperties): DirectProperties | undefined {
  if (plug.calculates === undefined) return undefined
  if (constant !== undefined) return { fixed: constant, reads: [] }
  const { direct } = compiled
  if (direct === undefined || !isFinishedButReads(plug, direct)) return undefined
  const areNumbers = direct.reads.every(({ property }) => {
    const field = plug.input[property]
    return field !== undefined && NUMBERS.has(field.type) && field.format === undefined
  })
  return areNumbers ? direct : undefined
}

/** Returns whether finishing the properties would leave the fixed ones as they are, and add none. */
function isFinishedButReads(plug: Plug, { fixed, reads }: DirectProperties): boolean {
  const { properties } = finishProperties(plug, fixed, new Set(reads.map(({ property }) => property)))
  if (properties === undefined) return false
  const keys = Object.keys(properties)
  return keys.length === Object.keys(fixed).length && keys.every((key) => properties[key] === fixed[key])
}

function calculationOf(
  { plug: { calculates } }: NodeProperties,
  fixed: Readonly<Record<string, unknown>>,
): Calculation | undefined {
  return typeof calculates === 'function' ? calculates(fixed) : calculates
}

class Resolver {
  readonly constants: number[] = []
  readonly names = new Map<string, number>()
  readonly #direct: DirectProperties
  readonly #calculated: Calculated
  readonly #first: number
  readonly #constant: number
  readonly numbers: RowFormula[] = []
  readonly #isRead = new Set<string>()
  #parts = 0

  constructor(direct: DirectProperties, calculated: Calculated, first: number, constant: number) {
    this.#direct = direct
    this.#calculated = calculated
    this.#first = first
    this.#constant = constant
  }

  written(written: WrittenFormula, kind: 'number' | 'truth'): RowFormula | undefined {
    const formula = typeof written === 'string' ? formulaOf(written, 'properties') : written
    return formula !== undefined && kindOf(formula) === kind ? this.#resolved(formula) : undefined
  }

  /** Adds a number that must be finite; returns its index. */
  add(formula: RowFormula): number {
    return this.#first + this.numbers.push(formula) - 1
  }

  #finite(formula: RowFormula): RowFormula {
    return Number.isFinite(this.#most(formula)) ? formula : { number: this.add(formula) }
  }

  #most(formula: RowFormula): number {
    if (typeof formula === 'boolean' || 'is' in formula) return 1
    if ('parameter' in formula) return Number.MAX_SAFE_INTEGER
    if ('constant' in formula) return Math.abs(this.constants[formula.constant - this.#constant] ?? 0)
    if ('number' in formula) {
      const own = this.numbers[formula.number - this.#first]
      return own === undefined ? Number.MAX_VALUE : Math.min(Number.MAX_VALUE, this.#most(own))
    }
    const { op, of } = formula
    const [first = 0, second = 0, third = 0] = of.map((one) => this.#most(one))
    const [, divisor] = of
    const isByConstant = divisor !== undefined && typeof divisor === 'object' && 'constant' in divisor && second > 0
    switch (op) {
      case '+':
      case '-':
        return first + second
      case '*':
        return first * second
      case '/':
        return isByConstant ? first / second : Number.POSITIVE_INFINITY
      case '%':
        return isByConstant ? second : Number.POSITIVE_INFINITY
      case 'sqrt':
        return Number.POSITIVE_INFINITY
      case '?':
        return Math.max(second, third)
      default:
        return Math.max(first, second) + 1
    }
  }

  /** Returns whether the formula reads all properties that change: others would need the general check. */
  readsAll(): boolean {
    return this.#direct.reads.every(({ property }) => this.#isRead.has(property))
  }

  #resolved(formula: Formula): RowFormula | undefined {
    if (++this.#parts > MAX_PARTS) return undefined
    if (typeof formula === 'number') return this.#number(formula)
    if (typeof formula === 'boolean') return formula
    if ('op' in formula) {
      const of = formula.of.map((one) => this.#resolved(one))
      if (!of.every((one) => one !== undefined)) return undefined
      return { op: formula.op, of: HIDING.has(formula.op) ? of.map((one) => this.#finite(one)) : of }
    }
    const { name } = formula
    if ('is' in formula) return name === '__proto__' ? undefined : { parameter: name, is: formula.is }
    if (formula.from === 'streamdata') return parameter(name)
    if (formula.from === 'nodes') return numberAt(this.#calculated.get(formula.node)?.get(name))
    return formula.from === 'rawData' ? numberAt(this.names.get(name)) : this.#property(name)
  }

  #property(name: string): RowFormula | undefined {
    const read = this.#direct.reads.find(({ property }) => property === name)
    if (read === undefined)
      return this.#number(Object.hasOwn(this.#direct.fixed, name) ? this.#direct.fixed[name] : undefined)
    this.#isRead.add(name)
    return read.from === 'message' ? parameter(read.key) : numberAt(this.#calculated.get(read.node)?.get(read.key))
  }

  #number(value: unknown): RowFormula | undefined {
    if (typeof value !== 'number' || !Number.isFinite(value)) return undefined
    return { constant: this.#constant + this.constants.push(value) - 1 }
  }
}

function parameter(name: string): RowFormula | undefined {
  return name === '__proto__' ? undefined : { parameter: name }
}

function numberAt(place: number | undefined): RowFormula | undefined {
  return place === undefined ? undefined : { number: place }
}

/** The type that a message value must have for a calculation. */
export type ParameterType = 'number' | 'boolean' | 'string'

/** Returns the message fields that a calculation reads, with their required types. */
export function parametersIn(formula: SensorFormula): readonly (readonly [string, ParameterType])[] {
  const found: (readonly [string, ParameterType])[] = []
  eachPart(formula, (part) => {
    if ('parameter' in part) found.push([part.parameter, 'is' in part ? typeOf(part.is) : 'number'])
  })
  return found
}

/** Returns the indexes of the calculated numbers that a calculation reads, including its own. */
export function numbersReadBy(formula: SensorFormula): ReadonlySet<number> {
  const found = new Set<number>()
  eachPart(formula, (part) => {
    if ('number' in part) found.add(part.number)
  })
  return found
}

function eachPart({ numbers, states }: SensorFormula, look: (part: Exclude<RowFormula, boolean>) => void): void {
  const walk = (formula: RowFormula): void => {
    if (typeof formula !== 'object') return
    look(formula)
    if ('op' in formula) for (const one of formula.of) walk(one)
  }
  for (const formula of [...numbers, ...states.map(([formula]) => formula)]) walk(formula)
}

function typeOf(value: boolean | string): ParameterType {
  return typeof value === 'boolean' ? 'boolean' : 'string'
}
