/** Converts output tensors of the Open Inference Protocol to one value per instance, with full validation. */
import { type Json, ownValue } from '#kernel'
import { typeOf } from './tensors.ts'

const MAX_OUTPUTS = 100
const MAX_LEVELS = 8

/** One value per instance, or an object of several outputs. `unreadable`: the error for invalid outputs. */
export function rowsOfOutputs(sent: unknown, count: number, unreadable: (why: string) => Error) {
  const outputs: readonly unknown[] = Array.isArray(sent) ? sent : []
  if (outputs.length === 0 || outputs.length > MAX_OUTPUTS)
    throw unreadable(`it has ${outputs.length === 0 ? 'no' : outputs.length} outputs`)
  const columns = new Map<string, readonly Json[]>()
  for (const output of outputs) {
    const name = ownValue(output, 'name')
    if (typeof name !== 'string' || columns.has(name))
      throw unreadable('the name of an output is missing or not unique')
    const column = columnOf(output, count)
    if (typeof column === 'string') throw unreadable(`output ${name.slice(0, 100)} ${column}`)
    columns.set(name, column)
  }
  const [only] = columns.values()
  const rows: readonly Json[] =
    columns.size === 1 && only !== undefined
      ? only
      : Array.from({ length: count }, (_, at) =>
          Object.fromEntries([...columns].map(([name, column]) => [name, column[at] ?? null])),
        )
  return { rows, names: [...columns.keys()] }
}

function columnOf(output: unknown, count: number): readonly Json[] | string {
  const shape = lengthsOf(ownValue(output, 'shape'))
  if (shape === undefined) return 'has an invalid shape'
  const [rows = 0, ...lengths] = shape
  if (rows !== count) return `has ${rows} rows for ${count} instances`
  const data = ownValue(output, 'data')
  const values = Array.isArray(data) ? (data.flat(MAX_LEVELS) as Json[]) : []
  const size = lengths.reduce((product, length) => product * length, 1)
  if (values.length !== rows * size) return `has ${values.length} values for the shape [${shape.join(', ')}]`
  const problem = wrongValue(values, String(ownValue(output, 'datatype')), size)
  if (problem !== undefined) return problem
  return Array.from({ length: rows }, (_, at) => {
    const row = values.slice(at * size, (at + 1) * size)
    // MLServer, recognized by the content type, uses this shape only for a list of single values
    const isSingle = size === 1 && lengths.length === 1 && hasContentType(output)
    return nested(row, isSingle ? [] : lengths)
  })
}

function lengthsOf(shape: unknown): readonly number[] | undefined {
  if (!Array.isArray(shape) || shape.length === 0 || shape.length > MAX_LEVELS) return undefined
  return shape.every((length) => Number.isSafeInteger(length) && length >= 0) ? (shape as number[]) : undefined
}

function hasContentType(output: unknown): boolean {
  return typeof ownValue(ownValue(output, 'parameters'), 'content_type') === 'string'
}

/** Describes a value of the wrong type. JSON has null in place of NaN and infinities. */
function wrongValue(values: readonly Json[], datatype: string, size: number): string | undefined {
  const type = typeOf(datatype)
  if (type === undefined) return `has the unknown type ${datatype.slice(0, 20)}`
  const wanted = type === 'text' ? 'string' : type === 'boolean' ? 'boolean' : 'number'
  const at = values.findIndex((value) => typeof value !== wanted)
  if (at < 0) return undefined
  const instance = Math.floor(at / Math.max(1, size))
  const kind = wanted === 'number' ? 'not a number' : wanted === 'string' ? 'not a text' : 'neither true nor false'
  return `has ${JSON.stringify(values[at]).slice(0, 80)} for instance ${instance}, which is ${kind}`
}

function nested(values: readonly Json[], [length, ...deeper]: readonly number[]): Json {
  if (length === undefined) return values[0] ?? null
  const size = deeper.reduce((product, one) => product * one, 1)
  return Array.from({ length }, (_, at) => nested(values.slice(at * size, (at + 1) * size), deeper))
}
