/** Fields that many bodies and parameters share: schemas with limits, decoding, and error messages. */
import { type StaticDecode, type TCodec, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import {
  at,
  DURATION_PATTERN,
  durationMs,
  type Fix,
  FORBIDDEN_KEYS,
  isInstant,
  isoInstant,
  isPlainObject,
  isTooLongForId,
  jsonProblem,
  type Json,
  MAX_ID_BYTES,
  nearest,
  notAnInstant,
  replacing,
  shown,
} from '#kernel'

export const REVISION = 'incremented by each write; the ETag for If-Match'

export interface Problem {
  /** path within the value; default: the value itself */
  readonly at?: string
  readonly message: string
  readonly suggestion?: string
  /** type of the issue; default: that of the check */
  readonly type?: string
  readonly fix?: Fix | undefined
}

type FindProblems = (value: unknown) => readonly Problem[]

export const CHECKED = { 'x-check': true } as const

/** Functions that find problems, by the check stored in the schema. */
const FOUND_BY = new WeakMap<(value: never) => boolean, FindProblems>()

/** `find` must accept any value, and describes all problems; `holds` is a faster equivalent for valid values. */
export function refined<S extends TSchema>(
  schema: S,
  find: FindProblems,
  holds = (value: unknown): boolean => find(value).length === 0,
): S {
  return Object.assign(worded(schema, find, holds), CHECKED)
}

export function worded<S extends TSchema>(schema: S, find: FindProblems, holds = (_value: unknown) => true): S {
  // a separate function for each schema
  const check = (value: unknown): boolean => holds(value)
  FOUND_BY.set(check, find)
  return Type.Refine(schema, check, () => '')
}

export function problemsBy(schema: TSchema, value: unknown): readonly Problem[] {
  const { '~refine': rules = [] } = schema as { readonly '~refine'?: readonly { check(value: never): boolean }[] }
  return rules.flatMap(({ check }) => FOUND_BY.get(check)?.(value) ?? [])
}

const TEN_YEARS_MS = 3650 * 86_400_000
const EPOCH = /^-?\d{1,16}$/
const INSTANT =
  String.raw`^(?:-?\d{1,16}|\s*\d{4}-\d{2}-\d{2}` +
  String.raw`(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s*(?:[Zz]|[+-]\d{2}:?\d{2})?)?\s*)$`
const MAX_MS = 8_640_000_000_000_000

export function text(maxLength: number, options: object = {}) {
  return Type.String({ maxLength, ...options })
}

/** Schema of a secret with at most `most` characters, or of its sealed form from a response, which is longer. */
export function secret(most: number, options: object = {}) {
  const longest = 'enc:'.length + 4 * Math.ceil((28 + 3 * most) / 3)
  return refined(text(longest, options), (value) => {
    if (typeof value !== 'string' || value.length <= most || value.startsWith('enc:')) return []
    return [{ message: `has ${value.length} characters`, suggestion: `at most ${most}` }]
  })
}

export const id = refined(
  Type.String({ minLength: 1, maxLength: MAX_ID_BYTES, description: `at most ${MAX_ID_BYTES} bytes` }),
  (value) => {
    if (value === '') return [{ message: 'is empty', suggestion: 'name a resource' }]
    if (typeof value !== 'string' || !isTooLongForId(value)) return []
    return [{ message: `has more than ${MAX_ID_BYTES} bytes`, suggestion: 'it is the id of a resource' }]
  },
)

export function word<const W extends string>(name: string, words: readonly W[]): TCodec<TSchema, W> {
  const anyCase = words.map((one) => one.replaceAll(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`))
  const list = words.join(', ')
  const known: ReadonlySet<unknown> = new Set(words)
  const schema = worded(
    Type.String({ pattern: `^(?:${anyCase.join('|')})$`, description: `${list}, in any letter case` }),
    (value) => {
      if (typeof value === 'string' && known.has(value.toUpperCase())) return []
      return [{ message: `Could not parse ${name}, valid values are: ${list}`, fix: nearestOf(value, words) }]
    },
  )
  // the pattern excludes other words
  return Type.Decode(schema, (value) => value.toUpperCase() as W)
}

export function nearestOf(value: unknown, words: readonly unknown[]): Fix | undefined {
  const texts = words.filter((word) => typeof word === 'string')
  const like = typeof value === 'string' ? nearest(value, texts) : undefined
  return like === undefined ? undefined : replacing(like)
}

export const instant = instantWith('ISO 8601 or epoch ms')

/** Returns an instant with a description of its own. */
export function instantWith(description: string): TCodec<TSchema, number> {
  return Type.Decode(
    refined(
      Type.Union(
        [Type.String({ maxLength: 64, pattern: INSTANT }), Type.Number({ minimum: -MAX_MS, maximum: MAX_MS })],
        { description },
      ),
      (value) =>
        isInstant(epochMs(value))
          ? []
          : [{ message: notAnInstant(value), suggestion: 'write ISO 8601 or epoch milliseconds' }],
    ),
    (value) => Math.trunc(epochMs(value)),
  )
}

export function duration(description = 'ISO 8601 duration, or a short form such as 5m; at most 3650 days') {
  return refined(text(100, { pattern: DURATION_PATTERN, description }), (value) => {
    const ms = typeof value === 'string' ? msOf(value) : Number.NaN
    if (ms > 0 && ms <= TEN_YEARS_MS) return []
    const suggestion = 'write a duration such as PT5M, at most 3650 days'
    return [{ message: `${shown(value)} is not a duration`, suggestion }]
  })
}

export function oneOrMore<S extends TSchema>(item: S, maxItems: number) {
  return Type.Union([item, Type.Array(item, { minItems: 1, maxItems })])
}

export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

export function closed<const P extends TProperties>(fields: P, options: object = {}) {
  return Type.Object(fields, { ...options, additionalProperties: false })
}

/** Fields that a body may repeat from a response; they are ignored. */
export function readOnly(names: Iterable<string>): object {
  return Object.fromEntries([...names].map((name) => [name, Type.Optional(Type.Unknown({ readOnly: true }))]))
}

/** Schema of an object with any further fields as plain JSON: limited depth, without prototype keys. */
export function open<const P extends TProperties>(fields: P, levels: number, options: object = {}): TObject<P> {
  return refined(
    Type.Object(fields, { ...options, additionalProperties: true }),
    (value) =>
      isPlainObject(value)
        ? Object.entries(value).flatMap(([name, part]) => {
            const message = FORBIDDEN_KEYS.has(name) ? 'is a name that is not allowed' : jsonProblem(part, levels)
            return message === undefined ? [] : [{ at: at('', name), message }]
          })
        : [],
    (value) => jsonProblem(value, levels + 1) === undefined,
  )
}

let lastText = ''
let lastMs = Number.NaN

/** Converts to epoch ms. Cached, since each text is converted twice: for the check, and for decoding. */
function epochMs(value: unknown): number {
  if (typeof value !== 'string') return typeof value === 'number' ? value : Number.NaN
  if (value !== lastText) {
    lastMs = EPOCH.test(value) ? Number(value) : isoInstant(value)
    lastText = value
  }
  return lastMs
}

function msOf(value: string): number {
  try {
    return durationMs(value)
  } catch {
    return Number.NaN
  }
}

/** Makes a type read-only; JSON, bytes, readonly lists and open records stay as they are. */
type Frozen<T> = [Json] extends [T]
  ? T
  : T extends Uint8Array
    ? T
    : T extends readonly (infer Item)[]
      ? T extends Item[]
        ? readonly Frozen<Item>[]
        : T
      : T extends object
        ? string extends keyof T
          ? T
          : { readonly [Name in keyof T]: Frozen<T[Name]> }
        : T

export type Decoded<S extends TSchema> = Frozen<StaticDecode<S>>
