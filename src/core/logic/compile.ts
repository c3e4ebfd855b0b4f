import type { Issue } from '../../kernel/errors.ts'
import { parseText, wholeBinding } from '../placeholders/binding.ts'
import { nearest } from '../placeholders/nearest.ts'
import type { Fault } from '../placeholders/path.ts'
import { LOOPS, reduceNode } from './loops.ts'
import { literalKeys, missingNode, missingSomeNode } from './missing.ts'
import { OPERATORS } from './operators.ts'
import type { LogicNode, LogicPath } from './run.ts'
import { itemNode, itemPath, pathKey, readNode, topPath, withParts } from './variable.ts'

/** Logic that nests deeper, or has more parts, is refused. */
const MAX_LOGIC_DEPTH = 64
const MAX_LOGIC_PARTS = 10_000

const NOTHING: LogicNode = () => null
const SPECIAL = ['var', 'missing', 'missing_some', 'reduce']

/** Where a piece of logic stands. */
interface Place {
  /** JSON pointer */
  readonly pointer: string
  readonly depth: number
  /** inside map, filter, reduce, all, some or none */
  readonly inLoop: boolean
  /** an operand that must have a value */
  readonly needed: boolean
}

/** Operators over numbers, for which null is 0 and what is missing would be 0 too. */
const NUMERIC: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '+', '-', '*', '/', '%', 'min', 'max'])

/** Turns logic into functions and gathers every problem on the way. */
export class LogicCompiler {
  readonly issues: Issue[] = []
  readonly paths = new Map<string, LogicPath>()
  private readonly constants = new Map<LogicNode, unknown>()
  private readonly strict: boolean
  private parts = 0

  /** `strict`: numbers that are missing fail the evaluation */
  constructor(strict = false) {
    this.strict = strict
  }

  compile(logic: unknown, place: Place = { pointer: '', depth: 0, inLoop: false, needed: false }): LogicNode {
    if (++this.parts > MAX_LOGIC_PARTS) {
      if (this.parts === MAX_LOGIC_PARTS + 1) {
        this.issue(place.pointer, `the logic has more than ${MAX_LOGIC_PARTS} parts`, 'use less logic')
      }
      return NOTHING
    }
    if (place.depth > MAX_LOGIC_DEPTH) {
      return this.issue(place.pointer, `the logic nests deeper than ${MAX_LOGIC_DEPTH} levels`, 'use flatter logic')
    }
    if (typeof logic === 'string') return this.text(logic, place)
    if (typeof logic !== 'object' || logic === null) return this.constant(logic)
    return Array.isArray(logic) ? this.list(logic, place) : this.operation(logic, place)
  }

  private list(items: readonly unknown[], place: Place): LogicNode {
    const nodes = this.all(items, place)
    if (nodes.every((node) => this.constants.has(node))) {
      return this.constant(nodes.map((node) => this.constants.get(node)))
    }
    return (run, item) => nodes.map((node) => node(run, item))
  }

  private operation(logic: object, place: Place): LogicNode {
    const entries: [string, unknown][] = Object.entries(logic)
    const [entry, second] = entries
    if (!entry) return this.constant(logic)
    if (second) {
      const names = entries.map(([name]) => `"${name.slice(0, 30)}"`).slice(0, 5)
      return this.issue(
        place.pointer,
        `an object with ${names.join(', ')} is no operation`,
        'give each operation an object of its own',
      )
    }
    const [name, given] = entry
    const listed = Array.isArray(given)
    const args: readonly unknown[] = listed ? given : [given]
    const needed = this.strict && NUMERIC.has(name)
    const inside: Place = { ...place, needed, pointer: `${place.pointer}/${escapeStep(name)}`, depth: place.depth + 1 }
    switch (name) {
      case 'var':
        return this.variable(args, { ...inside, needed: place.needed })
      case 'missing':
        return missingNode(this.all(args, inside, listed), this.keyReaders(args, inside))
      case 'missing_some':
        return this.missingSome(args, inside)
      case 'reduce':
        return this.reduce(args, inside)
    }
    const loop = LOOPS.get(name)
    if (loop) {
      if (!this.arity(name, args, [2, 2], inside)) return NOTHING
      return loop(this.argument(args, 0, inside), this.argument(args, 1, { ...inside, inLoop: true }))
    }
    const operator = OPERATORS.get(name)
    if (!operator) return this.unknown(name, place)
    const chooses = name === 'if' || name === '?:'
    const nodes = chooses ? this.choice(args, { ...inside, needed: place.needed }) : this.all(args, inside, listed)
    return this.arity(name, args, operator.arity, inside)
      ? operator.build(nodes, (node) => this.constants.get(node))
      : NOTHING
  }

  /** Of the arguments of `if` only the results are what the operator around it works on. */
  private choice(args: readonly unknown[], place: Place): LogicNode[] {
    return args.map((_, index) => {
      const isTest = index % 2 === 0 && index + 1 < args.length
      return this.argument(args, index, isTest ? { ...place, needed: false } : place)
    })
  }

