/** The client of the API inside a webscript, with the names that webscripts written elsewhere use. */
import type { Client } from '../../../client.ts'

type Resources = Client['resources']

/** What `waylay` has beside the services of `client`. */
export interface ClientAliases {
  readonly resources: Resources & {
    get(id: string): Promise<unknown>
    create: Resources['resources']['create']
    update: Resources['resources']['patch']
  }
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

export type ScriptClient = Omit<Client, 'resources'> & ClientAliases

export function withAliases(client: Client): ScriptClient {
  const { resources, rules, broker, converter } = client
  return {
    ...client,
    resources: {
      ...resources,
      get: async (id: string) => (await resources.resources.get(id)).value,
      create: resources.resources.create,
      update: resources.resources.patch,
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
