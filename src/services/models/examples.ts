/** Bodies that a model can be asked with, made of its signatures: zeros, empty texts and false of the right shape. */
import type { Json, JsonObject } from '#kernel'
import type { ModelExample } from './contract.ts'
import type { Signature, SignatureInput } from './driver.ts'

/** Values of one input that are written; larger ones have no example. */
const MAX_VALUES = 10_000

/** One for each signature whose inputs are known. */
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

/** One input stands by itself. */
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
