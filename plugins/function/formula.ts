/**
 * Compiles the formulas of the sensor `Function`, and evaluates them over data, its history and the time between runs.
 */
import {
  AppError,
  type CodeReads,
  compileExpression,
  compileNumberCode,
  hasNewData,
  numberIn,
  type NumberReading,
  ofData,
  type PlugContext,
  readerOf,
  readsOf,
  sampleTime,
  type Sandbox,
  slackOf,
} from '#plug'
import { compileOperand, type Kept, type Operand } from './operand.ts'

/** Memory of a Function node: plain JSON that changes in place. Discarded when the formula changes. */
export interface Memory {
  readonly formula: string
  /** time of the last run with a new value, epoch ms, and the seconds between the last two */
  last: number | null
  dt?: number | null
  readonly operands: Kept[]
}

type Context = Pick<PlugContext, 'lookup' | 'streamValue' | 'isNew' | 'isNewOf' | 'now' | 'random' | 'log'>

interface Run {
  readonly context: Context
  readonly memory: Memory
  readonly values: readonly unknown[]
  /** seconds between the last two runs with new values; null in the first */
  readonly dt: number | null
  early: boolean
}

type Term = (run: Run) => number

export interface Formula extends CodeReads {
  /**
   * undefined while more runs are needed; values more than `lateness` ms late are not recorded. JavaScript may give a
   * promise.
   */
  evaluate(context: Context, memory: Memory, lateness: number): NumberReading | undefined | Promise<NumberReading>
  newMemory(): Memory
}

const FUNCTIONS = 'abs acos asin atan cbrt ceil cos cosh exp floor log log10 log2 sin sinh sqrt tan tanh'.split(' ')
const EARTH_RADIUS_KM = 6371.0088
const LATITUDE = ['latitude', 'lat'] as const
const LONGITUDE = ['longitude', 'lon', 'lng'] as const
const MAX_LENGTH = 10_000
const MAX_DEPTH = 100
const NUMBER = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
const NAME = /[A-Za-z_][\w]*/y
const LAG = /\s*\[\s*-\s*(\d{1,6})\s*\]/y

/** Without operands it may also be JavaScript. Throws `VALIDATION`. */
export function compileFormula(text: string, sandbox: Sandbox): Formula {
  const reader = new FormulaReader(text)
  let term: Term
  try {
    term = reader.read()
  } catch (error) {
    if (text.includes('<')) throw error
    return asCode(text, error, sandbox)
  }
  const { operands } = reader
  const reads: CodeReads = { names: [...reader.names], nodes: [...reader.nodes] }
  return {
    ...reads,
    newMemory: () => ({ formula: text, last: null, operands: operands.map(() => ({})) }),
    evaluate(context, memory, lateness) {
      const { now } = context
      const values = operands.map(({ read }) => read(context))
      const measured = sampleTime(context)
      operands.forEach((operand, i) => {
        const kept = memory.operands[i] ?? {}
        const { name, node } = operand
        const isNew = name === undefined ? node === undefined || context.isNewOf(node) : context.isNew(name)
        if (!isNew) operand.goOn?.(kept, now)
        else operand.record(kept, values[i], { at: name === undefined ? now : measured, now, lateness })
      })
      if (hasNewData(context, reads)) {
        memory.dt = memory.last === null ? null : (now - memory.last) / 1000
        memory.last = now
      }
      const dt = memory.dt ?? null
      const run: Run = { context, memory, values, dt, early: false }
      const value = term(run)
      return run.early ? undefined : { number: value, slack: slackOf(reader.largest(term)?.(run) ?? 0) }
    },
  }
}

function asCode(text: string, otherwise: unknown, sandbox: Sandbox): Formula {
  try {
    const { evaluate, uses } = compileNumberCode(text, sandbox)
    return {
      ...readsOf(uses),
      newMemory: () => ({ formula: text, last: null, operands: [] }),
      evaluate: (context) => evaluate(readerOf(context), context.now, context),
    }
  } catch {
    throw otherwise
  }
}

