/** Validates outside values by schema, and decodes their fields; problems are collected only after a rejection. */
import { type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Settings } from 'typebox/system'
import { Errors } from 'typebox/value'
import {
  at,
  isPlainObject,
  type Issue,
  makeIssue,
  nearest,
  ownValue,
  refuse,
  removing,
  renaming,
  shown,
  stepsOf,
} from '#kernel'
import { type Decoded, nearestOf, type Problem, problemsBy } from './fields.ts'

/** maximum number of errors of a schema that are inspected; several may describe the same problem */
const MAX_ERRORS = 1_000

/** maximum number of characters shown of an unknown name */
const MAX_NAME = 100

const MAX_ISSUES = 100

type SchemaError = ReturnType<typeof Errors>[number]
type Described = { readonly description?: string } | undefined

export interface Checked<S extends TSchema = TSchema> {
  readonly schema: S
  /** Throws `VALIDATION` with all problems. Values that this method returned pass without another check. */
  read(value: unknown): Decoded<S>
}

export interface CheckOptions {
  readonly subject: string
  readonly type?: string
  readonly typeOfUnknown?: string
}

/** Compiles the schema on first use, so that startup stays fast. */
export function checked<const S extends TSchema>(schema: S, options: CheckOptions): Checked<S> {
  let validator: Validator | undefined
  const decode = decoderOf(schema)
  const known = new WeakSet()
  return {
    schema,
    read: (value) => {
      if (typeof value === 'object' && value !== null && known.has(value)) return value as Decoded<S>
      validator ??= Compile(schema)
      if (!validator.Check(value)) throw refuse(options.subject, issuesOf(schema, value, options))
      const decoded = decode === undefined ? value : decode(value)
      // the value itself is not remembered, since the caller may still change it
      if (typeof decoded === 'object' && decoded !== null && decoded !== value) known.add(decoded)
      return decoded as Decoded<S>
    },
  }
}

type Decode = (value: unknown) => unknown

/** Undefined when decoding changes nothing. A union may contain one form each for null, lists and everything else. */
function decoderOf(schema: TSchema): Decode | undefined {
  if (Type.IsCodec(schema)) return schema['~codec'].decode
  if (Type.IsArray(schema)) {
    const item = decoderOf(schema.items)
    return item && ((value) => (value as readonly unknown[]).map(item))
  }
  if (Type.IsUnion(schema)) {
    const list = schema.anyOf.find((form) => Type.IsArray(form))
    const other = schema.anyOf.find((form) => !Type.IsArray(form) && !Type.IsNull(form))
    const [ofList, ofOther] = [list && decoderOf(list), other && decoderOf(other)]
    if (ofList === undefined && ofOther === undefined) return undefined
    return (value) => (value === null ? null : ((Array.isArray(value) ? ofList : ofOther)?.(value) ?? value))
  }
  if (!Type.IsObject(schema)) return undefined
  const parts = Object.entries(schema.properties).flatMap(([name, part]) => {
    const { readOnly = false } = part as { readonly readOnly?: boolean }
    const decode: Decode | undefined = readOnly ? () => undefined : decoderOf(part)
    return decode === undefined ? [] : [[name, decode] as const]
  })
  if (parts.length === 0) return undefined
  return (value) => {
    const copy: Record<string, unknown> = { ...(value as object) }
    for (const [name, decode] of parts) {
      if (copy[name] === undefined) continue
      const decoded = decode(copy[name])
      if (decoded === undefined) delete copy[name]
      else copy[name] = decoded
    }
    return copy
  }
}

function issuesOf(
  schema: TSchema,
  value: unknown,
  { type = 'BODY', typeOfUnknown = type }: CheckOptions,
): readonly Issue[] {
  const found = new Map<string, { readonly rank: number; readonly problem: Problem }>()
  for (const error of allErrors(schema, value)) {
    const rank = rankOf(error, partOf(value, error.instancePath))
    for (const problem of problemsOf(schema, value, error, typeOfUnknown)) {
      const path = `${error.instancePath}${problem.at ?? ''}`
      if (rank < (found.get(path)?.rank ?? Number.POSITIVE_INFINITY)) found.set(path, { rank, problem })
    }
  }
  for (const problem of rulesWithin(schema, value, '')) {
    found.set(problem.at ?? '', { rank: 0, problem })
  }
  const paths = [...found.keys()]
  // a problem inside a value is also reported for the whole value; keep the inner one
  return [...found]
    .filter(([path, { rank }]) => rank === 0 || !paths.some((other) => other.startsWith(`${path}/`)))
    .slice(0, MAX_ISSUES)
    .map(([path, { problem }]) =>
      makeIssue(problem.type ?? type, path, problem.message, problem.suggestion, problem.fix),
    )
}

/** Finds problems by the rules of objects, which the package evaluates only when all fields are valid. */
function* rulesWithin(schema: TSchema, value: unknown, path: string): Generator<Problem> {
  if (Type.IsUnion(schema)) for (const form of schema.anyOf) yield* rulesWithin(form, value, path)
  if (Type.IsArray(schema) && Array.isArray(value))
    for (const [index, item] of value.entries()) yield* rulesWithin(schema.items, item, `${path}/${index}`)
  if (!Type.IsObject(schema) || !isPlainObject(value)) return
  for (const problem of problemsBy(schema, value)) yield { ...problem, at: `${path}${problem.at ?? ''}` }
  for (const [name, part] of Object.entries(schema.properties))
    yield* rulesWithin(part, ownValue(value, name), `${path}${at('', name)}`)
}

