/** Checks logic, and compiles it both for the library and to functions. */
import { at, Issues, nearest, ofData } from '#kernel'
import { parseText, wholeBinding } from '../placeholders/binding.ts'
import type { Fault } from '../placeholders/path.ts'
import { compiled, firstThat, isTruthy, operationOf, sizedOperation, type Operand } from './comparisons.ts'
import { below, Guarded, guarded, Library, type Step } from './library.ts'
import type { LogicNode, LogicPath, Run } from './run.ts'
import { itemPath, pathKey, topPath, withParts } from './variable.ts'

const MAX_LOGIC_DEPTH = 64
const MAX_LOGIC_PARTS = 10_000

/** Maximum number of characters of a piece of logic in messages. */
const MAX_LABEL = 60

const MANY = Number.POSITIVE_INFINITY
type Arity = readonly [min: number, max: number]
const ARITIES: ReadonlyMap<string, Arity> = new Map([
  ...arity('var', 0, 2),
  ...arity('missing min max + if ?: cat merge', 0, MANY),
  ...arity('missing_some == === != !== > >= / % in map filter all some none', 2, 2),
  ...arity('< <= substr reduce', 2, 3),
  ...arity('! !!', 1, 1),
  ...arity('-', 1, 2),
  ...arity('* and or', 1, MANY),
])

interface Piece {
  readonly logic: unknown
  /** the logic as a function, where worthwhile; never needed in loops */
  readonly node?: LogicNode | undefined
  /** only for a sum or a difference: the logic that also returns the largest operand */
  readonly sized?: { readonly logic: unknown; readonly node: LogicNode } | undefined
  readonly label?: string
}

type Reader = (run: Run, scope: unknown) => unknown

const NOTHING: Piece = { logic: null }

interface Position {
  readonly pointer: string
  readonly depth: number
  readonly inLoop: boolean
}

/** Loops whose body decides about an item. */
const DECIDING_LOOPS: ReadonlySet<string> = new Set(['filter', 'all', 'some', 'none'])
/** Operators that compare sums and differences with another operand. */
const COMPARING: ReadonlySet<string> = new Set(['<', '<=', '>', '>=', '==', '===', '!=', '!==', '+', '-'])

export class LogicCompiler {
  readonly issues = new Issues('LOGIC')
  readonly paths = new Map<string, LogicPath>()
  private readonly library = new Library()
  private parts = 0

  compile(logic: unknown): LogicNode {
    return this.nodeOf(this.piece(logic, { pointer: '', depth: 0, inLoop: false }))
  }

  private nodeOf({ logic, node }: Piece): LogicNode {
    return node ?? this.library.node(logic)
  }

  private piece(logic: unknown, position: Position): Piece {
    if (++this.parts > MAX_LOGIC_PARTS) {
      if (this.parts === MAX_LOGIC_PARTS + 1) {
        this.issue(position.pointer, `the logic has more than ${MAX_LOGIC_PARTS} parts`, 'use fewer operations')
      }
      return NOTHING
    }
    if (position.depth > MAX_LOGIC_DEPTH) {
      return this.issue(position.pointer, `the logic nests deeper than ${MAX_LOGIC_DEPTH} levels`, 'use fewer levels')
    }
    if (typeof logic === 'string' && logic.includes('${')) return this.placeholder(logic, position)
    if (typeof logic !== 'object' || logic === null) return { logic, node: () => logic }
    if (Array.isArray(logic)) return { logic: this.all(logic, position) }
    return this.operation(logic, position)
  }

  private operation(logic: object, position: Position): Piece {
    const entries: [string, unknown][] = Object.entries(logic)
    const [entry, second] = entries
    if (!entry) return { logic: new Guarded(logic) }
    if (second) {
      const names = entries.map(([name]) => `"${name.slice(0, 30)}"`).slice(0, 5)
      return this.issue(
        position.pointer,
        `an object with ${names.join(', ')} is not an operation`,
        'write each operation as a separate object',
      )
    }
    const [name, written] = entry
    const wanted = ARITIES.get(name)
    if (!wanted) return this.unknown(name, position)
    const listed = Array.isArray(written)
    const args: readonly unknown[] = listed ? written : [written]
    const inside: Position = { ...position, pointer: at(position.pointer, name), depth: position.depth + 1 }
    if (!this.fits(name, args, wanted, inside)) return NOTHING
    switch (name) {
      case 'var':
        return this.variable(args, inside)
      case 'missing':
        return this.missing(args, inside, listed)
      case 'missing_some':
        return this.missingSome(args, inside)
      case 'map':
      case 'filter':
      case 'all':
      case 'some':
      case 'none':
      case 'reduce':
        return this.loop(name, args, inside)
      case 'cat':
      case 'substr':
      case 'merge':
        return { logic: this.library.spending({ [name]: this.all(args, inside, listed) }, lengthOf) }
      case 'if':
      case '?:':
        return { logic: { [name]: this.choice(args, inside) } }
    }
    const pieces = this.pieces(args, inside, listed)
    const operands = pieces.map((piece, index) => operandOf(piece, listed ? args[index] : written))
    if (name === 'and' || name === 'or') return this.joined(name, pieces, operands)
    return this.applied(name, pieces, operands)
  }

