/** Compiles paths in formulas, which address raw data and may filter it. */
import { AppError, dottedName, isEqual, numberIn, ofData, ownValue, type PlugContext } from '#plug'

export type Reader = (context: Pick<PlugContext, 'lookup' | 'streamValue'>) => unknown

export interface CompiledPath {
  readonly read: Reader
  /** the message value that the path reads; undefined: the path reads a node */
  readonly name: string | undefined
  readonly node: string | undefined
}

type Step = (value: unknown) => unknown

const NAME = /^\.?([^.[\]<>()\s'"]+)/
const INDEX = /^\[(\d{1,9})\]/
const LAST = /^\[\(@\.length\s*-\s*(\d{1,9})\)\]/
const FILTER = /^\[\?\(@\.([\w$.-]{1,100})\s*(==|!=|<=|>=|<|>)\s*('[^']{0,200}'|"[^"]{0,200}"|[-\w.+]{1,40})\)\]/
const ENDING = /^\[(count|max|min|stringify|\*)\]/
const MAX_STEPS = 32

/** In brackets: an index, `(@.length-1)`, a filter, `*`, and at the end `count`, `max`, `min` or `stringify`. */
export function compilePath(text: string): CompiledPath {
  const source = text.trim()
  const dotted = dottedName(source)
  if (dotted !== undefined) {
    throw new AppError('VALIDATION', `"<${text}>" has dots in a name; use \${streamdata["${dotted}"]} instead`)
  }
  const node = NAME.exec(source)?.[1]
  const field = node === undefined ? undefined : NAME.exec(source.slice(node.length))?.[1]
  if (node === undefined || field === undefined || source[node.length] !== '.') throw wrong(text, source)
  const steps = readSteps(text, source.slice(node.length + 1 + field.length))
  const parts = field === 'state' ? ['nodes', node, 'state'] : ['nodes', node, 'rawData', field]
  const name = node === 'GLOBAL' ? field : undefined
  return {
    name,
    node: name === undefined ? node : undefined,
    read(context) {
      const start = name === undefined ? context.lookup(parts) : context.streamValue(name)
      return steps.reduce((value, step) => step(value), start)
    },
  }
}

function readSteps(text: string, source: string): readonly Step[] {
  const steps: Step[] = []
  let rest = source
  while (rest !== '') {
    const [match, step] = nextStep(rest) ?? []
    if (match === undefined || step === undefined || steps.length >= MAX_STEPS) throw wrong(text, rest)
    steps.push(step)
    rest = rest.slice(match.length)
  }
  return steps
}

function nextStep(rest: string): readonly [string, Step] | undefined {
  const name = rest.startsWith('.') ? NAME.exec(rest) : null
  if (name) return [name[0], field(name[1] ?? '')]
  const index = INDEX.exec(rest)
  if (index) return [index[0], field(index[1] ?? '')]
  const last = LAST.exec(rest)
  if (last)
    return [last[0], (value) => (Array.isArray(value) ? value[value.length - Number(last[1])] : undefined) as unknown]
  const filter = FILTER.exec(rest)
  if (filter) return [filter[0], matching(filter[1] ?? '', filter[2] ?? '', literal(filter[3] ?? ''))]
  const ending = ENDING.exec(rest)
  return ending ? [ending[0], endingStep(ending[1] ?? '')] : undefined
}

function field(key: string): Step {
  return (value) => (value instanceof Matches ? value.each((item) => ownValue(item, key)) : ownValue(value, key))
}

function matching(path: string, operator: string, wanted: unknown): Step {
  const keys = path.split('.')
  return (value) => {
    const items: readonly unknown[] = value instanceof Matches ? value.items : Array.isArray(value) ? value : []
    return new Matches(items.filter((item) => compare(keys.reduce(ownValue, item), operator, wanted)))
  }
}

function endingStep(name: string): Step {
  return (value) => {
    const items = itemsOf(value)
    if (name === '*') return new Matches(items)
    if (name === 'stringify') return JSON.stringify(value instanceof Matches ? value.items : value)
    if (name === 'count') return items.length
    const numbers = items.map((item) => numberIn(ofData(item))).filter((number) => number !== undefined)
    if (numbers.length === 0) return undefined
    return numbers.reduce((best, one) => (name === 'max' ? Math.max(best, one) : Math.min(best, one)))
  }
}

class Matches {
  readonly items: readonly unknown[]

  constructor(items: readonly unknown[]) {
    this.items = items
  }

  each(read: (item: unknown) => unknown): Matches {
    return new Matches(this.items.map(read).filter((item) => item !== undefined))
  }
}

export function single(value: unknown): unknown {
  return value instanceof Matches ? value.items[0] : value
}

function itemsOf(value: unknown): readonly unknown[] {
  if (value instanceof Matches) return value.items
  return Array.isArray(value) ? (value as readonly unknown[]) : value === undefined ? [] : [value]
}

function literal(text: string): unknown {
  if (text.startsWith("'") || text.startsWith('"')) return text.slice(1, -1)
  if (text === 'true' || text === 'false') return text === 'true'
  return numberIn(text) ?? text
}

function compare(value: unknown, operator: string, wanted: unknown): boolean {
  if (operator === '==') return isEqual(value, wanted)
  if (operator === '!=') return !isEqual(value, wanted)
  if (typeof value !== typeof wanted || (typeof value !== 'number' && typeof value !== 'string')) return false
  const [a, b] = [value as number, wanted as number] // texts compare as texts despite the cast
  if (operator === '<') return a < b
  if (operator === '<=') return a <= b
  return operator === '>' ? a > b : a >= b
}

function wrong(text: string, rest: string): AppError {
  return new AppError(
    'VALIDATION',
    `"<${text}>" is malformed at "${rest.slice(0, 30)}"; use <node.field>, <node.list[0].x>, <node.state> or <GLOBAL.field>`,
  )
}
