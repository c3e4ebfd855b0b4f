/** Reads signatures, leaving out invalid parts since a model may report anything, and builds example bodies. */
import { isPlainObject, type Json, type JsonObject } from '#kernel'
import type { Signature, SignatureInput } from './driver.ts'
import { OPERATIONS } from './frameworks.ts'
import type { ModelExample } from './model-schema.ts'

const MAX_SIGNATURES = 50
const MAX_INPUTS = 500
const MAX_DIMENSIONS = 8
const MAX_NAME = 200
const TYPES = ['number', 'integer', 'text', 'boolean'] as const

export function readSignatures(described: unknown): readonly Signature[] {
  return listOf(described, MAX_SIGNATURES).flatMap((one): readonly Signature[] => {
    if (!isPlainObject(one)) return []
    const operation = OPERATIONS.find((known) => known === one['operation'])
    if (operation === undefined) return []
    const inputs = listOf(one['inputs'], MAX_INPUTS).flatMap(inputOf)
    return [{ ...named(one), operation, inputs }]
  })
}

function inputOf(described: unknown): readonly SignatureInput[] {
  if (!isPlainObject(described)) return []
  const type = TYPES.find((known) => known === described['type'])
  const shape = listOf(described['shape'], MAX_DIMENSIONS).map((length) =>
    Number.isInteger(length) && Number(length) >= 0 ? Number(length) : null,
  )
  return type === undefined ? [] : [{ ...named(described), type, shape }]
}

function named({ name }: Readonly<Record<string, unknown>>): { readonly name?: string } {
  return typeof name === 'string' ? { name: name.slice(0, MAX_NAME) } : {}
}

function listOf(value: unknown, most: number): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]).slice(0, most) : []
}

const MAX_VALUES = 10_000

export function examplesOf(signatures: readonly Signature[]): readonly ModelExample[] {
  return signatures.flatMap((signature) => {
    const { name, operation, inputs } = signature
    if (inputs.length === 0 || inputs.some((input) => countOf(input) > MAX_VALUES)) return []
    const named: JsonObject = name === undefined ? {} : { signature_name: name }
    const payload: JsonObject =
      operation === 'predict'
        ? { instances: [instanceOf(inputs)], ...named }
        : { examples: [namedValues(inputs)], ...named }
    return { endpoint: operation, payload }
  })
}

function instanceOf(inputs: readonly SignatureInput[]): Json {
  const [only] = inputs
  return inputs.length === 1 && only !== undefined ? valueOf(only) : namedValues(inputs)
}

function namedValues(inputs: readonly SignatureInput[]): JsonObject {
  return Object.fromEntries(inputs.map((input) => [input.name ?? 'input', valueOf(input)]))
}

function valueOf({ type, shape }: SignatureInput): Json {
  const leaf: Json = type === 'text' ? '' : type === 'boolean' ? false : 0
  return shape.reduceRight<Json>((inner, length) => Array.from({ length: length ?? 1 }, () => inner), leaf)
}

function countOf({ shape }: SignatureInput): number {
  return shape.reduce<number>((count, length) => count * Math.max(1, length ?? 1), 1)
}