  private joined(name: 'and' | 'or', pieces: readonly Piece[], operands: readonly Operand[]): Piece {
    const last = pieces.length - 1
    const logic = pieces.map((piece, i) => (i < last ? this.known(piece.logic, operands[i]?.label ?? '') : piece.logic))
    const nodes = pieces.map((piece) => this.nodeOf(piece))
    return { logic: { [name]: logic }, node: firstThat(nodes, operands, name === 'or') }
  }

  private applied(name: string, pieces: readonly Piece[], operands: readonly Operand[]): Piece {
    const apply = operationOf(name)
    if (apply === undefined) return { logic: { [name]: pieces.map(({ logic }) => logic) } }
    const isComparing = COMPARING.has(name)
    const logics = pieces.map(({ logic, sized }) => (isComparing && sized ? sized.logic : logic))
    const nodes = pieces.map((piece) => (isComparing && piece.sized ? piece.sized.node : this.nodeOf(piece)))
    const step: Step = (_run, _scope, values) => apply(values, operands)
    const sizedApply = sizedOperation(name)
    const sizedStep: Step = (_run, _scope, values) => sizedApply?.(values, operands)
    return {
      logic: this.library.call(step, logics),
      node: compiled(name, nodes, operands, apply),
      sized: sizedApply && {
        logic: this.library.call(sizedStep, logics),
        node: (run) => sizedApply(nodes.map((node) => node(run)), operands), // prettier-ignore
      },
    }
  }

  private known(logic: unknown, label: string): unknown {
    const step: Step = (_run, _scope, [value]) => {
      isTruthy(value, label)
      return value
    }
    return this.library.call(step, [logic])
  }

  private choice(args: readonly unknown[], position: Position): unknown[] {
    return args.map((_, index) => {
      const piece = this.argument(args, index, position)
      const isTest = index % 2 === 0 && index + 1 < args.length
      return isTest ? this.known(piece.logic, operandOf(piece, args[index]).label) : piece.logic
    })
  }

  /** Compiles a loop. Its body reads only the item, and each round is counted. */
  private loop(name: string, args: readonly unknown[], position: Position): Piece {
    const pieces = args.map((_, index) =>
      this.argument(args, index, { ...position, inLoop: index === 1 || position.inLoop }),
    )
    const [list, body, ...initial] = pieces.map((piece) => piece.logic)
    const label = operandOf(pieces[1] ?? NOTHING, args[1]).label
    const decided = DECIDING_LOOPS.has(name) ? this.known(body, label) : body
    return { logic: { [name]: [list, this.library.spending(decided, () => 1), ...initial] } }
  }

  private variable(args: readonly unknown[], position: Position): Piece {
    const [first] = args
    if (first !== undefined && first !== null && typeof first !== 'string' && typeof first !== 'number') {
      return this.issue(
        position.pointer,
        'the path of a var is computed',
        'write the path literally; use if to choose between paths',
      )
    }
    const otherwise = args.length > 1 ? this.argument(args, 1, position) : undefined
    const name = first === undefined || first === null ? '' : String(first)
    if (!position.inLoop) {
      const result = topPath(name)
      return 'path' in result ? this.read(result.path, otherwise) : this.fault(position.pointer, result.fault)
    }
    const result = itemPath(name)
    if ('fault' in result) return this.fault(position.pointer, result.fault)
    const { segments } = result
    return { logic: this.reading((run, scope) => ofData(below(scope, segments, run)), otherwise), label: name }
  }

  private read(variablePath: LogicPath, otherwise?: Piece): Piece {
    const path = this.remember(variablePath)
    const label = path.root === 'streamdata' ? path.segments.join('.') : path.parts.join('.')
    const logic = this.reading((run) => guarded(run.lookup(path), run), otherwise)
    if (!otherwise) return { logic, label, node: (run) => run.lookup(path) ?? null }
    const instead = this.nodeOf(otherwise)
    return { logic, label, node: (run) => run.lookup(path) ?? instead(run) }
  }

  /** Returns logic for the library that reads a value, otherwise the default, otherwise null. */
  private reading(read: Reader, otherwise?: Piece): unknown {
    const value = this.library.call((run, scope) => read(run, scope) ?? null)
    if (!otherwise) return value
    return { if: [this.library.call((run, scope) => (read(run, scope) ?? null) !== null), value, otherwise.logic] }
  }

  private missing(args: readonly unknown[], position: Position, listed: boolean): Piece {
    const readers = this.keyReaders(args, position)
    const step: Step = (run, scope, values) =>
      absent(Array.isArray(values[0]) ? values[0] : values, readers, run, scope)
    return { logic: this.library.call(step, this.all(args, position, listed)) }
  }

