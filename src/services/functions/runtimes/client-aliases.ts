/** The client of the API inside a webscript, with the names that webscripts written elsewhere use. */
import type { Client } from '../../../client.ts'

/** What `waylay` has beside the services of `client`. */
export interface ClientAliases {
  readonly data: {
    postSeries(resource: string, values: Readonly<Record<string, unknown>>): Promise<unknown>
    getCurrent(resource: string): Promise<unknown>
  }
  readonly transformers: {
    /** A converter by its name, over the data. */
    execute(name: string, options: { readonly data?: unknown }): Promise<unknown>
  }
  readonly tasks: Client['rules']['tasks']
  readonly templates: Client['rules']['templates']
}

export type ScriptClient = Client & ClientAliases

export function withAliases(client: Client): ScriptClient {
  const { resources, rules, broker, converter } = client
  return {
    ...client,
    resources: {
      ...resources,
      ...{
        get: async (id: string) => (await resources.resources.get(id)).value,
        create: (body: Parameters<typeof resources.resources.create>[0]) => resources.resources.create(body),
        update: (id: string, change: Parameters<typeof resources.resources.patch>[1]) =>
          resources.resources.patch(id, change),
      },
    },
    data: {
      postSeries: (resource, values) => broker.posting.events(resource, values),
      getCurrent: (resource) => broker.messages.current(resource),
    },
    transformers: { execute: (name, { data = {} }) => converter.convert(name, data) },
    tasks: rules.tasks,
    templates: rules.templates,
  }
}