/** Lowest: the most specific error at a place; a failed form of a union is the least specific. */
const RANKS: Readonly<Record<string, number>> = { type: 1, anyOf: 2 }

function rankOf({ keyword }: SchemaError, value: unknown): number {
  const isOther = keyword === 'enum' && typeof value === 'object' && value !== null
  return isOther ? 1 : (RANKS[keyword] ?? 0)
}

function problemsOf(root: TSchema, value: unknown, error: SchemaError, typeOfUnknown: string): readonly Problem[] {
  const { instancePath, schemaPath } = error
  // the object that contains an unknown field reports it
  if (error.keyword === 'boolean') return []
  const schemas = schemasOf(root, schemaPath)
  const part = partOf(value, instancePath)
  if (error.keyword === 'required')
    return error.params.requiredProperties.map((name) => ({ at: at('', name), message: 'is required' }))
  if (error.keyword === 'additionalProperties') {
    const taken = new Set(Object.keys(part as object))
    const known = writable(schemas[0])
    return error.params.additionalProperties.map((name) => ({
      type: typeOfUnknown,
      ...unknownName(name, known, taken),
    }))
  }
  // the rules of objects are evaluated together elsewhere
  const others = schemas.flatMap((schema) => (Type.IsObject(schema) ? [] : problemsBy(schema, part)))
  const type = ownValue(schemas[0], 'x-issue')
  const isTyped = typeof type === 'string' && error.keyword !== 'type'
  const plain = { ...plainProblem(error, part, schemas), ...(isTyped && { type }) }
  return others.length > 0 || error.keyword === '~refine' ? others : [plain]
}

function plainProblem(error: SchemaError, value: unknown, schemas: readonly Described[]): Problem {
  switch (error.keyword) {
    case 'type':
      return typeProblem(String(error.params.type))
    case 'const':
      return { message: `${shown(value)} is not allowed`, suggestion: `it is ${String(error.params.allowedValue)}` }
    case 'enum':
      return {
        message: `${shown(value)} is unknown`,
        suggestion: `write ${error.params.allowedValues.length > 1 ? 'one of ' : ''}${error.params.allowedValues.join(', ')}`,
        fix: nearestOf(value, error.params.allowedValues),
      }
    case 'maxLength':
      return { message: `has ${String(value).length} characters`, suggestion: `at most ${error.params.limit}` }
    case 'maxItems':
      return {
        message: `has ${(value as readonly unknown[]).length} items`,
        suggestion: `at most ${error.params.limit}`,
      }
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return { message: 'is empty', suggestion: `at least ${error.params.limit}` }
    case 'minimum':
    case 'maximum': {
      const [bound, { limit }] = [error.keyword === 'minimum' ? 'least' : 'most', error.params]
      return { message: `${shown(value)} is out of range`, suggestion: `write at ${bound} ${limit}` }
    }
    default: {
      const description = schemas.find((schema) => schema?.description !== undefined)?.description
      if (description === undefined) return { message: error.message }
      return { message: 'does not fit', suggestion: `write ${description}` }
    }
  }
}

function typeProblem(type: string): Problem {
  const message = `${type.slice(0, 1).toUpperCase()}${type.slice(1)} value expected`
  return type === 'object' ? { message, suggestion: 'send a JSON object' } : { message }
}

/** `taken`: names that have, or will have, a value. */
function unknownName(name: string, known: readonly string[], taken: Set<string>): Problem {
  const like = nearest(name, known)
  const isFree = like !== undefined && !taken.has(like)
  if (isFree) taken.add(like)
  return {
    at: at('', name.slice(0, MAX_NAME)),
    message: 'is unknown',
    suggestion:
      like !== undefined ? `did you mean ${like}?` : known.length === 0 ? 'omit it' : `known are ${known.join(', ')}`,
    // the path of a longer name is truncated, so no fix is possible
    fix: name.length > MAX_NAME ? undefined : isFree ? renaming(like) : removing,
  }
}

function writable(schema: TSchema | undefined): readonly string[] {
  if (!Type.IsObject(schema)) return []
  const fields = Object.entries(schema.properties as Readonly<Record<string, { readonly readOnly?: boolean }>>)
  return fields.filter(([, { readOnly = false }]) => !readOnly).map(([name]) => name)
}

function schemasOf(root: TSchema, schemaPath: string): readonly TSchema[] {
  let found: readonly TSchema[] = [root]
  const steps = stepsOf(schemaPath.slice(1))
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) {
    const part = ownValue(found[0], step)
    const inner = step === 'anyOf' || step === 'properties' ? ownValue(part, steps.shift() ?? '') : part
    found = [inner as TSchema, ...(step === 'anyOf' ? found : [])]
  }
  return found
}

function partOf(value: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>((part, step) => ownValue(part, step), value)
}

/** Collects more errors than the package's default limit, which is a global setting. */
function allErrors(schema: TSchema, value: unknown): readonly SchemaError[] {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: MAX_ERRORS })
  try {
    return Errors(schema, value)
  } finally {
    Settings.Set({ maxErrors })
  }
}