  private missingSome(args: readonly unknown[], position: Position): Piece {
    const readers = this.keyReaders([args[1]], position)
    const step: Step = (run, scope, [need, keys]) => {
      const without = absent(Array.isArray(keys) ? keys : [keys], readers, run, scope)
      return lengthOf(keys) - without.length >= Number(need) ? [] : without
    }
    return { logic: this.library.call(step, this.all(args, position)) }
  }

  private keyReaders(args: readonly unknown[], position: Position): ReadonlyMap<string, Reader> {
    const readers = new Map<string, Reader>()
    const listed = new Set(args.flat().map((arg) => (typeof arg === 'number' ? String(arg) : arg)))
    for (const key of literalKeys(args)) {
      const result = position.inLoop ? itemPath(key) : topPath(key)
      if ('fault' in result) {
        // in computed arguments a text need not be a key
        if (listed.has(key)) this.fault(position.pointer, result.fault)
      } else if ('path' in result) {
        const path = this.remember(result.path)
        readers.set(key, (run) => run.lookup(path))
      } else {
        readers.set(key, (run, scope) => below(scope, result.segments, run))
      }
    }
    return readers
  }

  private placeholder(text: string, position: Position): Piece {
    const parsed = parseText(text)
    const binding = wholeBinding(parsed)
    if (binding && !binding.json && parsed.faults.length === 0)
      return this.read(withParts(binding.path, binding.optional))
    for (const fault of parsed.faults) this.fault(position.pointer, fault)
    if (parsed.faults.length > 0) return NOTHING
    return this.issue(
      position.pointer,
      `"${text.slice(0, 60)}" mixes text and placeholders`,
      'make a single ${path} the whole text, or join the parts with cat and var',
    )
  }

  private unknown(name: string, position: Position): Piece {
    const allowed = [...ARITIES.keys()]
    const close = nearest(name, allowed)
    const list = `use one of ${allowed.join(' ')}`
    return this.issue(
      position.pointer,
      `the operator "${name.slice(0, 40)}" is not allowed`,
      close === undefined ? list : `did you mean "${close}"? ${list}`,
    )
  }

  private fits(name: string, args: readonly unknown[], [min, max]: Arity, position: Position): boolean {
    if (args.length >= min && args.length <= max) return true
    const wanted = min === max ? `${min}` : max === MANY ? `at least ${min}` : `${min} to ${max}`
    this.issue(position.pointer, `"${name}" has ${args.length} arguments`, `pass ${wanted} as a list`)
    return false
  }

  private all(items: readonly unknown[], position: Position, listed = true): unknown[] {
    return this.pieces(items, position, listed).map((piece) => piece.logic)
  }

  private pieces(items: readonly unknown[], position: Position, listed: boolean): Piece[] {
    return items.map((item, index) => (listed ? this.argument(items, index, position) : this.piece(item, position)))
  }

  private argument(args: readonly unknown[], index: number, position: Position): Piece {
    return this.piece(args[index], { ...position, pointer: `${position.pointer}/${index}`, depth: position.depth + 1 })
  }

  private remember(path: LogicPath): LogicPath {
    const key = pathKey(path)
    const known = this.paths.get(key) ?? path
    this.paths.set(key, known)
    return known
  }

  private fault(pointer: string, { message, suggestion }: Fault): Piece {
    return this.issue(pointer, message, suggestion)
  }

  private issue(path: string, message: string, suggestion: string): Piece {
    this.issues.wrong(path, message, suggestion)
    return NOTHING
  }
}

function operandOf({ label }: Piece, value: unknown): Operand {
  return { label: (label ?? labelOf(value)).slice(0, MAX_LABEL), isNothing: value === null }
}

function labelOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return Array.isArray(value) ? '[...]' : `{"${Object.keys(value)[0] ?? ''}": ...}`
}

/** Collects all texts and numbers in the arguments of `missing` that may be keys. */
function literalKeys(argument: unknown, keys = new Set<string>(), depth = 0): ReadonlySet<string> {
  if (typeof argument === 'string' || typeof argument === 'number') keys.add(String(argument))
  if (typeof argument !== 'object' || argument === null || depth > MAX_LOGIC_DEPTH) return keys
  for (const [key, inner] of Object.entries(argument)) if (key !== 'var') literalKeys(inner, keys, depth + 1)
  return keys
}

/** Returns the keys without a value. Only keys in the logic have a reader: data must not choose what is read. */
function absent(
  keys: readonly unknown[],
  readers: ReadonlyMap<string, Reader>,
  run: Run,
  scope: unknown,
): readonly unknown[] {
  return keys.filter((key) => {
    const read = typeof key === 'string' || typeof key === 'number' ? readers.get(String(key)) : undefined
    const value = read?.(run, scope) ?? null
    return value === null || value === ''
  })
}

function arity(names: string, min: number, max: number): [string, Arity][] {
  return names.split(' ').map((name) => [name, [min, max]])
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0
}
