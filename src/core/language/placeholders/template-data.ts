/** Looks up names in `{{}}` during rendering, as handlebars does but with own properties only. */
import { ownValue } from '#kernel'
import { printed } from './template-print.ts'
import type { Reference } from './template-expression.ts'
import type { Name } from './template-name.ts'
import type { Scope } from './scope.ts'

/** An object whose fields are read by name and cannot be looped over. */
export class LazyRecord {
  readonly #read: (key: string) => unknown

  constructor(read: (key: string) => unknown) {
    this.#read = read
  }

  read(key: string): unknown {
    return this.#read(key)
  }
}

interface LoopData {
  readonly values: Readonly<Record<string, unknown>>
  readonly outer: LoopData | undefined
}

interface Chain<T> {
  readonly value: T
  readonly outer: Chain<T> | undefined
}

export interface Frame {
  readonly context: unknown
  /** the context and its outer contexts, for `../` */
  readonly contexts: Chain<unknown>
  readonly data: LoopData
  /** values named by `as |...|`, innermost first */
  readonly parameters: Chain<readonly unknown[]> | undefined
  readonly root: LazyRecord
}

/** Names that read from the task in every block, whatever its context. */
export const OWN_NAMES: ReadonlySet<string> = new Set(['GLOBAL', 'META', 'RESOURCE', 'TASK_ID', 'NODE_NAME'])

/** Replaces a missing context where handlebars would use an empty object. */
const NOTHING: unknown = Object.freeze({})

export function rootFrame(scope: Scope): Frame {
  const root = new LazyRecord((key) => readRoot(scope, key))
  return {
    context: root,
    contexts: { value: root, outer: undefined },
    data: { values: { root }, outer: undefined },
    parameters: undefined,
    root,
  }
}

function readRoot(scope: Scope, key: string): unknown {
  switch (key) {
    case 'GLOBAL':
      return new LazyRecord((name) => scope.streamValue(name))
    case 'META':
      return new LazyRecord((name) => (name === '$' ? scope.nodeMetadata() : undefined))
    case 'RESOURCE':
      return scope.taskResource ?? scope.nodeResource
    case 'TASK_ID':
      return scope.taskId
    case 'NODE_NAME':
      return scope.nodeName
    default:
      return scope.nodeData(key)
  }
}

export function enter(frame: Frame, context: unknown): Frame {
  const { contexts } = frame
  const isSame = isLooselyEqual(context, contexts.value) || (context === NOTHING && contexts.value === null)
  return { ...frame, context, contexts: isSame ? contexts : { value: context, outer: contexts } }
}

export function enterRound(frame: Frame, item: unknown, round: { key: unknown; index: number; last: boolean }): Frame {
  const { key, index, last } = round
  const values = { root: frame.data.values['root'], key, index, first: index === 0, last }
  return { ...enter(frame, item), data: { values, outer: frame.data } }
}

export function withParameters(frame: Frame, names: readonly string[], values: readonly unknown[]): Frame {
  return names.length === 0 ? frame : { ...frame, parameters: { value: values, outer: frame.parameters } }
}

export function stay(frame: Frame): Frame {
  return frame.context === null || frame.context === undefined ? enter(frame, NOTHING) : frame
}

export function readReference({ name, parameter }: Reference, frame: Frame): unknown {
  const { segments, depth } = name
  if (parameter) {
    let level = frame.parameters
    for (let i = 0; i < parameter.level; i++) level = level?.outer
    return descendFrom(level?.value[parameter.index], segments, 1)
  }
  if (name.data) return readLoopData(name, frame)
  if (!name.scoped && OWN_NAMES.has(segments[0] ?? '')) return descendFrom(frame.root, segments, 0)
  if (depth === 0) return descendFrom(frame.context, segments, 0)
  let level: Chain<unknown> | undefined = frame.contexts
  for (let i = 0; i < depth; i++) level = level?.outer
  return descendFrom(level?.value, segments, 0)
}

/** A falsy step ends the read and is its result: handlebars does this only for `@`. */
function readLoopData({ segments, depth }: Name, frame: Frame): unknown {
  let level: LoopData | undefined = frame.data
  for (let i = 0; i < depth; i++) level = level?.outer
  let value: unknown = level?.values
  for (const segment of segments) {
    if (!value) return value
    value = member(value, segment)
  }
  return value
}

function descendFrom(start: unknown, segments: readonly string[], from: number): unknown {
  let value = start
  for (let i = from; i < segments.length; i++) {
    if (value === undefined || value === null) return value
    value = member(value, segments[i] ?? '')
  }
  return value
}

const MAX_KEY = 1000

export function lookedUp(from: unknown, key: unknown): unknown {
  return from ? member(from, key === null || key === undefined ? String(key) : printed(key, MAX_KEY)) : from
}

function member(parent: unknown, key: string): unknown {
  if (parent instanceof LazyRecord) return parent.read(key)
  if (typeof parent !== 'string') return ownValue(parent, key)
  if (key === 'length') return parent.length
  return /^(?:0|[1-9]\d{0,9})$/.test(key) ? parent[Number(key)] : undefined
}

/** Implements `==` for JSON, with which handlebars decides whether `../` has another step. */
function isLooselyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === null || a === undefined || b === null || b === undefined) return (a ?? null) === (b ?? null)
  if (typeof a === 'object') return typeof b !== 'object' && isPrintedAs(a, b)
  if (typeof b === 'object') return isPrintedAs(b, a)
  return typeof a === typeof b ? false : Number(a) === Number(b)
}

function isPrintedAs(list: unknown, value: unknown): boolean {
  const room = typeof value === 'string' ? value.length : MAX_KEY
  const text = printed(list, room)
  if (text.length > room) return false
  return typeof value === 'string' ? text === value : Number(text) === Number(value)
}
