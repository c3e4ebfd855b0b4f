/** Converts instances to tensors of the Open Inference Protocol: one tensor per input, with the instances as rows. */
import { isPlainObject, Issues, type Json, ownValue, shown } from '#kernel'
import { checkNames, listed } from '../named-features.ts'

export interface TensorInput {
  readonly name: string
  readonly datatype: string
  readonly shape: readonly (number | null)[]
}

export interface Tensor {
  readonly name: string
  readonly shape: readonly number[]
  readonly datatype: string
  readonly data: readonly Json[]
}

/** Name of the tensor when a model has no described inputs. */
const ONLY = 'input-0'
const MAX_INPUTS = 500
const MAX_ISSUES = 20

export function readInputs(described: unknown): readonly TensorInput[] {
  const list: readonly unknown[] = Array.isArray(described) ? described.slice(0, MAX_INPUTS) : []
  return list.flatMap((one) => {
    const [name, datatype, shape] = [ownValue(one, 'name'), ownValue(one, 'datatype'), ownValue(one, 'shape')]
    if (typeof name !== 'string' || typeof datatype !== 'string' || !Array.isArray(shape)) return []
    // the first dimension is the batch
    const lengths = shape.slice(1).map((length) => (Number.isInteger(length) && length >= 0 ? Number(length) : null))
    return [{ name, datatype, shape: lengths }]
  })
}

/** Returns the kind of values for a datatype; undefined for a type that instances cannot have. */
export function typeOf(datatype: string): 'number' | 'integer' | 'text' | 'boolean' | undefined {
  if (/^U?INT\d+$/.test(datatype)) return 'integer'
  if (/^(?:FP\d+|BF16)$/.test(datatype)) return 'number'
  return datatype === 'BYTES' ? 'text' : datatype === 'BOOL' ? 'boolean' : undefined
}

/** Throws `VALIDATION` with all problems of the instances. `inputs`: empty when the server does not describe them. */
export function tensorsOf(instances: readonly Json[], inputs: readonly TensorInput[]): readonly Tensor[] {
  const issues = new Issues('INSTANCE', MAX_ISSUES)
  const isNamed = instances.some(isPlainObject)
  const tensors = isNamed ? named(instances, inputs, issues) : unnamed(instances, inputs, issues)
  issues.throwIfAny('The request')
  return tensors
}

function unnamed(instances: readonly Json[], inputs: readonly TensorInput[], issues: Issues): readonly Tensor[] {
  const [only] = inputs
  if (inputs.length > 1) {
    const right = `send an object of ${listed(inputs.map(({ name }) => name))}`
    return issues.wrong('/instances/0', `is ${shown(instances[0])}`, right) ?? []
  }
  return [tensorOf(only ?? { name: ONLY }, instances, { pathOf: (at) => `/instances/${at}`, issues })]
}

function named(instances: readonly Json[], inputs: readonly TensorInput[], issues: Issues): readonly Tensor[] {
  const first = instances.find(isPlainObject) ?? {}
  const wanted: readonly Wanted[] = inputs.length > 0 ? inputs : Object.keys(first).map((name) => ({ name }))
  const names = new Set(wanted.map(({ name }) => name))
  const right = `send an object of ${listed([...names])}`
  for (const [at, instance] of instances.entries()) {
    const path = `/instances/${at}`
    if (isPlainObject(instance)) checkNames(instance, path, names, { issues, right })
    else issues.wrong(path, `is ${shown(instance)}`, right)
  }
  if (issues.count > 0) return []
  return wanted.map((input) => {
    const values = instances.map((instance) => (ownValue(instance, input.name) ?? null) as Json)
    return tensorOf(input, values, { pathOf: (at) => `/instances/${at}/${input.name}`, issues })
  })
}

type Wanted = Pick<TensorInput, 'name'> & Partial<TensorInput>

interface ErrorContext {
  readonly pathOf: (instance: number) => string
  readonly issues: Issues
}

function tensorOf(input: Wanted, values: readonly Json[], { pathOf, issues }: ErrorContext): Tensor {
  const isOfLists = input.shape === undefined ? input.name !== ONLY : input.shape.length === 1
  const rows = isOfLists ? values.map((value) => (isSingle(value) ? [value] : value)) : values
  const actual = lengthsOf(rows[0] ?? null)
  const lengths = input.shape?.map((length, depth) => length ?? actual[depth] ?? 1) ?? actual
  const data: Json[] = []
  for (const [at, row] of rows.entries()) flatten(row, lengths, pathOf(at), issues, data)
  const datatype = input.datatype ?? datatypeOf(data)
  if (issues.count === 0) {
    const size = Math.max(1, data.length / rows.length)
    checkType(data, datatype, (index) => pathOf(Math.floor(index / size)), issues)
  }
  return { name: input.name, shape: [rows.length, ...lengths], datatype, data }
}

function isSingle(value: Json): boolean {
  return typeof value !== 'object' || value === null
}

function lengthsOf(value: Json): readonly number[] {
  const lengths: number[] = []
  for (let inner: Json | undefined = value; Array.isArray(inner); inner = inner[0] as Json) lengths.push(inner.length)
  return lengths
}

function flatten(
  value: Json,
  [length, ...deeper]: readonly number[],
  path: string,
  issues: Issues,
  data: Json[],
): void {
  if (length === undefined) {
    if (isSingle(value)) data.push(value)
    else issues.wrong(path, `is ${shown(value)}`, 'send a number or text')
  } else if (!Array.isArray(value)) {
    issues.wrong(path, `is ${shown(value)}`, `send a list of ${length} values`)
  } else if (value.length !== length) {
    issues.wrong(path, `has ${value.length} values`, `send ${length}`)
  } else {
    for (const [index, inner] of (value as readonly Json[]).entries()) {
      // build paths of single values only for errors
      if (deeper.length === 0 && isSingle(inner)) data.push(inner)
      else flatten(inner, deeper, `${path}/${index}`, issues, data)
    }
  }
}

/** Picks the type of an undescribed input: numbers, unless the data contain none. */
function datatypeOf(data: readonly Json[]): string {
  if (data.some((value) => typeof value === 'number')) return 'FP64'
  if (data.some((value) => typeof value === 'string')) return 'BYTES'
  return data.some((value) => typeof value === 'boolean') ? 'BOOL' : 'FP64'
}

function checkType(data: Json[], datatype: string, pathOf: (index: number) => string, issues: Issues): void {
  const type = typeOf(datatype)
  if (type === undefined) return
  const { fits, right } = VALUES[type]
  for (const [index, value] of data.entries()) {
    if (typeof value === 'boolean' && type !== 'boolean' && type !== 'text') data[index] = Number(value)
    else if (!fits(value)) issues.wrong(pathOf(index), `has ${shown(value)} where ${datatype} is required`, right)
  }
}

const VALUES = {
  number: {
    fits: (value: Json) => typeof value === 'number' || value === null,
    right: 'send a number, or null if it is missing',
  },
  integer: { fits: (value: Json) => Number.isInteger(value), right: 'send a whole number' },
  text: { fits: (value: Json) => typeof value === 'string', right: 'send texts only' },
  boolean: { fits: (value: Json) => typeof value === 'boolean', right: 'send true or false' },
} as const
