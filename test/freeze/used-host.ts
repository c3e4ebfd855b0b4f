/** A host in which each operation of the API page has been called once, for tests that compare its outside with files. */
import { fastify, type FastifyInstance } from 'fastify'
import { expect } from 'vitest'
import { mountHost, type HostOptions } from '../../src/host/index.ts'
import { ApiStory, JSON_TYPE, operationsOf, type ApiDocument, type Ask, type Operation } from '../host/api-story.ts'
import { basic } from '../host/sample-host.ts'
import type { JsonSchema } from './json-schema.ts'

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: JsonSchema
}

export class UsedHost implements AsyncDisposable {
  readonly app: FastifyInstance = fastify()
  readonly ask: Ask = ({ method = 'GET', headers = {}, ...more }) =>
    this.app.inject({ method: method as 'GET', headers: { authorization: basic('k', 's'), ...headers }, ...more })
  readonly story = new ApiStory(this.ask)
  document: ApiDocument | undefined
  operations: readonly Operation[] = []

  static async open(): Promise<UsedHost> {
    const host = new UsedHost()
    const mounted = (to: FastifyInstance, options: HostOptions) => mountHost(to, options, { hashCost: 2 })
    await host.app.register(mounted, { store: 'memory:', key: 'k', secret: 's', timeLimit: 600_000 })
    host.document = (await host.app.inject('/docs/json')).json<ApiDocument>()
    host.operations = operationsOf(host.document)
    await host.story.prepare()
    for await (const [{ operationId }, { statusCode, body }] of host.story.tell(host.operations))
      if (statusCode >= 300) throw new Error(`${operationId}: ${body}`)
    return host
  }

  get schemas(): Readonly<Record<string, JsonSchema>> {
    return (this.document?.components.schemas ?? {}) as Readonly<Record<string, JsonSchema>>
  }

  schemaOf({ $ref, ...own }: JsonSchema): JsonSchema {
    return $ref === undefined ? own : (this.schemas[$ref.split('/').at(-1) ?? ''] ?? {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close()
  }
}

export const parametersOf = ({ parameters = [] }: Operation) => parameters as unknown as readonly Parameter[]
export const titleOf = ({ method, path }: Operation) => `${method.toUpperCase()} ${path}`
export const exampleOf = ({ requestBody }: Operation) => requestBody?.content[JSON_TYPE]?.example

/** `vitest -u` writes the file. */
export const expectFile = (name: string, lines: readonly string[]) =>
  expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/${name}.txt`)