class FormulaReader {
  readonly operands: Operand[] = []
  readonly names = new Set<string>()
  readonly nodes = new Set<string>()
  readonly #largest = new Map<Term, Term>()
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
    if (text.length > MAX_LENGTH) throw this.#wrong(`it exceeds ${MAX_LENGTH} characters`)
  }

  read(): Term {
    const term = this.#sum()
    this.#space()
    if (this.#at < this.#text.length)
      throw this.#wrong(`"${this.#text.slice(this.#at, this.#at + 20)}" is not expected here`)
    return term
  }

  largest(term: Term): Term | undefined {
    return this.#largest.get(term)
  }

  #sum(): Term {
    if (++this.#depth > MAX_DEPTH) throw this.#wrong('it nests too deep')
    let left = this.#product()
    for (;;) {
      const [a, operator] = [left, this.#take('+-')]
      if (operator === undefined) break
      const b = this.#product()
      left = operator === '+' ? (run) => a(run) + b(run) : (run) => a(run) - b(run)
      const [first, second] = [this.largest(a) ?? a, this.largest(b) ?? b]
      this.#largest.set(left, (run) => Math.max(Math.abs(first(run)), Math.abs(second(run))))
    }
    this.#depth--
    return left
  }

  #product(): Term {
    let left = this.#unary()
    for (;;) {
      const [a, operator] = [left, this.#take('*/%')]
      if (operator === undefined) return left
      const b = this.#unary()
      if (operator === '*') left = (run) => a(run) * b(run)
      else left = operator === '/' ? (run) => a(run) / b(run) : (run) => a(run) % b(run)
    }
  }

  #unary(): Term {
    const sign = this.#take('+-')
    if (sign === undefined) return this.#power()
    if (++this.#depth > MAX_DEPTH) throw this.#wrong('it nests too deep')
    const of = this.#unary()
    this.#depth--
    return sign === '-' ? (run) => -of(run) : of
  }

  #power(): Term {
    const base = this.#atom()
    if (this.#take('^') === undefined) return base
    const exponent = this.#unary()
    return (run) => base(run) ** exponent(run)
  }

  #atom(): Term {
    this.#space()
    if (this.#take('(') !== undefined) {
      const inner = this.#sum()
      this.#expect(')')
      return inner
    }
    if (this.#text[this.#at] === '<') return this.#operand()
    if (this.#text[this.#at] === '$') return this.#placeholder()
    const number = this.#match(NUMBER)
    if (number) {
      const value = Number(number[0])
      return () => value
    }
    const name = this.#match(NAME)?.[0]
    if (name === undefined) throw this.#wrong('a number, a function or <node.field> is expected here')
    if (name === 'dt') return dt
    if (name === 'distance') return this.#distance()
    if (!FUNCTIONS.includes(name)) {
      throw this.#wrong(
        `"${name}" is not a function; use dt, distance, ${FUNCTIONS.join(', ')}, or <node.field> for data`,
      )
    }
    const apply = Math[name as 'abs'] // each of FUNCTIONS maps a number to a number
    this.#expect('(')
    const argument = this.#sum()
    this.#expect(')')
    return (run) => apply(argument(run))
  }

  #operand(): Term {
    const end = this.#text.indexOf('>', this.#at)
    if (end === -1) throw this.#wrong('< is not closed; use &gt; for a > inside a filter')
    const inner = this.#text
      .slice(this.#at + 1, end)
      .replaceAll(/&gt;?/g, '>')
      .replaceAll(/&lt;?/g, '<')
    this.#at = end + 1
    const lag = Number(this.#match(LAG)?.[1] ?? 0)
    const operand = compileOperand(inner, lag)
    const index = this.operands.push(operand) - 1
    if (operand.name !== undefined) this.names.add(operand.name)
    if (operand.node !== undefined) this.nodes.add(operand.node)
    return (run) => {
      const value = operand.value(run.memory.operands[index] ?? {}, run.values[index])
      if (value === undefined) run.early = true
      return value ?? 0
    }
  }

  #placeholder(): Term {
    const end = this.#text.indexOf('}', this.#at)
    if (end === -1) throw this.#wrong('the placeholder is not closed; add }')
    const text = this.#text.slice(this.#at, end + 1)
    this.#at = end + 1
    const { evaluate, uses } = compileExpression(text)
    const { names, nodes } = readsOf(uses)
    for (const name of names) this.names.add(name)
    for (const label of nodes) this.nodes.add(label)
    return ({ context }) => {
      const value = numberIn(evaluate(readerOf(context), context.now))
      if (value !== undefined) return value
      throw new AppError('BINDING', `${text} is not a number, so the result is unknown`)
    }
  }

  #distance(): Term {
    this.#expect('(')
    const first = this.#node()
    this.#expect(',')
    const second = this.#node()
    this.#expect(')')
    if (first === 'GLOBAL' || second === 'GLOBAL') for (const name of [...LATITUDE, ...LONGITUDE]) this.names.add(name)
    for (const label of [first, second]) if (label !== 'GLOBAL') this.nodes.add(label)
    return ({ context }) => distanceKm(valuesOf(first, context), valuesOf(second, context))
  }

  #node(): string {
    this.#space()
    const name = this.#match(NAME)?.[0]
    if (name === undefined) throw this.#wrong('the label of a node is expected here')
    return name
  }

  #take(characters: string): string | undefined {
    this.#space()
    const character = this.#text[this.#at]
    if (character === undefined || !characters.includes(character)) return undefined
    this.#at++
    return character
  }

  #expect(character: string): void {
    if (this.#take(character) === undefined) throw this.#wrong(`"${character}" is expected here`)
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at += match[0].length
    return match
  }

  #space(): void {
    while (/\s/.test(this.#text.charAt(this.#at))) this.#at++
  }

  #wrong(what: string): AppError {
    return new AppError('VALIDATION', `the formula is not valid at column ${this.#at + 1}: ${what}`)
  }
}

function dt(run: Run): number {
  if (run.dt === null) run.early = true
  return run.dt ?? 1
}

interface NodeValues {
  readonly latitude: number
  readonly longitude: number
}

function valuesOf(node: string, context: Context): NodeValues {
  const read = (...names: readonly string[]): number => {
    for (const name of names) {
      const found =
        node === 'GLOBAL'
          ? context.streamValue(name)
          : (context.lookup(['nodes', node, 'rawData', name]) ??
            context.lookup(['nodes', node, 'rawData', 'stream', name]))
      const number = numberIn(ofData(found))
      if (number !== undefined) return number
    }
    throw new AppError('BINDING', `node "${node}" lacks ${names[0]}, so the distance is unknown`)
  }
  return { latitude: read(...LATITUDE), longitude: read(...LONGITUDE) }
}

function distanceKm(a: NodeValues, b: NodeValues): number {
  const radians = Math.PI / 180
  const dLat = (b.latitude - a.latitude) * radians
  const dLon = (b.longitude - a.longitude) * radians
  const h =
    Math.sin(dLat / 2) ** 2 + Math.cos(a.latitude * radians) * Math.cos(b.latitude * radians) * Math.sin(dLon / 2) ** 2
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(h)))
}
