/** The Open Inference Protocol of MLServer, KServe and Triton: tensors whose rows are instances. */
import { AppError, isPlainObject, type Json, ownValue } from '#kernel'
import type { ModelCall } from '../driver.ts'
import { readSignatures } from '../signatures.ts'
import type { OpenRemote, RemoteServer } from './remote-server.ts'
import { readInputs, tensorsOf, typeOf, type TensorInput } from './tensors.ts'
import { rowsOfOutputs } from './read-outputs.ts'

/** Output of scikit-learn models with class probabilities. */
const PROBABILITIES = 'predict_proba'

export async function openV2(server: RemoteServer): Promise<OpenRemote> {
  const path = `/v2${server.path}`
  const status = await server.look(`${path}/ready`)
  if (status === undefined || ownValue(status, 'ready') === false) throw server.notReady()
  const inputs = readInputs(ownValue(await server.look(path), 'inputs'))
  const described = inputs.map((input) => ({ name: input.name, type: typeOf(input.datatype), shape: input.shape }))
  return {
    signatures: readSignatures([{ operation: 'predict', inputs: described }]),
    call: async (call) => {
      const answer = await server.call(`${path}/infer`, bodyOf(call, inputs))
      return valuesOf(server, call, ownValue(answer, 'outputs'))
    },
  }
}

function bodyOf({ operation, instances, probabilities }: ModelCall, inputs: readonly TensorInput[]): object {
  if (operation !== 'predict') {
    throw new AppError('VALIDATION', `protocol v2 does not support ${operation}; call predict`)
  }
  // a model without described inputs that is called with names may expect a table with these columns
  const isTable = inputs.length === 0 && isPlainObject(instances[0])
  return {
    inputs: tensorsOf(instances, inputs),
    ...(isTable && { parameters: { content_type: 'pd' } }),
    ...(probabilities === true && { outputs: [{ name: PROBABILITIES }] }),
  }
}

function valuesOf(server: RemoteServer, { instances, probabilities }: ModelCall, outputs: unknown): readonly Json[] {
  const { rows, names } = rowsOfOutputs(outputs, instances.length, (why) => server.wrongAnswer(why))
  if (probabilities === true && !names.includes(PROBABILITIES)) {
    throw new AppError('VALIDATION', `/probabilities <- ${server.host} does not return them for this model (omit it)`)
  }
  return rows
}