  private variable(args: readonly unknown[], place: Place): LogicNode {
    const [given, ...rest] = args
    if (!this.arity('var', args, [0, 2], place)) return NOTHING
    if (given !== undefined && given !== null && typeof given !== 'string' && typeof given !== 'number') {
      return this.issue(
        place.pointer,
        'the path of a var is computed',
        'write the path out; use if to choose between several',
      )
    }
    const otherwise = rest.length > 0 ? this.argument(args, 1, place) : undefined
    const name = given === undefined || given === null ? '' : String(given)
    return this.reader(name, otherwise, place) ?? NOTHING
  }

  private reader(name: string, otherwise: LogicNode | undefined, place: Place, quiet = false): LogicNode | undefined {
    if (place.inLoop) {
      const result = itemPath(name)
      if ('segments' in result) return itemNode(result.segments, otherwise, place.needed)
      if (!quiet) this.fault(place.pointer, result.fault)
      return undefined
    }
    const result = topPath(name)
    if ('path' in result) return readNode(this.remember(result.path), otherwise, place.needed)
    if (!quiet) this.fault(place.pointer, result.fault)
    return undefined
  }

  private keyReaders(args: readonly unknown[], place: Place): ReadonlyMap<string, LogicNode> {
    const readers = new Map<string, LogicNode>()
    const listed = new Set(args.flat().map((arg) => (typeof arg === 'number' ? String(arg) : arg)))
    for (const key of literalKeys(args)) {
      // in computed arguments a text may be something else than a key
      const reader = this.reader(key, undefined, place, !listed.has(key))
      if (reader) readers.set(key, reader)
    }
    return readers
  }

  private missingSome(args: readonly unknown[], place: Place): LogicNode {
    if (!this.arity('missing_some', args, [2, 2], place)) return NOTHING
    const readers = this.keyReaders([args[1]], place)
    return missingSomeNode(this.argument(args, 0, place), this.argument(args, 1, place), readers)
  }

  private reduce(args: readonly unknown[], place: Place): LogicNode {
    if (!this.arity('reduce', args, [2, 3], place)) return NOTHING
    const initial = args.length > 2 ? this.argument(args, 2, place) : undefined
    return reduceNode(this.argument(args, 0, place), this.argument(args, 1, { ...place, inLoop: true }), initial)
  }

  private text(text: string, place: Place): LogicNode {
    if (!text.includes('${')) return this.constant(text)
    const parsed = parseText(text)
    const binding = wholeBinding(parsed)
    if (binding && !binding.json && parsed.faults.length === 0)
      return readNode(this.remember(withParts(binding.path, binding.optional)), undefined, place.needed)
    for (const fault of parsed.faults) this.fault(place.pointer, fault)
    if (parsed.faults.length > 0) return NOTHING
    return this.issue(
      place.pointer,
      `"${text.slice(0, 60)}" mixes text and placeholders`,
      'make one ${path} the whole text, or put the parts together with cat and var',
    )
  }

  private unknown(name: string, place: Place): LogicNode {
    const allowed = [...SPECIAL, ...OPERATORS.keys(), ...LOOPS.keys()]
    const close = nearest(name, allowed)
    const list = `allowed are ${allowed.join(' ')}`
    return this.issue(
      place.pointer,
      `the operator "${name.slice(0, 40)}" is not allowed`,
      close === undefined ? list : `did you mean "${close}"? ${list}`,
    )
  }

  private arity(name: string, args: readonly unknown[], [min, max]: readonly [number, number], place: Place): boolean {
    if (args.length >= min && args.length <= max) return true
    const wanted = min === max ? `${min}` : max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
    this.issue(place.pointer, `"${name}" has ${args.length} arguments`, `give it ${wanted}, as a list`)
    return false
  }

  private all(items: readonly unknown[], place: Place, listed = true): LogicNode[] {
    if (!listed) return items.map((item) => this.compile(item, place))
    return items.map((_, index) => this.argument(items, index, place))
  }

  private argument(args: readonly unknown[], index: number, place: Place): LogicNode {
    return this.compile(args[index], { ...place, pointer: `${place.pointer}/${index}`, depth: place.depth + 1 })
  }

  private remember(path: LogicPath): LogicPath {
    const key = pathKey(path)
    const known = this.paths.get(key) ?? path
    this.paths.set(key, known)
    return known
  }

  private constant(value: unknown): LogicNode {
    const node = () => value
    this.constants.set(node, value)
    return node
  }

  private fault(pointer: string, { message, suggestion }: Fault): LogicNode {
    return this.issue(pointer, message, suggestion)
  }

  private issue(path: string, message: string, suggestion: string): LogicNode {
    this.issues.push({ path, message, suggestion, severity: 'ERROR', type: 'LOGIC' })
    return NOTHING
  }
}

function escapeStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
