/** Parses calls of models by framework: rows in `instances`, columns in `inputs`, and `examples` with their context. */
import { AppError, isPlainObject, Issues, type Json, shown } from '#kernel'
import type { ModelCall } from './driver.ts'
import type { Framework, ModelOperation } from './frameworks.ts'
import type { ExamplesRequest, PredictRequest } from './model-schema.ts'

const MAX_INSTANCES = 10_000

/** Frameworks whose instances may be objects of named features. */
const NAMED: ReadonlySet<Framework> = new Set(['xgboost', 'tensorflow', 'custom'])

export function readPredict(framework: Framework, body: PredictRequest): ModelCall {
  const { instances, inputs, signature_name: signature, probabilities } = body
  const issues = new Issues('CALL', 20)
  if (signature !== undefined && framework !== 'tensorflow') {
    issues.wrong('/signature_name', 'is only supported by TensorFlow models', 'leave it out')
  }
  if (probabilities !== undefined && framework !== 'sklearn') {
    issues.wrong('/probabilities', 'is only supported by scikit-learn models', 'leave it out')
  }
  const rows = (instances as readonly Json[] | undefined) ?? rowsOf(inputs, issues)
  checkCount(rows)
  const named = NAMED.has(framework) ? -1 : rows.findIndex(isPlainObject)
  if (named >= 0) {
    const wrong = `has named features, which are only supported by models of ${[...NAMED].join(' and ')}`
    issues.wrong(`/instances/${named}`, wrong, 'send a list of numbers')
  }
  issues.throwIfAny('The request')
  return {
    operation: 'predict',
    ...(signature !== undefined && { signature }),
    ...(probabilities === true && { probabilities }),
    instances: rows,
  }
}

export function readExamples(framework: Framework, operation: ModelOperation, body: ExamplesRequest): ModelCall {
  if (framework !== 'tensorflow') {
    const message = `${operation} is only supported by TensorFlow models; for ${framework} call predict`
    throw new AppError('VALIDATION', message)
  }
  const { examples, context = {}, signature_name: signature } = body
  checkCount(examples)
  const issues = new Issues('CALL', 20)
  for (const [at, row] of examples.entries()) {
    // calls made by rules are not checked by a route
    if (!isPlainObject(row))
      issues.wrong(`/examples/${at}`, `is ${shown(row)}, and must be an object of named features`)
    for (const key of Object.keys(context)) {
      if (Object.hasOwn(row, key)) issues.wrong(`/examples/${at}/${key}`, 'is also in context', 'omit one of them')
    }
  }
  issues.throwIfAny('The request')
  const instances = examples.map((row) => ({ ...context, ...row }))
  return { operation, ...(signature !== undefined && { signature }), instances }
}

function checkCount({ length }: readonly Json[]): void {
  if (length <= MAX_INSTANCES) return
  throw new AppError('TOO_LARGE', `${length} instances exceed the limit of ${MAX_INSTANCES} per call`)
}

function rowsOf(inputs: unknown, issues: Issues): readonly Json[] {
  if (!isPlainObject(inputs)) return listOf(inputs, '/inputs', issues)
  const columns = Object.entries(inputs).map(
    ([name, value]) => [name, listOf(value, `/inputs/${name}`, issues)] as const,
  )
  const [first] = columns
  if (first === undefined) {
    issues.wrong('/inputs', 'has no column', 'send a list for each input')
    return []
  }
  const [firstName, { length }] = first
  for (const [name, { length: count }] of columns) {
    if (count !== length) issues.wrong(`/inputs/${name}`, `has ${count} values, and ${firstName} has ${length}`)
  }
  return Array.from({ length }, (_, at) =>
    Object.fromEntries(columns.map(([name, column]) => [name, column[at] ?? null])),
  )
}

function listOf(value: unknown, path: string, issues: Issues): readonly Json[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  if (list.length === 0) issues.wrong(path, 'is not a list with values', 'send one or more')
  return list as readonly Json[]
}

/** Converts rows to columns: for objects one list per name, otherwise the list itself. */
export function byColumn(rows: readonly Json[]): Json {
  const [first] = rows
  if (!isPlainObject(first)) return rows
  return Object.fromEntries(
    Object.keys(first).map((name) => [name, rows.map((row) => (isPlainObject(row) ? (row[name] ?? null) : null))]),
  )
}
