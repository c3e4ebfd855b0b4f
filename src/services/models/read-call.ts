/** Reads the bodies of calls: rows of `instances`, columns of `inputs`, and `examples` with what they share. */
import { AppError, isPlainObject, Issues, type Json, type JsonObject, shown } from '#kernel'
import type { Framework, ModelOperation } from './contract.ts'
import type { ModelCall } from './driver.ts'

/** instances of one call */
export const MAX_INSTANCES = 10_000

/** Frameworks whose instances may be objects of named features. */
const NAMED: ReadonlySet<Framework> = new Set(['xgboost', 'tensorflow', 'custom'])
const PREDICT_KEYS = ['instances', 'inputs', 'signature_name', 'probabilities']
const EXAMPLE_KEYS = ['examples', 'context', 'signature_name']

export interface ReadCall {
  readonly call: ModelCall
  /** asked with columns: the answer has them too */
  readonly isByColumn: boolean
}

/** `VALIDATION` lists all that is wrong; `TOO_LARGE` for more instances than are taken at once. */
export function readCall(framework: Framework, operation: ModelOperation, body: unknown): ReadCall {
  if (!isPlainObject(body))
    throw new AppError('VALIDATION', `Unrecognized request format: ${shown(body)} is not an object`)
  if (operation !== 'predict' && framework !== 'tensorflow') {
    throw new AppError(
      'VALIDATION',
      `${operation} is for models of tensorflow; this one is of ${framework}: ask predict`,
    )
  }
  const issues = new Issues('CALL', 20)
  const keys = operation === 'predict' ? PREDICT_KEYS : EXAMPLE_KEYS
  for (const key of Object.keys(body)) {
    if (!keys.includes(key)) issues.wrong(`/${key}`, 'is unknown', `write ${keys.join(', ')}`)
  }
  const common = commonOf(framework, body, issues)
  const isByColumn = body['inputs'] !== undefined
  const rows = operation === 'predict' ? predictRows(framework, body, issues) : exampleRows(body, issues)
  issues.throwIfAny('The request')
  return { call: { operation, ...common, instances: rows }, isByColumn }
}

function commonOf(
  framework: Framework,
  { signature_name: signature, probabilities }: Readonly<Record<string, unknown>>,
  issues: Issues,
): Pick<ModelCall, 'signature' | 'probabilities'> {
  if (signature !== undefined && (typeof signature !== 'string' || framework !== 'tensorflow')) {
    issues.wrong('/signature_name', 'is the name of a signature of a model of tensorflow', 'leave it out')
  }
  if (probabilities !== undefined && (typeof probabilities !== 'boolean' || framework !== 'sklearn')) {
    issues.wrong('/probabilities', 'is true or false, for models of sklearn', 'leave it out')
  }
  return {
    ...(typeof signature === 'string' && { signature }),
    ...(probabilities === true && { probabilities }),
  }
}

function predictRows(
  framework: Framework,
  { instances, inputs }: Readonly<Record<string, unknown>>,
  issues: Issues,
): readonly Json[] {
  if (instances !== undefined && inputs !== undefined) {
    issues.wrong('/inputs', 'is the same as instances, by column', 'send one of them')
  }
  const rows = inputs === undefined ? listOf(instances, '/instances', issues) : rowsOf(inputs, issues)
  if (!NAMED.has(framework)) {
    const named = rows.findIndex(isPlainObject)
    if (named >= 0) {
      issues.wrong(
        `/instances/${named}`,
        `has named features, and those are for models of ${[...NAMED].join(' and ')}`,
        'send a list of numbers',
      )
    }
  }
  return rows
}

function listOf(value: unknown, path: string, issues: Issues): readonly Json[] {
  const key = path.slice(1)
  if (!Array.isArray(value)) {
    const found = value === undefined ? 'is missing' : `is ${shown(value)}`
    issues.wrong(path, `${found}, and must be a list`, `send {"${key}": [...]}`)
    return []
  }
  if (value.length === 0) issues.wrong(path, 'is empty', 'send one or more')
  checkCount(value.length)
  return value as readonly Json[]
}

function checkCount(count: number): void {
  if (count > MAX_INSTANCES) {
    throw new AppError('TOO_LARGE', `there are ${count} instances, and at most ${MAX_INSTANCES} are taken at once`)
  }
}

/** Of one input that is a list, or of several by name. */
function rowsOf(inputs: unknown, issues: Issues): readonly Json[] {
  if (!isPlainObject(inputs)) return listOf(inputs, '/inputs', issues)
  const columns = Object.entries(inputs as JsonObject).map(([name, value]) => {
    return [name, listOf(value, `/inputs/${name}`, issues)] as const
  })
  const [first] = columns
  if (first === undefined) {
    issues.wrong('/inputs', 'has no column', 'send a list for each input')
    return []
  }
  const [firstName, { length }] = first
  for (const [name, { length: own }] of columns) {
    if (own !== length) issues.wrong(`/inputs/${name}`, `has ${own} values, and ${firstName} has ${length}`)
  }
  return Array.from({ length }, (_, at) =>
    Object.fromEntries(columns.map(([name, column]) => [name, column[at] ?? null])),
  )
}

/** With the features of `context` laid into each. */
function exampleRows({ examples, context = {} }: Readonly<Record<string, unknown>>, issues: Issues): readonly Json[] {
  const rows = listOf(examples, '/examples', issues)
  if (!isPlainObject(context)) issues.wrong('/context', 'is an object of features that all examples share')
  const shared = isPlainObject(context) ? (context as JsonObject) : {}
  return rows.map((row, at) => {
    if (!isPlainObject(row)) {
      issues.wrong(`/examples/${at}`, `is ${shown(row)}, and must be an object of named features`)
      return null
    }
    for (const key of Object.keys(shared)) {
      if (Object.hasOwn(row, key)) issues.wrong(`/examples/${at}/${key}`, 'is in context too', 'leave one of them out')
    }
    return { ...shared, ...row }
  })
}

/** Values by row as columns: of objects one list for each name, else the list itself. */
export function byColumn(rows: readonly Json[]): Json {
  const [first] = rows
  if (!isPlainObject(first)) return rows
  return Object.fromEntries(
    Object.keys(first).map((name) => [name, rows.map((row) => (isPlainObject(row) ? (row[name] ?? null) : null))]),
  )
}
