/**
 * Runs models on remote servers. Checks each model before its first call, and batches pending calls. When a server is
 * unreachable, its pending calls fail at once, without affecting other models.
 */
import { AppError, isPlainObject, type Json, ownValue } from '#kernel'
import { CallBatcher } from '../call-batcher.ts'
import { isAway, type ModelCall, type ModelDriver, type OpenModel } from '../driver.ts'
import { REMOTE_PROTOCOLS } from '../frameworks.ts'
import { readSignatures } from '../signatures.ts'
import { openV1 } from './protocol-v1.ts'
import { type OpenRemote, RemoteServer, type RemoteServerOptions } from './remote-server.ts'
import { readInputs, type TensorInput, tensorsOf, typeOf } from './tensors.ts'

/** Output of scikit-learn models with class probabilities. */
const PROBABILITIES = 'predict_proba'

/** The Open Inference Protocol of MLServer, KServe and Triton: tensors whose rows are instances. */
async function openV2(server: RemoteServer): Promise<OpenRemote> {
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

/** maximum number of requests in flight per model */
const PARALLEL = 4

const PROTOCOLS = { v1: openV1, v2: openV2 }

export interface RemoteDriverOptions extends RemoteServerOptions {
  readonly breathe: () => Promise<void>
}

export function remoteDriver(options: RemoteDriverOptions): ModelDriver {
  const servers = new Set<RemoteServer>()
  return {
    name: 'remote',
    refuses: ({ remote }) => Promise.resolve(remote === undefined ? 'it runs models of other servers' : undefined),
    open: async (model) => {
      if (model.remote === undefined) throw new AppError('UNSUPPORTED', 'the model is not on a server')
      const server = new RemoteServer(options, model.remote)
      servers.add(server)
      const close = (): void => {
        server.close()
        servers.delete(server)
      }
      try {
        return openModel(await PROTOCOLS[model.remote.protocol](server, model), options, close)
      } catch (error) {
        close()
        throw error
      }
    },
    runtimes: () =>
      Promise.resolve(
        REMOTE_PROTOCOLS.map((protocol) => ({
          name: `remote-${protocol}`,
          driver: 'remote',
          framework: 'custom',
          framework_version: protocol,
        })),
      ),
    close: () => {
      for (const server of servers) server.close()
      return Promise.resolve()
    },
  }
}

function openModel({ signatures, call }: OpenRemote, { breathe }: RemoteDriverOptions, close: () => void): OpenModel {
  const batcher = new CallBatcher({ send: call, breathe, parallel: PARALLEL, isOfAll })
  return {
    signatures,
    warnings: [],
    call: (one) => batcher.call(one),
    close: () => Promise.resolve(close()),
  }
}

function isOfAll(error: unknown): boolean {
  return isAway(error) || (error instanceof AppError && error.code === 'CLOSED')
}

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

/** Describes a value of the wrong type. JSON contains null in place of NaN and infinities. */
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
