/** Strict validation of requests against the schemas of their routes. */
import { Ajv, type Options, type ValidateFunction } from 'ajv'
import ajvFormats from 'ajv-formats'
import type { FastifyInstance } from 'fastify'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'

/** Size in parts above which only the first problem is collected. */
const MAX_PARTS = 5_000

const COMMON: Options = { useDefaults: true, removeAdditional: false, strictTypes: false, strictTuples: false }
/** Bodies have typed values; URLs and headers have texts. */
const BODY: Options = { ...COMMON, coerceTypes: false }
const TEXTS: Options = { ...COMMON, coerceTypes: 'array' }

/**
 * Makes the routes of a scope validate by the same rules on any server: no field is dropped, no body is coerced, and
 * all problems are reported at once, except of large values, whose collection would be too expensive.
 */
export function validateStrictly(app: FastifyInstance): void {
  const bodies = compilers(BODY, app)
  const texts = compilers(TEXTS, app)
  app.setValidatorCompiler<object>(({ schema, httpPart }) => {
    const { first, all } = httpPart === 'body' ? bodies : texts
    return validator(first, all, schema)
  })
}

type Compile = (schema: object) => ValidateFunction

/** Compiles on the first schema, when all shared schemas of the scope exist. */
function compilers(options: Options, app: FastifyInstance): { first: Compile; all: Compile } {
  const make = (allErrors: boolean): Compile => {
    let ajv: Ajv | undefined
    return (schema) => {
      ajv ??= build({ ...options, allErrors }, app.getSchemas())
      return ajv.compile(schema)
    }
  }
  return { first: make(false), all: make(true) }
}

function build(options: Options, shared: Record<string, unknown>): Ajv {
  const ajv = new Ajv(options)
  ajvFormats.default(ajv)
  for (const schema of Object.values(shared)) ajv.addSchema(schema as object)
  return ajv
}

function validator(first: Compile, all: Compile, schema: object) {
  const check = first(schema)
  let checkAll: ValidateFunction | undefined
  return (value: unknown): true | { error: FastifySchemaValidationError[] } => {
    if (check(value)) return true
    if (!hasFewParts(value)) return { error: check.errors ?? [] }
    checkAll ??= all(schema)
    checkAll(value)
    return { error: checkAll.errors ?? check.errors ?? [] }
  }
}

function hasFewParts(value: unknown): boolean {
  const open: unknown[] = [value]
  for (let seen = 0; open.length > 0; seen++) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    const parts: unknown[] = Array.isArray(next) ? next : Object.values(next)
    if (seen + open.length + parts.length > MAX_PARTS) return false
    for (const part of parts) open.push(part)
  }
  return true
}
