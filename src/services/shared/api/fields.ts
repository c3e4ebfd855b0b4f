/** Fields that bodies and parameters share: a schema with its limits, what it becomes, and its words for a wrong value. */
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

/** Of the API page. */
export const REVISION = 'raised by every write; the ETag that If-Match asks for'

/** What is wrong with a value that its schema alone cannot express. */
export interface Problem {
  /** place within the value; default: the value itself */
  readonly at?: string
  readonly message: string
  readonly suggestion?: string
  /** type of its issue; default: that of the check */
  readonly type?: string
  /** the only correction */
  readonly fix?: Fix | undefined
}

type FindProblems = (value: unknown) => readonly Problem[]

/** Of a schema beyond which more is checked than it can say. */
export const CHECKED = { 'x-check': true } as const

/** Problems by the check that a schema keeps of them. */
const FOUND_BY = new WeakMap<(value: never) => boolean, FindProblems>()

/**
 * The schema with a rule of its own. `find` also words what the schema itself rejects, and so takes any value; `holds`: a
 * faster way to know that it finds nothing in a value that fits the schema.
 */
export function refined<S extends TSchema>(
  schema: S,
  find: FindProblems,
  holds = (value: unknown): boolean => find(value).length === 0,
): S {
  return Object.assign(worded(schema, find, holds), CHECKED)
}

/** The schema, of which `find` words what it rejects. */
export function worded<S extends TSchema>(schema: S, find: FindProblems, holds = (_value: unknown) => true): S {
  // of this schema alone
  const check = (value: unknown): boolean => holds(value)
  FOUND_BY.set(check, find)
  return Type.Refine(schema, check, () => '')
}

/** The problems of a value by the rules of a schema. */
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

/** A secret of at most `most` characters, or its sealed form as an answer showed it, which is longer. */
export function secret(most: number, options: object = {}) {
  const longest = 'enc:'.length + 4 * Math.ceil((28 + 3 * most) / 3)
  return refined(text(longest, options), (value) => {
    if (typeof value !== 'string' || value.length <= most || value.startsWith('enc:')) return []
    return [{ message: `has ${value.length} characters`, suggestion: `at most ${most}` }]
  })
}

/** The id of a resource. */
export const id = refined(
  Type.String({ minLength: 1, maxLength: MAX_ID_BYTES, description: `at most ${MAX_ID_BYTES} bytes` }),
  (value) => {
    if (value === '') return [{ message: 'is empty', suggestion: 'name a resource' }]
    if (typeof value !== 'string' || !isTooLongForId(value)) return []
    return [{ message: `has more than ${MAX_ID_BYTES} bytes`, suggestion: 'it is the id of a resource' }]
  },
)

/** One of the words in capitals, sent in any letter case. `name`: of the field, for its refusal. */
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
  // the pattern lets nothing else through
  return Type.Decode(schema, (value) => value.toUpperCase() as W)
}

/** Writes the one of the words that a text is most like. */
export function nearestOf(value: unknown, words: readonly unknown[]): Fix | undefined {
  const texts = words.filter((word) => typeof word === 'string')
  const like = typeof value === 'string' ? nearest(value, texts) : undefined
  return like === undefined ? undefined : replacing(like)
}

/** Epoch ms, of epoch ms or ISO 8601. */
export const instant: TCodec<TSchema, number> = Type.Decode(
  refined(
    Type.Union([Type.String({ maxLength: 64, pattern: INSTANT }), Type.Number({ minimum: -MAX_MS, maximum: MAX_MS })], {
      description: 'ISO 8601, or epoch ms',
    }),
    (value) =>
      isInstant(epochMs(value))
        ? []
        : [{ message: notAnInstant(value), suggestion: 'write ISO 8601 or epoch milliseconds' }],
  ),
  (value) => Math.trunc(epochMs(value)),
)

/** As it is written; more than nothing, at most ten years. */
export function duration(description = 'ISO 8601 duration, or a short form such as 5m; at most 3650 days') {
  return refined(text(100, { pattern: DURATION_PATTERN, description }), (value) => {
    const ms = typeof value === 'string' ? msOf(value) : Number.NaN
    if (ms > 0 && ms <= TEN_YEARS_MS) return []
    const suggestion = 'write for example PT5M, at most 3650 days'
    return [{ message: `${shown(value)} is not a duration`, suggestion }]
  })
}

/** One value, or a list of them. */
export function oneOrMore<S extends TSchema>(item: S, maxItems: number) {
  return Type.Union([item, Type.Array(item, { minItems: 1, maxItems })])
}

export function nullable<S extends TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

/** An object without other fields. */
export function closed<const P extends TProperties>(fields: P, options: object = {}) {
  return Type.Object(fields, { ...options, additionalProperties: false })
}

/** Fields that a body may repeat from an answer, and that change nothing. */
export function readOnly(names: Iterable<string>): object {
  return Object.fromEntries([...names].map((name) => [name, Type.Optional(Type.Unknown({ readOnly: true }))]))
}

/** An object with any other fields, all of it plain JSON: bounded in depth, without keys that reach a prototype. */
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

/** The same text is asked for twice in a row: when it is checked, and when it becomes a number. */
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

/** The same, which cannot be written to; any JSON, bytes, a list that is frozen already, and what has any names are as they are. */
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

/** What a value of the schema is inside. */
export type Decoded<S extends TSchema> = Frozen<StaticDecode<S>>
