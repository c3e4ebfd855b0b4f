/** A small model server for tests that supports both protocols: its models add up their inputs. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { nodeTransport } from '../../../../src/host/transport/node-transport.ts'
import { remoteModels } from '../../../../src/host/transport/remote-models.ts'
import type { Json } from '../../../../src/kernel/json.ts'
import { machineTimers } from '../../../../src/platform/timers.ts'
import type { RemoteModel, RemoteProtocol } from '../../../../src/services/models/contract.ts'
import type { RemotePackage } from '../../../../src/services/models/driver.ts'
import type { RemoteDriverOptions } from '../../../../src/services/models/remote/remote-driver.ts'

export interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: unknown
}

interface Tensor {
  readonly name: string
  readonly shape: readonly number[]
  readonly datatype: string
  readonly data: readonly Json[]
}

interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The inputs of `sum`: two numbers. `table` does not describe its inputs. */
const INPUTS = [{ name: 'x', datatype: 'FP64', shape: [-1, 2] }]

export class TestServer {
  readonly #server: Server
  readonly seen: Seen[] = []
  /** Returns a response that replaces the usual one; undefined: none. */
  instead: (request: Seen) => Answer | Promise<Answer> | 'drop' | undefined = () => undefined

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(): Promise<TestServer> {
    const made = new TestServer()
    await new Promise<void>((resolve) => made.#server.listen(0, '127.0.0.1', resolve))
    return made
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** All requests received so far that had a body. */
  get calls(): readonly Seen[] {
    return this.seen.filter(({ method }) => method === 'POST')
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await text(request)
    const { method = '', url: path = '', headers } = request
    const seen: Seen = { method, path, headers, body: sent === '' ? undefined : JSON.parse(sent) }
    this.seen.push(seen)
    const instead = await this.instead(seen)
    if (instead === 'drop') return void response.destroy()
    const { status = 200, headers: own = {}, body } = instead ?? answerOf(seen)
    response.writeHead(status, { 'content-type': 'application/json', ...own })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

function answerOf({ path, body }: Seen): Answer {
  const [, protocol, , model = '', action] = /^\/(v[12])(\/models\/([^/:]+)[/:]?(\w*))?$/.exec(path) ?? []
  if (model !== 'sum' && model !== 'table') return { status: 404, body: { error: `there is no ${model}` } }
  if (action === '' || action === 'ready') {
    return { body: { name: model, ready: true, inputs: model === 'sum' ? INPUTS : [], outputs: [] } }
  }
  return protocol === 'v1' ? predict(body) : infer(model, body)
}

function predict(body: unknown): Answer {
  const { instances } = body as { readonly instances: readonly (readonly Json[])[] }
  const wrong = instances.findIndex((one) => !Array.isArray(one) || !one.every((value) => typeof value === 'number'))
  if (wrong >= 0) return { status: 400, body: { error: `instance ${wrong} is no list of numbers` } }
  return { body: { predictions: instances.map((one) => added(one)) } }
}

function infer(model: string, body: unknown): Answer {
  const { inputs } = body as { readonly inputs: readonly Tensor[] }
  const [rows = 0] = inputs[0]?.shape ?? []
  const sums = Array.from({ length: rows }, (_, at) => {
    return added(inputs.flatMap(({ data, shape: [, length = 1] }) => data.slice(at * length, (at + 1) * length)))
  })
  // MLServer's form for single values
  const output = { name: 'y', shape: [rows, 1], datatype: 'FP64', parameters: { content_type: 'np' }, data: sums }
  return { body: { model_name: model, outputs: [output] } }
}

function added(values: readonly Json[]): number {
  return values.reduce<number>((sum, value) => sum + Number(value), 0)
}

/** Options with this machine's timers and addresses. */
export const REMOTE_OPTIONS: RemoteDriverOptions = {
  transport: remoteModels(nodeTransport({ allow: ['127.0.0.1'] })),
  later: machineTimers.later,
  clock: machineTimers.elapsed,
  breathe: machineTimers.breathe,
}

export function remotePackage(protocol: RemoteProtocol, given: RemoteModel | TestServer, model = 'sum'): RemotePackage {
  const remote = { protocol, model, headers: {}, url: given.url, ...(given instanceof TestServer ? {} : given) }
  return { tenant: 'acme', name: 'm', framework: 'custom', digest: `remote/${protocol}/${model}`, remote }
}
