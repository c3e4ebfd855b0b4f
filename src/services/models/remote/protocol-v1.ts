/** The protocol of TensorFlow Serving and KServe; only TensorFlow Serving describes inputs. */
import { AppError, isPlainObject, type Json, ownValue } from '#kernel'
import type { ModelCall, RemotePackage, Signature } from '../driver.ts'
import { readSignatures } from '../signatures.ts'
import type { OpenRemote, RemoteServer } from './remote-server.ts'

const METHODS: ReadonlyMap<unknown, string> = new Map([
  ['tensorflow/serving/predict', 'predict'],
  ['tensorflow/serving/classify', 'classify'],
  ['tensorflow/serving/regress', 'regress'],
])

export async function openV1(server: RemoteServer, { framework }: RemotePackage): Promise<OpenRemote> {
  const path = `/v1${server.path}`
  if (!isReady(await server.look(path))) throw server.notReady()
  const signatures = framework === 'tensorflow' ? signaturesOf(await server.look(`${path}/metadata`)) : []
  return {
    signatures: signatures.length > 0 ? signatures : [{ operation: 'predict', inputs: [] }],
    call: async (call) => valuesOf(server, call, await server.call(`${path}:${call.operation}`, bodyOf(call))),
  }
}

function isReady(status: unknown): boolean {
  const versions = ownValue(status, 'model_version_status')
  if (Array.isArray(versions)) return versions.some((one) => ownValue(one, 'state') === 'AVAILABLE')
  const ready = ownValue(status, 'ready')
  return ready === true || ready === 'True' || ready === 'true'
}

function bodyOf({ operation, signature, instances, probabilities }: ModelCall): object {
  if (probabilities === true) {
    throw new AppError('VALIDATION', '/probabilities <- is not supported by protocol v1 (omit it)')
  }
  const list = operation === 'predict' ? { instances } : { examples: instances }
  return { ...list, ...(signature !== undefined && { signature_name: signature }) }
}

function valuesOf(server: RemoteServer, { operation, instances }: ModelCall, answer: unknown): readonly Json[] {
  // TensorFlow Serving uses either of the two names
  const values =
    operation === 'predict'
      ? ownValue(answer, 'predictions')
      : (ownValue(answer, 'result') ?? ownValue(answer, 'results'))
  if (!Array.isArray(values)) {
    throw server.wrongAnswer(`it has no list ${operation === 'predict' ? 'predictions' : 'result'}`)
  }
  if (values.length !== instances.length) {
    throw server.wrongAnswer(`${values.length} values for ${instances.length} instances`)
  }
  return values as readonly Json[]
}

function signaturesOf(answer: unknown): readonly Signature[] {
  const definitions = ownValue(ownValue(ownValue(answer, 'metadata'), 'signature_def'), 'signature_def')
  if (!isPlainObject(definitions)) return []
  return readSignatures(
    Object.entries(definitions).map(([name, definition]) => {
      const inputs = ownValue(definition, 'inputs')
      return {
        name,
        operation: METHODS.get(ownValue(definition, 'method_name')),
        inputs: Object.entries(isPlainObject(inputs) ? inputs : {}).map(([input, tensor]) => ({
          name: input,
          type: typeOf(ownValue(tensor, 'dtype')),
          shape: shapeOf(ownValue(tensor, 'tensor_shape')),
        })),
      }
    }),
  )
}

function typeOf(dtype: unknown): string | undefined {
  const text = String(dtype)
  if (text === 'DT_STRING') return 'text'
  if (text === 'DT_BOOL') return 'boolean'
  if (/^DT_U?INT\d+$/.test(text)) return 'integer'
  return /^DT_(?:FLOAT|DOUBLE|HALF|BFLOAT16)$/.test(text) ? 'number' : undefined
}

function shapeOf(shape: unknown): readonly number[] {
  const dimensions = ownValue(shape, 'dim')
  return Array.isArray(dimensions) ? dimensions.slice(1).map((one) => Number(ownValue(one, 'size'))) : []
}
