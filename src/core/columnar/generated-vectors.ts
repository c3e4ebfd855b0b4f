/** Generates the code with which vectorized batches take messages. */
import type { Generate } from '../engine/executor.ts'
import type { BatchShape } from './batch-shape.ts'
import type { SensorSteps } from './computed-sensors.ts'
import { parametersOf, typesOf, rangeSource, readSource, stepsSource } from './value-source.ts'
import type { VectorCode, VectorCondition } from './row-code.ts'

/** Generates code for a shape in which every sensor compares. */
export function generatedVectors(shape: BatchShape, condition: VectorCondition, generate: Generate): VectorCode {
  const source = new VectorSource(shape)
  return {
    read: generate(['message', 'values', 'at'], source.read()),
    sweep: generate(['limits', 'firing', 'first', 'values', 'at'], source.sweep(condition)),
    statesAt: generate(['limits', 'row', 'values', 'at'], source.statesAt()),
    statesOfAll: generate(['limits', 'set', 'rows', 'values', 'before', 'at', 'states'], source.statesOfAll()),
    lastChange: generate(['limits', 'row', 'values', 'place', 'first', 'nodes', 'changes'], source.lastChange()),
  } as unknown as VectorCode
}

/** The only user input in the source is parameter names, as JSON strings. */
class VectorSource {
  readonly #shape: BatchShape
  readonly #parameters: readonly string[]

  constructor(shape: BatchShape) {
    this.#shape = shape
    this.#parameters = parametersOf(shape)
  }

  /** Generates code that stores the numbers of a message. */
  read(): string {
    const values = this.#parameters.map((name, p) => ({ value: `v${p}`, name }))
    const kept = values.map(({ value }, p) => `values[at + ${p}] = ${value}`)
    return [...readSource(values, typesOf(this.#shape), 'return false'), ...kept, 'return true'].join('\n')
  }

  /** Generates code without a branch per row: whether a row fires is hard for the processor to predict. */
  sweep({ allowed, isNegated }: VectorCondition): string {
    const all = this.#shape.sensors.flatMap(({ steps }, p) => (steps ? [this.#isAllowed(steps, allowed[p] ?? 0)] : []))
    const fires = all.map((one) => `(${one})`).join(' & ')
    return [
      ...this.#limits(),
      ...this.#values('at'),
      'let any = 0',
      'for (let from = 0, w = first; from < l0.length; from += 32, w++) {',
      'const end = Math.min(32, l0.length - from)',
      'let word = 0',
      'for (let bit = 0; bit < end; bit++) {',
      'const row = from + bit',
      `word |= (${isNegated ? `1 - (${fires})` : fires}) << bit`,
      '}',
      'firing[w] = word',
      'any |= word',
      '}',
      'return any',
    ].join('\n')
  }

  /** Generates code for the state bits of one row. */
  statesAt(): string {
    return [...this.#limits(), ...this.#values('at'), `return ${this.#bits(limitOfRow)}`].join('\n')
  }

  /** Generates code for the state bits of all rows in a set, before and after a message. */
  statesOfAll(): string {
    const before = this.#parameters.map((_, p) => `const b${p} = values[before + ${p}]`)
    return [
      ...this.#limits(),
      ...this.#values('at'),
      ...before,
      'for (let from = 0, w = 0; from < rows; from += 32, w++) {',
      'for (let word = set[w]; word !== 0; word &= word - 1) {',
      'const row = from + 31 - Math.clz32(word & -word)',
      'if (row >= rows) break',
      `const after = ${this.#bits(limitOfRow)}`,
      '{',
      ...this.#parameters.map((_, p) => `const v${p} = b${p}`),
      `states[row] = (${this.#bits(limitOfRow)}) << ${this.#shape.bits} | after`,
      '}',
      '}',
      '}',
    ].join('\n')
  }

  lastChange(): string {
    const { constants, bits } = this.#shape
    return [
      ...Array.from({ length: constants }, (_, c) => `const own${c} = limits[${c}][row]`),
      'let now = -1',
      'for (let last = place; last >= first - 1; last--) {',
      `const at = last * ${this.#parameters.length}`,
      ...this.#values('at'),
      `const before = ${this.#bits((constant) => `own${constant}`)}`,
      `if (now !== -1 && (changes[before << ${bits} | now] & nodes) !== 0) return last + 1`,
      'now = before',
      '}',
      'return first - 1',
    ].join('\n')
  }

  #limits(): readonly string[] {
    return Array.from({ length: this.#shape.constants }, (_, c) => `const l${c} = limits[${c}]`)
  }

  #values(at: string): readonly string[] {
    return this.#parameters.map((_, p) => `const v${p} = values[${at} + ${p}]`)
  }

  #bits(limit: (constant: number) => string): string {
    const bits = this.#shape.sensors.map(({ steps, shift }) =>
      steps ? `(${stepsSource(steps, this.#parameters, limit)}) << ${shift}` : '0',
    )
    return bits.join(' | ')
  }

  #isAllowed(steps: SensorSteps, ranges: number): string {
    const value = `v${this.#parameters.indexOf(steps.parameter)}`
    const comparison = COMPARISONS[ranges]
    if (steps.cuts === 1 && comparison !== undefined) return `${value} ${comparison} ${limitOfRow(steps.constant)} | 0`
    return `${ranges} >> (${rangeSource(steps, this.#parameters, limitOfRow)}) & 1`
  }
}

const COMPARISONS: readonly (string | undefined)[] = [undefined, '<', '===', '<=', '>', '!==', '>=']

const limitOfRow = (constant: number): string => `l${constant}[row]`
